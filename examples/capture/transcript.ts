/** Reads what was said in a session, from the file of Claude Code or Codex: a JSON object on each line. */
import { open } from "node:fs/promises";

export type SaidMessage = { readonly role: "user" | "assistant"; readonly content: string };

/** Limits of a long session, of which the end is read: bytes of the file, and characters to hand over, as JSON. */
const MAX_BYTES = 8 << 20;
const MAX_CHARACTERS = 150_000;
/** Text that agents write in the place of a person: `<environment_context>`, `<command-name>` and the like. */
const OF_AGENT = /^\s*(?:<[a-z]+[-_][a-z_-]*>|# AGENTS\.md instructions)/;

/** Reads the messages of people and of the assistant, without what tools gave. Lines of any other form are left out. */
export async function readConversation(path: string): Promise<readonly SaidMessage[]> {
  const said = (await lastLines(path)).flatMap(messagesOf);
  const kept: SaidMessage[] = [];
  let charactersLeft = MAX_CHARACTERS;
  for (const { role, content } of said.toReversed()) {
    const over = JSON.stringify({ role, content }).length - charactersLeft;
    if (over >= content.length) break;
    kept.unshift({ role, content: content.slice(Math.max(0, over)) });
    if (over >= 0) break;
    charactersLeft = -over;
  }
  return kept;
}

async function lastLines(path: string): Promise<string[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - MAX_BYTES);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - start), position: start });
    const lines = buffer.subarray(0, bytesRead).toString().split("\n");
    // The first of a part of the file has no beginning.
    return start === 0 ? lines : lines.slice(1);
  } finally {
    await file.close();
  }
}

function messagesOf(line: string): SaidMessage[] {
  const entry = parsed(line);
  // Claude Code has the message in `message`, Codex in `payload`.
  const isCodex = entry?.type === "response_item" && entry.payload?.type === "message";
  const message = isCodex ? entry?.payload : entry?.message;
  const role = message?.role;
  if (entry?.isMeta || entry?.isSidechain || entry?.isCompactSummary || (role !== "user" && role !== "assistant"))
    return [];
  const texts = textsOf(message?.content).filter((text) => role === "assistant" || !OF_AGENT.test(text));
  // The memory takes no NUL characters.
  const content = texts.join("\n").replaceAll("\0", "");
  return content.trim() === "" ? [] : [{ role, content }];
}

type TranscriptEntry = {
  readonly type?: string;
  readonly isMeta?: boolean;
  readonly isSidechain?: boolean;
  /** True for what a model has made of the session so far, in the person's place. */
  readonly isCompactSummary?: boolean;
  readonly message?: TranscriptMessage;
  readonly payload?: TranscriptMessage;
};
type TranscriptMessage = { readonly type?: string; readonly role?: string; readonly content?: unknown };

function parsed(line: string): TranscriptEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const TEXTS: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"]);

function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => (TEXTS.has(part?.type) && typeof part.text === "string" ? [part.text] : []));
}
