import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { ROOT } from "../architecture/sources.ts";
import { COMPILE_CACHE, SHORT_LIVED } from "../env/compile-cache.ts";
import { makeDatabaseFolder } from "../env/database/database-folder.ts";
import { until } from "../env/until.ts";
import { key, team } from "./up.ts";

const MAIN = join(ROOT, "cli/main.ts");

/** A folder with a team and a key to declare, until the test has finished. */
export function makeFolder(): string {
  // Where everybody may come: the folder of temporary files may be closed to others.
  const folder = makeDatabaseFolder("keyplane-folders-", "/tmp");
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "manifests"));
  writeFileSync(join(folder, "manifests/all.yaml"), team("team-a", "dev") + key("agent"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** `keyplane up` in such a folder. */
export function up(folder: string, data: string) {
  const args = ["up", "--manifests", "manifests", "--data", data, "--port", "0", "--admin-port", "0"];
  const child = spawn(process.execPath, [...SHORT_LIVED, MAIN, ...args], { cwd: folder, env: COMPILE_CACHE });
  let [output, errors] = ["", ""];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  const ended = once(child, "close").then(([code]) => code);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, ended, output: () => output, errors: () => errors };
}
export type StartedUp = ReturnType<typeof up>;

/**
 * Waits until it serves, with its key delivered, and ends it.
 *
 * @param meanwhile what is done before that
 */
export async function expectToServe(
  folder: string,
  data: string,
  meanwhile?: (serving: StartedUp) => Promise<void>,
): Promise<void> {
  const serving = up(folder, data);
  await until(`it serves on ${data}`, () => {
    if (serving.child.exitCode !== null) throw new Error(serving.output());
    return /^dev +agent +True/m.test(serving.output());
  });
  await meanwhile?.(serving);
  serving.child.kill("SIGTERM");
  expect(await serving.ended).toBe(0);
}

/** That it ends by itself, with one line to standard error. */
export async function expectRefusal({ ended, errors }: ReturnType<typeof up>, says: RegExp): Promise<void> {
  expect([await ended, errors()]).toEqual([1, expect.stringMatching(says)]);
  expect(errors().trimEnd().split("\n")).toHaveLength(1);
}
