import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

/** Makes a folder of the cache by `fill`, once, however many processes ask for it, and never in part. */
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
