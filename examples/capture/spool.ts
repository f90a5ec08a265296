/** Conversations that wait to be sent, a file for each, in a folder that its owner alone reads. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Memory, sendConversation } from "./memory.ts";
import type { SaidMessage } from "./transcript.ts";

/** Of more the oldest are given up. */
const MAX_KEPT = 100;
const PROBLEM = "problem.txt";

/** Keeps a conversation until it is sent. */
export async function keep(folder: string, messages: readonly SaidMessage[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = join(folder, `${Date.now()}-${randomUUID()}`);
  await writeFile(`${name}.part`, JSON.stringify(messages), { mode: 0o600 });
  await rename(`${name}.part`, `${name}.json`);
}

/** Sends what is kept, the oldest first, until one cannot be sent now. */
export async function sendKept(folder: string, memory: Memory): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
  for (const name of names.slice(0, -MAX_KEPT)) await rm(join(folder, name), { force: true });
  for (const name of names.slice(-MAX_KEPT)) {
    const file = join(folder, name);
    const sent = await sendConversation(memory, JSON.parse(await readFile(file, "utf8")));
    if (sent.kind !== "taken") await writeFile(join(folder, PROBLEM), sent.why, { mode: 0o600 });
    if (sent.kind === "later") return;
    await rm(file, { force: true });
  }
}

/** Why the last conversation was not taken; undefined where it was, and once it was asked. */
export async function takeProblem(folder: string): Promise<string | undefined> {
  const file = join(folder, PROBLEM);
  const why = await readFile(file, "utf8").catch(() => undefined);
  await rm(file, { force: true });
  return why;
}
