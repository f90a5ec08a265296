/**
 * Statements of other products as atoms. What exceeds the limits of an atom continues in another atom, so no text is
 * lost.
 */
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { ImportItem, Link } from "./import-item.ts";
import { idFor } from "./import-item.ts";

/** Limits of an atom (docs/decisions/memory-api.md), in characters or items. */
const MAX_CONTENT = 65_536;
const MAX_LABEL = 64;
const MAX_SOURCE = 512;
const MAX_TAGS = 32;
const MAX_LINKS = 32;
const MAX_FACTS = 16;
/** Largest size of all facts as JSON, in bytes. */
const MAX_FACT_BYTES = 4_096;
/** Name that no fact may have: a server takes it for an attempt to change the prototype of objects. */
const REFUSED_NAME = "__proto__";
/** Longest text of a relation beside its link, in characters. */
const MAX_RELATION = 1_000;
/** Longest title above a continuation, in characters. */
const MAX_TITLE = 120;
/** Largest depth of nested lists that are flattened. */
const MAX_DEPTH = 99;

/** Relation, with its text, which stays where a link cannot hold all of it. */
export type StatedRelation = Link & { readonly text: string };

/** Content of a file of another product about one thing. */
export type Statement = {
  readonly where: string;
  readonly id: string;
  /** Title, which also heads each continuation. */
  readonly title: string;
  readonly content: string;
  readonly source: string;
  readonly tags: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
  readonly relations: readonly StatedRelation[];
  readonly times: { readonly created?: string; readonly updated?: string; readonly expiresAt?: string };
};

/** Returns the atoms of a statement: one, or, if it exceeds the limits of an atom, several linked as `continues`. */
export function atomsOf(statement: Statement): ImportItem[] {
  const { where, id, title, source, times } = statement;
  const { metadata, rest: restOfFacts } = fittingFacts(statement.facts);
  const { tags, rest: restOfTags } = fittingTags(statement.tags);
  const { links, rest: restOfRelations } = fittingLinks(statement.relations);
  const content = [statement.content, ...restOfTags, ...restOfFacts, ...restOfRelations].map(clean).join("\n").trim();
  const heading = (part: number) => `${clean(cut(title, MAX_TITLE))} (continued, ${part})\n`;
  const pieces = piecesOf(content === "" ? clean(title).trim() || "(empty)" : content);
  const linkSets = inSets(links);
  return Array.from({ length: Math.max(pieces.length, linkSets.length) }, (_, part) => {
    const linked = linkSets[part] ?? [];
    const text = pieces[part] ?? linked.map((relation) => `- ${clean(cut(relation.text, MAX_RELATION))}`).join("\n");
    const before = part === 0 ? [] : [{ rel: "continues", id: partId(id, part - 1) }];
    return {
      where,
      atom: {
        ...{ id: partId(id, part), content: part === 0 ? text : heading(part + 1) + text, tags, metadata, ...times },
        source: clean(source).slice(-MAX_SOURCE).toWellFormed(),
        links: [...before, ...linked.map(({ rel, id: to }) => ({ rel, id: to }))],
      },
    };
  });
}

function partId(id: string, part: number): string {
  return part === 0 ? id : idFor(id, String(part));
}

/** Returns text that the database can store: without NUL, and well-formed Unicode. */
function clean(text: string): string {
  return text.replaceAll("\u0000", "\uFFFD").toWellFormed();
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).toWellFormed();
}

/** Splits a text into pieces that fit an atom with a heading above, at the end of a line if possible. */
function piecesOf(text: string): string[] {
  const most = MAX_CONTENT - 2 * MAX_TITLE;
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const line = rest.lastIndexOf("\n", most - 1) + 1;
    const isPair = /[\uD800-\uDBFF]/.test(rest.charAt(most - 1));
    const at = line > most / 2 ? line : most - (isPair ? 1 : 0);
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...pieces, rest];
}

/** Splits links into sets. Each set after the first leaves space for the link to the atom before. */
function inSets(links: readonly StatedRelation[]): StatedRelation[][] {
  const sets = [links.slice(0, MAX_LINKS)];
  for (let at = MAX_LINKS; at < links.length; at += MAX_LINKS - 1) sets.push(links.slice(at, at + MAX_LINKS - 1));
  return sets;
}

