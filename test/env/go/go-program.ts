import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fillOnce } from "../database/fill-once.ts";
import { BuildError, cacheFolder, goBuild, goModule } from "./go-build.ts";

/**
 * In the environment of a Go program: it collects garbage when that is four times what it keeps. By its own setting, as
 * much as it keeps, it takes half of that memory and up to a third more of the processor.
 */
export const RARE_COLLECTION = { GOGC: "400" } as const;

/** A program that tests take, as one package of a Go module. */
export type GoProgram = {
  /** As it is called on PATH. */
  readonly name: string;
  /** The variable that names another one. */
  readonly variable: string;
  /** The folder of the module that has its version, below `test/env`. */
  readonly module: string;
  readonly package: string;
  /** For the linker, by the versions of the modules that go.mod requires: a build from modules does not know its own. */
  readonly flags?: (versionOf: (module: string) => string) => string;
  /** Build tags, separated by commas. */
  readonly tags?: string;
};

/** There is no such program to be had on this machine; the message says what would help. */
export class ProgramMissingError extends Error {}

/**
 * The path of a program: the one that its variable names, the one in our cache, the system's. Where there is none, Go
 * builds one into the cache, which takes minutes.
 *
 * @throws {ProgramMissingError} where it can be neither found nor built
 */
export async function findGoProgram(program: GoProgram): Promise<string> {
  const { name, variable, module, package: path, flags = () => "", tags = "" } = program;
  const { [variable]: given = "", PATH = "" } = process.env;
  const cache = await cacheFolder(name, [module]);
  const built = join(cache, name);
  const known = [given, built, ...PATH.split(delimiter).map((folder) => join(folder, name))];
  const found = known.find((path) => path !== "" && existsSync(path));
  if (found !== undefined) return found;
  const required = await requiredBy(module);
  try {
    await fillOnce(cache, (folder) => goBuild(module, [path], join(folder, name), { flags: flags(required), tags }));
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    const missing = `no ${name} (${error.message}): install it or Go, or name it in ${variable}`;
    throw new ProgramMissingError(missing, { cause: error });
  }
  return built;
}

/** The version of each module that another's go.mod requires. */
async function requiredBy(module: string): Promise<(required: string) => string> {
  const text = await readFile(join(goModule(module), "go.mod"), "utf8");
  return (required) => {
    const line = text.split("\n").find((line) => line.trim().startsWith(`${required} v`));
    const version = line?.trim().split(" ")[1];
    if (version === undefined) throw new Error(`${module}/go.mod names no version of ${required}`);
    return version;
  };
}
