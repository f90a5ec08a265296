/** A library as JSON Lines, and what others write: each line of a file as an atom to import. */
import { UsageError } from "../usage-error.ts";

type Link = { readonly rel: string; readonly id: string };

/** An atom as a server exports and imports it. What is in its fields is the server's to judge. */
export type AtomLine = {
  /** Counted from 1. */
  readonly line: number;
  readonly atom: { readonly id?: string; readonly links?: readonly Link[]; readonly [field: string]: unknown };
};

/**
 * Reads an export of this command, or the file of `@modelcontextprotocol/server-memory`.
 *
 * @returns the atoms, the oldest first, and how many relations lead to no entity of the file
 * @throws UsageError naming the line that is none
 */
export function readLines(text: string, file: string): { atoms: AtomLine[]; strayRelations: number } {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((content, index) => ({ line: index + 1, content: content.trim() }))
    .filter(({ content }) => content !== "")
    .map(({ line, content }) => ({ line, value: parseObject(content, `line ${line} of ${file}`) }));
  const [first] = lines;
  if (first === undefined) throw new UsageError(`${file} has no line: nothing was imported`);
  if (first.value.type === "entity" || first.value.type === "relation") return fromServerMemory(lines, file);
  return { atoms: oldestFirst(lines.map(({ line, value }) => ({ line, atom: value }))), strayRelations: 0 };
}

type ParsedLine = { readonly line: number; readonly value: Record<string, unknown> };

function parseObject(content: string, where: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw new UsageError(`${where} is no JSON: nothing was imported`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new UsageError(`${where} is no JSON object: nothing was imported`);
}

/** An export has the newest first, and most links lead to what is older: then those are there already. */
function oldestFirst(lines: readonly { line: number; atom: Record<string, unknown> }[]): AtomLine[] {
  const timeOf = ({ created }: Record<string, unknown>) => (typeof created === "string" ? Date.parse(created) : 0) || 0;
  return lines
    .toReversed()
    .sort((one, other) => timeOf(one.atom) - timeOf(other.atom))
    .map(({ line, atom }) => ({ line, atom: { ...atom, ...linksOf(atom) } }));
}

/** Links that are none stay for the server to refuse. */
function linksOf({ links }: Record<string, unknown>): { links?: Link[] } {
  return Array.isArray(links) ? { links } : {};
}

/** An entity becomes an atom: its name, its type as a tag too, and its observations; a relation becomes a link. */
function fromServerMemory(lines: readonly ParsedLine[], file: string) {
  const ids = new Map<string, string>();
  const links = new Map<string, Link[]>();
  for (const { line, value } of lines) {
    if (value.type === "entity") ids.set(textOf(value, "name", line, file), `entity-${line}`);
  }
  let strayRelations = 0;
  for (const { line, value } of lines) {
    if (value.type === "entity") continue;
    if (value.type !== "relation") throw new UsageError(`line ${line} of ${file} is neither an entity nor a relation`);
    const from = textOf(value, "from", line, file);
    const to = ids.get(textOf(value, "to", line, file));
    if (to === undefined || !ids.has(from)) strayRelations++;
    else links.set(from, [...(links.get(from) ?? []), { rel: textOf(value, "relationType", line, file), id: to }]);
  }
  const atoms = lines
    .filter(({ value }) => value.type === "entity")
    .map(({ line, value }): AtomLine => {
      const name = textOf(value, "name", line, file);
      const entityType = textOf(value, "entityType", line, file);
      const observations = Array.isArray(value.observations) ? value.observations : [];
      const content = [`${name} (${entityType})`, ...observations.map((observation) => `- ${observation}`)].join("\n");
      return { line, atom: { id: `entity-${line}`, content, tags: [entityType], links: links.get(name) ?? [] } };
    });
  return { atoms, strayRelations };
}

function textOf(value: Record<string, unknown>, field: string, line: number, file: string): string {
  const text = value[field];
  if (typeof text === "string") return text;
  throw new UsageError(`line ${line} of ${file} lacks "${field}": nothing was imported`);
}
