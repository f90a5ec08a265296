/** Reader of what memory-import is given: a file or a folder, whose format is recognised by its content. */
import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import { parseJsonExactly } from "../../domain/parse-json.ts";
import { unreadableBecause } from "../../runtime/unreadable-because.ts";
import { STDIN } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { type ParsedLines, parseLines, readAtomLines } from "./atom-lines.ts";
import { type ImportReading, isObject, notImported } from "./import-item.ts";
import { readMarkdownFolder } from "./markdown-folder.ts";
import { mem0Memories, readMem0 } from "./mem0.ts";
import { isServerMemory, readServerMemory } from "./server-memory.ts";

/** Largest number of field names that a message about an unknown document shows. */
const MAX_NAMES = 8;

/**
 * Reads a folder of Markdown, or a file: an export of this command, a file of `@modelcontextprotocol/server-memory`, or
 * an export of mem0.
 *
 * @throws UsageError for anything else, and for what cannot be read
 */
export async function readImport(path: string): Promise<ImportReading> {
  try {
    if (path === STDIN) return readFileText(asText(await buffer(process.stdin), "standard input"), "standard input");
    if ((await stat(path)).isDirectory()) return await readMarkdownFolder(path);
    return readFileText(asText(await readFile(path), path), path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path}: ${unreadableBecause(error)}`);
  }
}

function asText(bytes: Uint8Array, file: string): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  throw notImported(file, "is no text in UTF-8: convert it");
}

/**
 * Reads a file, and leaves out the parts that break its format.
 *
 * @param file path of the file, as a person wrote it; its last part identifies the statements at the next import
 * @throws UsageError for a file of another format, or of which nothing can be read
 */
export function readFileText(given: string, file: string): ImportReading {
  const content = given.replace(/^\uFEFF/, "");
  const document = parseJsonExactly(content);
  if (mem0Memories(document) !== undefined) return readMem0(document, file);
  const { lines, leftOut } = document === undefined ? parseLines(content, file) : onlyLine(document, file);
  const source = basename(file);
  const isGraph = lines.some(({ value }) => isServerMemory(value));
  const reading = isGraph ? readServerMemory(lines, source) : readAtomLines(lines, source);
  const all = [...leftOut, ...reading.leftOut];
  const [first, ...others] = all;
  if (first === undefined || reading.items.length > 0) return { ...reading, leftOut: all };
  const rest = others.length === 0 ? "" : `, and so on for ${others.length} more`;
  const help = content.startsWith("{\n") ? " (write each object on one line, as `jq -c .` does)" : "";
  throw notImported(`${first.what}:`, `${first.why}${rest}${help}`);
}

/** Returns a single document as the only line, for a file of one line in a format of lines. */
function onlyLine(document: unknown, file: string): ParsedLines {
  if (isObject(document) && ("content" in document || isServerMemory(document)))
    return { lines: [{ line: 1, where: `line 1 of ${file}`, value: document }], leftOut: [] };
  throw notImported(
    file,
    `is one JSON document, ${shapeOf(document)}: known are lines of atoms with their "content", of entities and relations, and what mem0 exports, a list of memories or "results"`,
  );
}

function shapeOf(document: unknown): string {
  if (isObject(document)) return `an object${withNames([document])}`;
  if (!Array.isArray(document)) return document === null ? "null" : `a ${wordOf(document)}`;
  const [first] = document;
  if (first === undefined) return "an empty list";
  return `a list of ${wordOf(first)}s${withNames(document.filter(isObject))}`;
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "text" : typeof value;
}

function withNames(objects: readonly object[]): string {
  const names = [...new Set(objects.flatMap((each) => Object.keys(each)))].slice(0, MAX_NAMES);
  return names.length === 0 ? "" : ` with ${names.map((name) => JSON.stringify(name.slice(0, 64))).join(", ")}`;
}
