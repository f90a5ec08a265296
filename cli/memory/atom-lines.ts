/** A library as JSON Lines, as memory-export and `GET /atoms/export` write it: each line an atom. */
import { defined } from "../../domain/defined.ts";
import { type ImportItem, idFor, isObject, isUuid, notImported, oldestFirst, type Reading } from "./import-item.ts";

/** A line that is no blank one, and a JSON object. */
export type ParsedLine = {
  /** Counted from 1. */
  readonly line: number;
  /** For a person. */
  readonly where: string;
  readonly value: Readonly<Record<string, unknown>>;
};

/**
 * The lines of a file.
 *
 * @throws UsageError naming the line that is no JSON object, and for a file without lines
 */
export function parseLines(text: string, file: string): ParsedLine[] {
  const lines = text
    .split("\n")
    .map((content, index) => ({ line: index + 1, content: content.trim() }))
    .filter(({ content }) => content !== "")
    .map(({ line, content }) => {
      const where = `line ${line} of ${file}`;
      return { line, where, value: parseObject(content, where) };
    });
  if (lines.length === 0) throw notImported(file, "has no line");
  return lines;
}

/**
 * @param source by which a line is known again that has no atom's id: the name of the file
 * @throws UsageError where two lines have one id
 */
export function readAtomLines(lines: readonly ParsedLine[], source: string): Reading {
  assertNoneTwice(lines, "id");
  const ids = new Map(lines.flatMap(({ value: { id } }) => (typeof id === "string" ? [[id, idOf(id, source)]] : [])));
  const times = new Map<string, number>();
  const items = lines.map(({ where, value }): ImportItem => {
    // What is no id, or no link, is the server's to refuse.
    const { id = idFor(source, withoutId(value.content, times)), links, ...fields } = value;
    const own = typeof id === "string" && ids.has(id) ? ids.get(id) : id;
    const led = Array.isArray(links) ? links.map((link) => toNew(ids, link)) : links;
    return { where, atom: defined({ ...fields, id: own, links: led }) };
  });
  return { items: oldestFirst(items.toReversed()), leftOut: [], strayLinks: 0 };
}

function idOf(id: string, source: string): string {
  return isUuid(id) ? id : idFor(source, id);
}

/** A line without an id is called by its statement, and by how many before it say the same. */
function withoutId(content: unknown, times: Map<string, number>): string {
  const text = JSON.stringify(content) ?? "";
  const time = (times.get(text) ?? 0) + 1;
  times.set(text, time);
  return `${time} ${text}`;
}

function toNew(ids: ReadonlyMap<string, string>, link: unknown): unknown {
  return isObject(link) && typeof link.id === "string" ? { ...link, id: ids.get(link.id) ?? link.id } : link;
}

/** @throws UsageError where a link could lead to either of two */
export function assertNoneTwice(lines: readonly ParsedLine[], field: "id" | "name"): void {
  const first = new Map<unknown, number>();
  for (const { line, where, value } of lines) {
    const name = value[field];
    if (name === undefined) continue;
    const before = first.get(name);
    if (before !== undefined) {
      throw notImported(where, `has the "${field}" of line ${before}, and links could lead to either`);
    }
    first.set(name, line);
  }
}

function parseObject(content: string, where: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw notImported(where, "is no JSON");
  }
  if (isObject(value)) return value;
  throw notImported(where, "is no JSON object");
}
