import { execFile } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");

/** Of the checkout's own packages no copy is made. */
const MODULES = "node_modules";

/** What a package that is packed here says that it was built of. */
export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/**
 * Copies what a clone of the checkout would have, changes that are not committed included: what is built of it is in
 * no other test's way.
 *
 * @param folder is made
 */
export async function copyCheckout(folder: string): Promise<void> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const [{ stdout: all }, { stdout: deleted }] = await Promise.all([
    run("git", args, { cwd: ROOT, maxBuffer: 1 << 24 }),
    run("git", ["ls-files", "-z", "--deleted"], { cwd: ROOT }),
  ]);
  const gone = new Set(deleted.split("\0"));
  for (const file of all.split("\0").filter((path) => path !== "" && !gone.has(path))) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(ROOT, file), join(folder, file));
  }
}

/** Packs the package in a folder: the path of its tarball. */
export async function pack(folder: string): Promise<string> {
  const checkout = join(folder, "checkout");
  await copyCheckout(checkout);
  await symlink(join(ROOT, MODULES), join(checkout, MODULES));
  const env = { ...process.env, KEYPLANE_COMMIT: COMMIT };
  await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: checkout, env });
  return join(folder, `keyplane-${packageJson.version}.tgz`);
}

/**
 * Installs a tarball in an empty folder, as its users do: what it depends on comes from the registry or npm's cache.
 * A package that does not promise to run on that Node.js fails it. One folder further up is what those who write Pulumi
 * programs have besides.
 *
 * @param path the PATH by which npm and Node.js are found
 * @returns the folder that it is installed in, below the given one
 */
export async function install(tarball: string, folder: string, path: string | undefined): Promise<string> {
  const app = join(folder, "app");
  await mkdir(app, { recursive: true });
  // npm sbom asks for a version.
  await writeFile(join(app, "package.json"), JSON.stringify({ version: "1.0.0", private: true, type: "module" }));
  const options = ["--silent", "--prefer-offline", "--engine-strict", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...options, tarball], { cwd: app, env: { ...process.env, PATH: path } });
  await mkdir(join(folder, MODULES));
  // Not all of them: npx would take their Node.js.
  for (const scope of ["@pulumi", "@types"]) await symlink(join(ROOT, MODULES, scope), join(folder, MODULES, scope));
  return app;
}

/** A PATH on which a release of Node.js comes first, which npm fetches once. */
export async function pathOfNode(version: string): Promise<string> {
  const print = ["node", "--print", "process.execPath"];
  const args = ["exec", "--yes", `--package=node@${version}`, "--", ...print];
  const { stdout } = await run("npm", args, { cwd: tmpdir() });
  return [dirname(stdout.trim()), process.env.PATH].join(delimiter);
}