function fittingTags(given: readonly string[]): { tags: string[]; rest: string[] } {
  const all = [...new Set(given.map((tag) => clean(tag).trim()).filter((tag) => tag !== ""))];
  const short = all.filter((tag) => lengthOf(tag) <= MAX_LABEL);
  const tags = short.slice(0, MAX_TAGS);
  const rest = all.filter((tag) => !tags.includes(tag));
  return { tags, rest: rest.length === 0 ? [] : [`tags: ${rest.join(", ")}`] };
}

/**
 * Returns one link for each relation and target. If the relation's name is too long for a link, its text is kept as
 * content.
 */
function fittingLinks(relations: readonly StatedRelation[]): { links: StatedRelation[]; rest: string[] } {
  const links = new Map<string, StatedRelation>();
  const rest: string[] = [];
  for (const relation of relations) {
    const rel = clean(relation.rel).trim();
    const isFit = rel !== "" && lengthOf(rel) <= MAX_LABEL;
    if (!isFit) rest.push(`- ${relation.text}`);
    const fit = { ...relation, rel: isFit ? rel : "relates to" };
    links.set(JSON.stringify([fit.rel, fit.id]), fit);
  }
  return { links: [...links.values()], rest };
}

/** Returns the facts that fit as metadata, which is flat. All others become text. */
function fittingFacts(facts: Readonly<Record<string, unknown>>) {
  const metadata: Record<string, string | number | boolean> = Object.create(null);
  const rest: string[] = [];
  let bytesLeft = MAX_FACT_BYTES - 2;
  for (const [given, said] of Object.entries(facts)) {
    if (said === null || said === undefined || said === "") continue;
    const name = clean(given);
    const value = factOf(said);
    const size = Buffer.byteLength(JSON.stringify({ [name]: value }));
    const isName = name !== "" && name !== REFUSED_NAME && lengthOf(name) <= MAX_LABEL;
    if (!isName || size > bytesLeft || Object.keys(metadata).length >= MAX_FACTS) {
      rest.push(`${name}: ${value}`);
      continue;
    }
    metadata[name] = value;
    bytesLeft -= size;
  }
  return { metadata: { ...metadata }, rest };
}

function factOf(value: unknown): string | number | boolean {
  if (typeof value === "string") return clean(value);
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return value;
  const isList = Array.isArray(value) && value.every((each) => typeof each !== "object");
  return clean(isList ? value.join(", ") : (JSON.stringify(value) ?? String(value)));
}

/** Returns a value as text; undefined for a list, an object and a blank value. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === "object" || value === undefined ? "" : String(value).trim();
  return text === "" ? undefined : text;
}

/** Returns the texts of a value or of a list, at any depth. */
export function textsOf(value: unknown): string[] {
  return [value].flat(MAX_DEPTH).flatMap((each) => textOf(each) ?? []);
}

/** Returns the part of a value that {@link textsOf} leaves out. */
export function noTextsOf(value: unknown): unknown[] | undefined {
  const rest = [value].flat(MAX_DEPTH).filter((each) => typeof each === "object" && each !== null);
  return rest.length === 0 ? undefined : rest;
}

const TIME =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?(?: ?(?:Z|UTC|([+-]\d{2})(?::?(\d{2}))?))?)?$/i;

/**
 * Parses a date or time as people and programs write it, in UTC unless it has an offset. Undefined if it is not a time.
 */
export function timeOf(text: unknown): string | undefined {
  const found = typeof text === "string" ? TIME.exec(text.trim()) : null;
  if (found === null) return undefined;
  const [, day = "", minute = "00:00", second = ":00", fraction = "", ...offset] = found;
  const [hours = "+00", minutes = "00"] = offset;
  const at = new Date(`${day}T${minute}${second}${fraction.slice(0, 4)}${hours}:${minutes}`);
  const isTime = !Number.isNaN(at.getTime()) && at.getUTCFullYear() > 0 && at.getUTCFullYear() < 10_000;
  // A 30th of February would be a day in March.
  return isTime && rfc3339Millis(Date.parse(day)).startsWith(day) ? rfc3339Millis(at.getTime()) : undefined;
}
