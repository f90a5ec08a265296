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
    const messages = await readKept(file);
    if (messages === undefined) {
      const aside = file.replace(/json$/, "bad");
      // Another process may have sent it meanwhile.
      const isThere = await rename(file, aside).then(
        () => true,
        () => false,
      );
      if (isThere) await addProblem(folder, `${aside} is no conversation that can be read, and is not sent`);
      continue;
    }
    const sent = await sendConversation(memory, messages);
    if (sent.kind === "later") return addProblem(folder, `conversations wait to be sent: ${sent.why}`);
    if (sent.kind === "refused") await addProblem(folder, `a conversation was not taken: ${sent.why}`);
    await rm(file, { force: true });
  }
}

async function readKept(file: string): Promise<readonly SaidMessage[] | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Once, however often it comes up before a session starts. */
async function addProblem(folder: string, why: string): Promise<void> {
  const file = join(folder, PROBLEM);
  const said = await readFile(file, "utf8").catch(() => "");
  if (!said.split("\n").includes(why)) await writeFile(file, said === "" ? why : `${said}\n${why}`, { mode: 0o600 });
}

/** What went wrong since it was last asked, a line each; undefined where nothing did. */
export async function takeProblem(folder: string): Promise<string | undefined> {
  const file = join(folder, PROBLEM);
  const why = await readFile(file, "utf8").catch(() => undefined);
  await rm(file, { force: true });
  return why;
}
