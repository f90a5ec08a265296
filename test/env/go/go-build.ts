import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** The folder of a Go module, by its path from here. */
export const goModule = (name: string) => join(import.meta.dirname, "..", name);

/** A program could not be built; the message says why. */
export class BuildError extends Error {}

/** A folder for a program that tests take: outside of the checkout, so that a new clone finds it. */
export function programFolder(name: string): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "keyplane", name);
}

/** A folder for what is built from these Go modules. */
export async function cacheFolder(kind: string, modules: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const name of modules) {
    const sources = (await readdir(goModule(name))).filter((file) => file.endsWith(".go")).toSorted();
    for (const file of ["go.sum", ...sources]) hash.update(await readFile(join(goModule(name), file)));
  }
  return programFolder(`${kind}-${hash.digest("hex").slice(0, 16)}`);
}

type BuildOptions = {
  /** For the linker. */
  readonly flags?: string;
  /** Build tags, separated by commas. */
  readonly tags?: string;
};

/**
 * Builds packages of a module into a folder, or one package into a file.
 *
 * @throws {BuildError} where there is no Go, or it fails
 */
export async function goBuild(
  name: string,
  packages: readonly string[],
  output: string,
  { flags = "", tags = "" }: BuildOptions = {},
): Promise<void> {
  const what = (output.endsWith("/") ? packages : [output]).map((path) => basename(path)).join(", ");
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  console.log(`building ${what} for the tests: minutes, once, and then cached`);
  const progress = setInterval(() => console.log(`still building ${what}, ${seconds()} s`), 60_000);
  const args = [
    "go",
    "build",
    "-trimpath",
    "-buildvcs=false",
    "-tags",
    tags,
    "-ldflags",
    `-s -w ${flags}`,
    "-o",
    output,
    ...packages,
  ];
  const options = { cwd: goModule(name), env: { ...process.env, CGO_ENABLED: "0" }, maxBuffer: 1 << 26 };
  try {
    await run("nice", ["-n", "5", ...args], options);
  } catch (error) {
    const { code, stderr = "" } = error as { code?: unknown; stderr?: string };
    const noGo = code === 127 || code === "ENOENT";
    throw new BuildError(noGo ? "there is no Go" : `go build: ${stderr.trim().slice(-300)}`, { cause: error });
  } finally {
    clearInterval(progress);
  }
  console.log(`built ${what} in ${seconds()} s`);
}
