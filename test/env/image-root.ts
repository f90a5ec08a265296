import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, readdir, realpath, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { copyCheckout } from "./package.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");

/** The variable with the folder of an image's root, which what needs it first makes where npm's registry is in reach. */
export const IMAGE_ROOT_VARIABLE = "KEYPLANE_IMAGE_ROOT";

/** What the Dockerfile says of containers. */
export type ImageConfig = {
  /** Node.js, and what it runs. */
  readonly entrypoint: readonly [node: string, main: string];
  /** Numbers, as in `65532:65532`. */
  readonly user: string;
  readonly env: Readonly<Record<string, string>>;
};

export function readImageConfig(): ImageConfig {
  const text = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const valuesOf = (instruction: string) =>
    [...text.matchAll(new RegExp(`^${instruction} (.+)$`, "gm"))].map(([, value = ""]) => value);
  const [entrypoint = ""] = valuesOf("ENTRYPOINT");
  const [user = ""] = valuesOf("USER");
  const pairs = valuesOf("ENV").map((pair) => pair.split("=", 2));
  return { entrypoint: JSON.parse(entrypoint), user, env: Object.fromEntries(pairs) };
}

/**
 * The image's root, made unless it is there: in the folder that the variable names, which several runs may share.
 *
 * @param folder where it is made if there is no such variable
 * @param tarball asked for the package's tarball, where one is packed anyway: else it is packed of what the image's build has
 */
export async function findImageRoot(folder: string, tarball?: () => Promise<string>): Promise<string> {
  const { [IMAGE_ROOT_VARIABLE]: root = join(folder, "root") } = process.env;
  if (existsSync(root)) return root;
  const made = `${root}-${process.pid}`;
  await makeImageRoot(made, await tarball?.());
  await rename(made, root).catch(async (error: unknown) => {
    // Another run has made it meanwhile.
    if (!existsSync(root)) throw error;
    await rm(made, { recursive: true });
  });
  return root;
}

/**
 * Makes the root file system of the image, where no container engine and no registry is at hand: what the Dockerfile
 * copies, made by the script that it runs, and of its base what that is run by, this machine's Node.js with its libraries.
 *
 * @param folder is made
 */
async function makeImageRoot(folder: string, tarball?: string): Promise<void> {
  const [node] = readImageConfig().entrypoint;
  // What is mounted there finds its folder, since nothing can be made on a root that is read only.
  for (const path of ["data", "dev", "proc", "tmp"]) await mkdir(join(folder, path), { recursive: true });
  const target = join(folder, "keyplane");
  const make = (cwd: string, ...args: string[]) =>
    run(process.execPath, ["scripts/image.ts", target, ...args], { cwd, maxBuffer: 1 << 24 });
  if (tarball === undefined) await inBuildContext(`${folder}-checkout`, make);
  else await make(ROOT, tarball);
  await copyProgram(process.execPath, folder, node);
}

/** Does something in a copy of the checkout that has what .dockerignore sends, and nothing else. */
async function inBuildContext(checkout: string, build: (folder: string) => Promise<unknown>): Promise<void> {
  await copyCheckout(checkout);
  const sent = readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n");
  for (const name of await readdir(checkout)) {
    if (!sent.includes(`!${name}`)) await rm(join(checkout, name), { recursive: true });
  }
  await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  await build(checkout);
  await rm(checkout, { recursive: true });
}

/**
 * Copies a program of this machine below a folder, with the shared libraries that it needs, the loader among them.
 *
 * @param to its path there; the libraries have theirs
 */
export async function copyProgram(path: string, folder: string, to = path): Promise<void> {
  const { stdout } = await run("ldd", [path]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].flatMap(([, library = ""]) => library);
  for (const [from, at] of [[path, to] as const, ...libraries.map((library) => [library, library] as const)]) {
    await mkdir(join(folder, dirname(at)), { recursive: true });
    await cp(await realpath(from), join(folder, at));
  }
}
