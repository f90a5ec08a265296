/**
 * Hook of Claude Code and of Codex: `node examples/capture/hook.ts --config ~/.keyplane/capture.json`. At the start of
 * a session it gives the agent what a library remembers; at the end it hands the conversation over. It never fails, and
 * never holds a session up for long: what cannot be sent now is sent at the start of the next session.
 */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { type Memory, wakeUp, whyOf } from "./memory.ts";
import { keep, sendKept, takeProblem } from "./spool.ts";
import { readConversation } from "./transcript.ts";

/** Milliseconds that agents wait at most: Codex gives the end of a session a second. */
const LIMITS_MS = { SessionStart: 4_000, SessionEnd: 900, send: 60_000 };

const { values } = parseArgs({
  options: {
    config: { type: "string", default: join(homedir(), ".keyplane", "capture.json") },
    send: { type: "boolean", default: false },
  },
});

type Config = Partial<Record<"url" | "keyFile" | "library", string>> & {
  /** Folder of the conversations that could not be sent yet. */
  readonly spool: string;
};

async function readConfig(): Promise<Config> {
  const { spool = "~/.keyplane/conversations", ...others } = parsed(await readFile(values.config, "utf8"));
  return { ...others, spool: fromHome(spool) };
}

function parsed(json: string) {
  try {
    // Editors of Windows begin a file with a byte order mark.
    return JSON.parse(json.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Error(`${values.config} is no JSON: ${whyOf(error)}`);
  }
}

/** Reads the key, which only calls need: a conversation is kept without it. */
async function memoryOf({ url, keyFile, library }: Config): Promise<Memory> {
  if (!url || !keyFile || !library) throw new Error(`${values.config} needs a "url", a "keyFile" and a "library"`);
  return { url, library, key: (await readFile(fromHome(keyFile), "utf8")).trim() };
}

function fromHome(path: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}

/** Starts a process that sends the kept conversations, and goes on when the session has ended. */
function sendLater(): void {
  const args = [import.meta.filename, "--send", "--config", values.config];
  spawn(process.execPath, args, { detached: true, stdio: "ignore" }).unref();
}

async function run(): Promise<void> {
  if (values.send) {
    const config = await readConfig();
    return sendKept(config.spool, await memoryOf(config));
  }
  const event = JSON.parse(await text(process.stdin));
  endWithin(event.hook_event_name === "SessionStart" ? LIMITS_MS.SessionStart : LIMITS_MS.SessionEnd);
  const config = await readConfig();
  if (event.hook_event_name === "SessionStart") await start(config);
  if (event.hook_event_name === "SessionEnd") await end(config, event);
}

async function start(config: Config): Promise<void> {
  sendLater();
  const remembered = await wakeUp(await memoryOf(config));
  const problem = await takeProblem(config.spool);
  say({
    hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: remembered },
    ...(problem !== undefined && { systemMessage: `Keyplane: ${problem}` }),
  });
}

type EndedSession = { readonly transcript_path?: string | null };

async function end({ spool }: Config, { transcript_path: path }: EndedSession): Promise<void> {
  const messages = path ? await readConversation(path) : [];
  if (messages.length === 0) return;
  await keep(spool, messages);
  sendLater();
}

function say(output: object): void {
  process.stdout.write(JSON.stringify(output));
}

function endWithin(ms: number): void {
  setTimeout(() => process.exit(0), ms).unref();
}

if (values.send) endWithin(LIMITS_MS.send);
try {
  await run();
} catch (error) {
  // Shown to the person, and no failure to the agent.
  if (!values.send) say({ systemMessage: `Keyplane: ${whyOf(error)}` });
}
