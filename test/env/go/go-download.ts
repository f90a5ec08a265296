import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BuildError } from "./go-build.ts";

const run = promisify(execFile);

/** A version of a Go module, with the hash that go.sum would have of it. */
export type GoModuleVersion = { readonly path: string; readonly version: string; readonly sum: string };

/**
 * Has Go download a module into its own cache, for the files in it that are no Go.
 *
 * @returns the folder of the module
 * @throws {BuildError} where there is no Go, it fails, or what came is something else
 */
export async function downloadGoModule({ path, version, sum }: GoModuleVersion): Promise<string> {
  const { stdout } = await run("go", ["mod", "download", "-json", `${path}@${version}`]).catch((error: unknown) => {
    throw new BuildError(`go mod download ${path}@${version} failed`, { cause: error });
  });
  const downloaded: { readonly Dir: string; readonly Sum: string } = JSON.parse(stdout);
  if (downloaded.Sum !== sum) throw new BuildError(`${path}@${version} is not what it was: ${downloaded.Sum}`);
  return downloaded.Dir;
}
