/** What memory-import is given: a file or a folder, recognised by what is in it. */
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { text } from "node:stream/consumers";
import { unreadableBecause } from "../../runtime/unreadable-because.ts";
import { STDIN } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { parseLines, readAtomLines } from "./atom-lines.ts";
import type { Reading } from "./import-item.ts";
import { readMarkdownFolder } from "./markdown-folder.ts";
import { mem0Memories, readMem0 } from "./mem0.ts";
import { readServerMemory } from "./server-memory.ts";

/**
 * Reads a folder of Markdown, or a file: an export of this command, the file of `@modelcontextprotocol/server-memory`, or
 * what mem0 exports.
 *
 * @throws UsageError for what is none of them, and cannot be read
 */
export async function readImport(path: string): Promise<Reading> {
  if (path === STDIN) return readFileText(await text(process.stdin), "standard input");
  try {
    if ((await stat(path)).isDirectory()) return await readMarkdownFolder(path);
    return readFileText(await readFile(path, "utf8"), path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path}: ${unreadableBecause(error)}`);
  }
}

/** @param file as a person calls it; the last part of it is by what its statements are known again */
export function readFileText(given: string, file: string): Reading {
  const content = given.replace(/^\uFEFF/, "");
  const document = parseWhole(content);
  if (mem0Memories(document) !== undefined) return readMem0(document, file);
  const lines = parseLines(content, file);
  const source = basename(file);
  const type = lines[0]?.value.type;
  return type === "entity" || type === "relation" ? readServerMemory(lines, source) : readAtomLines(lines, source);
}

/** A file of lines is no JSON as a whole, but for one of a single line. */
function parseWhole(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
