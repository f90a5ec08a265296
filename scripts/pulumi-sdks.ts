/**
 * Compiles the SDKs that Pulumi's generators make of the package's schema: for Python a wheel, for Go a module, each with
 * the oldest library of Pulumi that the package promises.
 *
 * Arguments: the program of `scripts/pulumi-sdks/`, and a folder, which gets the wheel; `sdks` in it is for the sources.
 */
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import packageJson from "../package.json" with { type: "json" };

const run = promisify(execFile);
const SCHEMA = join(import.meta.dirname, "../infra/pulumi/schema.json");

/** Version of the oldest library of Pulumi that the package promises. */
export const OLDEST_PULUMI = packageJson.peerDependencies["@pulumi/pulumi"].replace(/^>=(\S+) .*$/, "$1");

/**
 * Generates the SDK in Python, compiles each file of it, and makes a wheel.
 *
 * @param generator the path of the program of `scripts/pulumi-sdks/`
 * @param folder is made; the wheel is in it
 * @returns the path of the Python that made it, in an environment of its own, and the path of the wheel
 * @throws if a file does not compile, or Python has no pip
 */
export async function compilePythonSdk(generator: string, folder: string): Promise<{ python: string; wheel: string }> {
  const [sources, environment] = [join(folder, "sdks/python"), join(folder, "sdks/venv")];
  await run(generator, [SCHEMA, "python", sources]);
  await run("python3", ["-m", "venv", "--clear", environment]);
  const python = join(environment, "bin/python");
  await run(python, ["-m", "compileall", "-q", join(sources, "pulumi_keyplane")]);
  const options = ["--quiet", "--disable-pip-version-check", "--no-deps"];
  await run(python, ["-m", "pip", "wheel", ...options, "--wheel-dir", folder, sources]);
  return { python, wheel: join(folder, `pulumi_keyplane-${packageJson.version}-py3-none-any.whl`) };
}

/**
 * Generates the SDK in Go, builds its packages and runs `go vet` on them.
 *
 * @param generator the path of the program of `scripts/pulumi-sdks/`
 * @param folder is made
 * @returns the folder of the module, `keyplane.dev/pulumi`
 * @throws if it does not compile, or `go vet` finds something
 */
export async function compileGoSdk(generator: string, folder: string): Promise<string> {
  const module = join(folder, "sdks/go");
  await run(generator, [SCHEMA, "go", module]);
  for (const args of [
    ["mod", "edit", `-require=github.com/pulumi/pulumi/sdk/v3@v${OLDEST_PULUMI}`],
    ["mod", "tidy"],
    ["build", "./..."],
    ["vet", "./..."],
  ]) {
    await run("go", args, { cwd: module, env: { ...process.env, CGO_ENABLED: "0" }, maxBuffer: 1 << 26 });
  }
  return module;
}

if (import.meta.main) {
  const [generator, folder] = process.argv.slice(2).map((path) => resolve(path));
  if (generator === undefined || folder === undefined) {
    throw new Error("Usage: node scripts/pulumi-sdks.ts GENERATOR FOLDER");
  }
  console.log((await compilePythonSdk(generator, folder)).wheel);
  console.log(await compileGoSdk(generator, folder));
}
