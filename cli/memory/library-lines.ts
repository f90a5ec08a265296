/** A library as JSON Lines, and what others write: each line of a file as an atom to import. */
import { UsageError } from "../command/usage-error.ts";

/** What one atom has to do with another. */
export type Link = { readonly rel: string; readonly id: string };

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
 * @throws UsageError naming the line that is no atom, entity or relation
 */
export function readLines(text: string, file: string): { atoms: AtomLine[]; strayRelations: number } {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((content, index) => ({ line: index + 1, content: content.trim() }))
    .filter(({ content }) => content !== "")
    .map(({ line, content }) => {
      const where = `line ${line} of ${file}`;
      return { line, where, value: parseObject(content, where) };
    });
  const [first] = lines;
  if (first === undefined) throw notImported(file, "has no line");
  if (first.value.type === "entity" || first.value.type === "relation") return fromServerMemory(lines);
  assertNoneTwice(lines, "id");
  return { atoms: oldestFirst(lines.map(({ line, value }) => ({ line, atom: value }))), strayRelations: 0 };
}

type ParsedLine = {
  readonly line: number;
  /** For a person. */
  readonly where: string;
  readonly value: Record<string, unknown>;
};

function notImported(where: string, why: string): UsageError {
  return new UsageError(`${where} ${why}: nothing was imported`);
}

/** @throws UsageError where a link could lead to either of two */
function assertNoneTwice(lines: readonly ParsedLine[], field: "id" | "name"): void {
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

function parseObject(content: string, where: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw notImported(where, "is no JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw notImported(where, "is no JSON object");
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
function fromServerMemory(lines: readonly ParsedLine[]) {
  const ids = new Map<string, string>();
  const links = new Map<string, Link[]>();
  const entities = lines.filter(({ value }) => value.type === "entity");
  assertNoneTwice(entities, "name");
  for (const entity of entities) ids.set(textOf(entity, "name"), idOf(entity));
  let strayRelations = 0;
  for (const relation of lines) {
    const { where, value } = relation;
    if (value.type === "entity") continue;
    if (value.type !== "relation") throw notImported(where, "is neither an entity nor a relation");
    const from = textOf(relation, "from");
    const to = ids.get(textOf(relation, "to"));
    if (to === undefined || !ids.has(from)) strayRelations++;
    else links.set(from, [...(links.get(from) ?? []), { rel: textOf(relation, "relationType"), id: to }]);
  }
  const atoms = entities.map((entity): AtomLine => {
    const name = textOf(entity, "name");
    const entityType = textOf(entity, "entityType");
    const observations = observationsOf(entity).map((observation) => `- ${observation}`);
    const content = [`${name} (${entityType})`, ...observations].join("\n");
    return { line: entity.line, atom: { id: idOf(entity), content, tags: [entityType], links: links.get(name) ?? [] } };
  });
  return { atoms, strayRelations };
}

/** What an entity is called as an atom, by which links lead to it. */
function idOf({ line }: ParsedLine): string {
  return `entity-${line}`;
}

/** None where nothing is said of them. What is no text would become one that says nothing. */
function observationsOf({ where, value: { observations = [] } }: ParsedLine): string[] {
  if (Array.isArray(observations) && observations.every((each) => typeof each === "string")) return observations;
  throw notImported(where, 'has "observations" that are no list of texts');
}

function textOf({ where, value }: ParsedLine, field: string): string {
  const text = value[field];
  if (typeof text === "string") return text;
  throw notImported(where, `lacks "${field}"`);
}
