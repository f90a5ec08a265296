/** Library as JSON Lines, an atom on each line, as memory-export and `GET /atoms/export` write it. */
import { defined } from "../../domain/defined.ts";
import { parseJsonExactly } from "../../domain/parse-json.ts";
import {
  type ImportItem,
  type ImportReading,
  idFor,
  isObject,
  isUuid,
  type LeftOut,
  notImported,
  oldestFirst,
} from "./import-item.ts";

/** Line of a file that holds a JSON object. */
export type ParsedLine = {
  /** Number of the line, from 1. */
  readonly line: number;
  /** Location of the line, for a person. */
  readonly where: string;
  readonly value: Readonly<Record<string, unknown>>;
};

/** Lines of a file that are JSON objects, and those that are not. */
export type ParsedLines = { readonly lines: readonly ParsedLine[]; readonly leftOut: readonly LeftOut[] };

/**
 * Parses the lines of a file. Blank lines are skipped.
 *
 * @throws UsageError for a file without lines
 */
export function parseLines(text: string, file: string): ParsedLines {
  const lines: ParsedLine[] = [];
  const leftOut: LeftOut[] = [];
  for (const [index, content] of text.split("\n").entries()) {
    if (content.trim() === "") continue;
    const where = `line ${index + 1} of ${file}`;
    const value = parseJsonExactly(content);
    if (isObject(value)) lines.push({ line: index + 1, where, value });
    else leftOut.push({ what: where, why: value === undefined ? "it is no JSON" : "it is no JSON object" });
  }
  if (lines.length === 0 && leftOut.length === 0) throw notImported(file, "has no line");
  return { lines, leftOut };
}

/**
 * Reads atoms from lines.
 *
 * @param source name of the file; it identifies lines without an atom's id at the next import
 */
export function readAtomLines(given: readonly ParsedLine[], source: string): ImportReading {
  const { lines, leftOut } = withoutRepeats(given, "id");
  const ids = new Map(lines.flatMap(({ value: { id } }) => (typeof id === "string" ? [[id, idOf(id, source)]] : [])));
  const times = new Map<string, number>();
  const items = lines.map(({ where, value }): ImportItem => {
    // What is no id, or no link, is the server's to refuse.
    const { id = idFor(source, withoutId(value.content, times)), links, ...fields } = value;
    const own = typeof id === "string" && ids.has(id) ? ids.get(id) : id;
    const led = Array.isArray(links) ? links.map((link) => toNew(ids, link)) : links;
    return { where, atom: defined({ ...fields, id: own, links: led }) };
  });
  return { items: oldestFirst(items.toReversed()), leftOut, strayLinks: 0 };
}

function idOf(id: string, source: string): string {
  return isUuid(id) ? id : idFor(source, id);
}

/** Returns the name of a line without an id: its statement, and the number of the equal statements up to it. */
function withoutId(content: unknown, times: Map<string, number>): string {
  const text = JSON.stringify(content) ?? "";
  const time = (times.get(text) ?? 0) + 1;
  times.set(text, time);
  return `${time} ${text}`;
}

function toNew(ids: ReadonlyMap<string, string>, link: unknown): unknown {
  return isObject(link) && typeof link.id === "string" ? { ...link, id: ids.get(link.id) ?? link.id } : link;
}

/** Returns the lines without those whose field repeats the value of an earlier line. */
export function withoutRepeats(given: readonly ParsedLine[], field: "id" | "name"): ParsedLines {
  const first = new Map<unknown, number>();
  const lines: ParsedLine[] = [];
  const leftOut: LeftOut[] = [];
  for (const parsed of given) {
    const name = parsed.value[field];
    const before = name === undefined ? undefined : first.get(name);
    if (before === undefined) lines.push(parsed);
    else {
      const why = `it has the "${field}" of line ${before}, and links could lead to either`;
      leftOut.push({ what: parsed.where, why });
    }
    if (before === undefined) first.set(name, parsed.line);
  }
  return { lines, leftOut };
}
