import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
/** The folder of a Go module, by its path from here. */
export const goModule = (name: string) => join(import.meta.dirname, name);

/** A program could not be built; the message says why. */
export class BuildError extends Error {}

/** A folder for what is built from these Go modules: outside of the checkout, so that a new clone finds it. */
export async function cacheFolder(kind: string, modules: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const name of modules) hash.update(await readFile(join(goModule(name), "go.sum")));
  const root = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(root, "keyplane", `${kind}-${hash.digest("hex").slice(0, 16)}`);
}

/** Makes a folder of the cache by `fill`, once, whoever else asks for it, and never in part. */
export async function fillOnce(cache: string, fill: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(cache)) return;
  await mkdir(dirname(cache), { recursive: true });
  await alone(`${cache}.lock`, async () => {
    if (existsSync(cache)) return;
    const unfinished = `${cache}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished);
    await fill(unfinished);
    await rename(unfinished, cache);
  });
}

/** Runs the body while no other process does. The lock is SQLite's, which goes with the process that holds it. */
async function alone(path: string, body: () => Promise<void>): Promise<void> {
  const lock = new DatabaseSync(path);
  try {
    while (!tryLock(lock)) await delay(500);
    await body();
  } finally {
    lock.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes("locked")) return false;
    throw error;
  }
}

/**
 * Builds packages of a module into a folder, or one package into a file.
 *
 * @throws {BuildError} where there is no Go, or it fails
 */
export async function goBuild(name: string, packages: readonly string[], output: string, flags = ""): Promise<void> {
  const what = (output.endsWith("/") ? packages : [output]).map((path) => basename(path)).join(", ");
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  console.log(`building ${what} for the tests: minutes, once, and then cached`);
  const progress = setInterval(() => console.log(`still building ${what}, ${seconds()} s`), 60_000);
  const args = ["go", "build", "-trimpath", "-ldflags", `-s -w ${flags}`, "-o", output, ...packages];
  const options = { cwd: goModule(name), env: { ...process.env, CGO_ENABLED: "0" }, maxBuffer: 1 << 26 };
  try {
    await run("nice", args, options);
  } catch (error) {
    const { code, stderr = "" } = error as { code?: unknown; stderr?: string };
    const noGo = code === 127 || code === "ENOENT";
    throw new BuildError(noGo ? "there is no Go" : `go build: ${stderr.trim().slice(-300)}`, { cause: error });
  } finally {
    clearInterval(progress);
  }
  console.log(`built ${what} in ${seconds()} s`);
}
