/** Conversations that wait to be sent, a file for each, in a folder that its owner alone reads. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Memory, sendConversation } from "./memory.ts";
import type { SaidMessage } from "./transcript.ts";

/** Number of conversations that are kept; of more, the oldest are given up. */
const MAX_KEPT = 100;
const PROBLEM = "problem.txt";

/** Keeps a conversation until it is sent. */
export async function keep(folder: string, messages: readonly SaidMessage[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = join(folder, `${Date.now()}-${randomUUID()}`);
  await writeFile(`${name}.part`, JSON.stringify(messages), { mode: 0o600 });
  await rename(`${name}.part`, `${name}.json`);
}

/** Sends the kept conversations, the oldest first, until a conversation cannot be sent now. */
export async function sendKept(folder: string, memory: Memory): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
  for (const name of names.slice(0, -MAX_KEPT)) await rm(join(folder, name), { force: true });
  /** Length, in characters, from which on the library has no tokens for a conversation at present. */
  let tooMany = Number.POSITIVE_INFINITY;
  for (const name of names.slice(-MAX_KEPT)) {
    const file = join(folder, name);
    const text = await readFile(file, "utf8").catch(() => "");
    const messages = conversationIn(text);
    if (messages === undefined) {
      const aside = await putAside(file, "bad");
      if (aside !== undefined)
        await addProblem(folder, `${aside} is no conversation that can be read, and is not sent`);
      continue;
    }
    if (text.length >= tooMany) continue;
    const sent = await sendConversation(memory, messages);
    if (sent.kind === "later" || sent.kind === "spent") {
      await addProblem(folder, `conversations wait to be sent: ${sent.why}`);
      if (sent.kind === "later") return;
      tooMany = text.length;
      continue;
    }
    if (sent.kind === "refused") await addProblem(folder, `a conversation was not taken: ${sent.why}`);
    if (sent.kind === "large")
      await addProblem(folder, `not taken, and put aside as ${await putAside(file, "large")}: ${sent.why}`);
    await rm(file, { force: true });
  }
}

/** Renames a file, to be sent no more; undefined if another process has sent it meanwhile. */
function putAside(file: string, end: string): Promise<string | undefined> {
  const aside = file.replace(/json$/, end);
  return rename(file, aside).then(
    () => aside,
    () => undefined,
  );
}

function conversationIn(text: string): readonly SaidMessage[] | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Adds a problem to be shown as a session starts, once, however often it comes up until then. */
async function addProblem(folder: string, why: string): Promise<void> {
  const file = join(folder, PROBLEM);
  const said = await readFile(file, "utf8").catch(() => "");
  if (!said.split("\n").includes(why)) await writeFile(file, said === "" ? why : `${said}\n${why}`, { mode: 0o600 });
}

/** Returns the problems since the last call, a line each; undefined if there were none. */
export async function takeProblem(folder: string): Promise<string | undefined> {
  const file = join(folder, PROBLEM);
  const why = await readFile(file, "utf8").catch(() => undefined);
  await rm(file, { force: true });
  return why;
}
