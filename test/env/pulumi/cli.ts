import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fillOnce } from "../fill-once.ts";
import { BuildError, cacheFolder, goBuild, goModule } from "../go-build.ts";

const MODULE = "pulumi/cli";
const PACKAGE = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi";

/** There is no Pulumi CLI to be had on this machine; the message says what would help. */
export class PulumiMissingError extends Error {}

/**
 * The path of a Pulumi CLI: the one that PULUMI_BIN names, the one in our cache, the system's. Where there is none, Go
 * builds one into the cache, which takes minutes.
 *
 * @throws {PulumiMissingError} where it can be neither found nor built
 */
export async function findPulumi(): Promise<string> {
  const { PULUMI_BIN: given = "", PATH = "" } = process.env;
  const cache = await cacheFolder("pulumi", [MODULE]);
  const built = join(cache, "pulumi");
  const known = [given, built, ...PATH.split(delimiter).map((folder) => join(folder, "pulumi"))];
  const found = known.find((path) => path !== "" && existsSync(path));
  if (found !== undefined) return found;
  try {
    await fillOnce(cache, async (folder) => goBuild(MODULE, [PACKAGE], join(folder, "pulumi"), await versionFlag()));
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    throw new PulumiMissingError(`no Pulumi CLI (${error.message}): install it or Go, or name it in PULUMI_BIN`, {
      cause: error,
    });
  }
  return built;
}

/** A build from modules does not know its version, and the Automation API refuses a CLI without one. */
async function versionFlag(): Promise<string> {
  const text = await readFile(join(goModule(MODULE), "go.mod"), "utf8");
  const version = /github\.com\/pulumi\/pulumi\/pkg\/v3 (v\S+)/.exec(text)?.[1];
  if (version === undefined) throw new Error(`${MODULE}/go.mod names no version of the Pulumi CLI`);
  return `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${version}`;
}
