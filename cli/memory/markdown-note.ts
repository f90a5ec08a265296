/** Note of Obsidian, basic-memory or any other folder of Markdown: its text, properties and links. */
import { posix } from "node:path";
import { defined } from "../../domain/defined.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { Page } from "./front-matter.ts";
import { type FoundLink, findLinks, type NoteLink, takeDefinitions } from "./markdown-links.ts";
import { proseOf } from "./markdown-prose.ts";
import { noTextsOf, textOf, textsOf, timeOf } from "./statement.ts";

/** Link of a note, with its relation. */
export type RelatedLink = NoteLink & { readonly rel: string };

export type Note = {
  /** Path below the folder, with `/`. */
  readonly path: string;
  readonly title: string;
  /** Further names, beside title and path. */
  readonly aliases: readonly string[];
  readonly permalink: string | undefined;
  readonly content: string;
  readonly tags: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
  readonly links: readonly RelatedLink[];
  readonly times: { readonly created?: string; readonly updated?: string };
};

/** Relation of a link that states none. */
const PLAIN_LINK = "links to";
/** Longest relation, in characters. A longer text counts as a sentence. */
const MAX_RELATION = 64;

/**
 * Reads a note.
 *
 * @param modifiedAt time of the file's last change, in milliseconds since the epoch, for a note without times of its
 *   own
 */
export function readNote({ matter, body }: Page, path: string, modifiedAt: number): Note {
  const { title: named, type, tags, permalink, created, date, updated, modified, ...facts } = matter;
  const title = textOf(named) ?? posix.basename(path, ".md");
  const { definitions, blocks } = takeDefinitions(proseOf(body));
  const linked = blocks.map((block) => findLinks(block, definitions));
  const first = body.trimStart().split("\n", 1)[0] ?? "";
  const isTitled = first.replace(/^#+/, "").trim() === title;
  const said = { created: created ?? date, updated: updated ?? modified };
  const times = { created: timeOf(said.created), updated: timeOf(said.updated) };
  // What is no time, or no text, is a fact like any other.
  const kept = {
    ...{
      title: textOf(named) === undefined ? named : undefined,
      permalink: textOf(permalink) === undefined ? permalink : undefined,
    },
    ...{ type: noTextsOf(type), tags: noTextsOf(tags) },
    ...(times.created ? {} : { created, date }),
    ...(times.updated ? {} : { updated, modified }),
  };
  return {
    ...{ path, title, permalink: textOf(permalink), aliases: textsOf(matter.aliases ?? matter.alias) },
    content: isTitled ? body.trim() : `${title}\n\n${body.trim()}`.trim(),
    tags: [
      ...(type === "note" ? [] : textsOf(type)),
      ...tagsOf(tags),
      ...linked.flatMap(({ text }) => text.split("\n").flatMap(tagsIn)),
    ],
    facts: { ...facts, ...kept },
    links: [
      ...Object.entries(facts).flatMap(linksOfFact),
      ...linked.flatMap(({ links }, index) => related(links, blocks[index] ?? "")),
    ],
    times: timesOf(times, rfc3339Millis(Math.max(0, modifiedAt))),
  };
}

function timesOf({ created, updated }: { created: string | undefined; updated: string | undefined }, modified: string) {
  if (created === undefined && updated === undefined) return { created: modified, updated: modified };
  return defined({ created, updated: created && updated && updated < created ? created : updated });
}

/** Returns the tags of a list, or of words separated by commas or spaces, with or without a number sign. */
function tagsOf(value: unknown): string[] {
  const all = Array.isArray(value) ? textsOf(value) : textsOf(value).flatMap((text) => text.split(/[,\s]+/));
  return all.map((tag) => tag.replace(/^#/, ""));
}

/**
 * Returns the `#tags` of a line, and the category of an observation, `- [category] text`. A checkbox, with one
 * character, is not a category.
 */
function tagsIn(line: string): string[] {
  const category = /^\s{0,20}[-*+] \[([^[\]]{2,64})\] /.exec(line)?.[1];
  const tags = Array.from(line.matchAll(/(?<![^\s([])#([\p{L}\p{N}_/-]+)/gu), ([, tag = ""]) => tag);
  return [...(category === undefined ? [] : [category]), ...tags.filter((tag) => /[^\d]/.test(tag))];
}

/**
 * Adds relations to links. A link that is alone in a list item has the text before it as its relation: `- relation
 * [[Target]]`.
 */
function related(links: readonly FoundLink[], block: string): RelatedLink[] {
  return links.map(({ target, isEmbed, at, end }, index) => {
    const before = block.slice(links[index - 1]?.end ?? 0, at).split("\n");
    const behind = block.slice(end, links[index + 1]?.at ?? block.length).split("\n");
    const isAlone = (index === 0 || before.length > 1) && (index === links.length - 1 || behind.length > 1);
    return { target, isEmbed, rel: isAlone ? relationOf(before.at(-1) ?? "", behind[0] ?? "") : PLAIN_LINK };
  });
}

function relationOf(before: string, behind: string): string {
  const text = before.trim();
  const rest = behind.trim();
  const isItem = /^[-*+] /.test(text) && (rest === "" || (rest.startsWith("(") && rest.endsWith(")")));
  const rel = text.slice(2).trim().replace(/:$/, "").trim();
  return isItem && rel !== "" && !rel.includes("[") && rel.length <= MAX_RELATION ? rel : PLAIN_LINK;
}

/** Returns the links in a property of the front matter, such as `related: "[[Target]]"`. */
function linksOfFact([name, value]: readonly [string, unknown]): RelatedLink[] {
  return textsOf(value)
    .flatMap((text) => findLinks(text, new Map()).links)
    .map(({ target, isEmbed }) => ({ rel: name, target, isEmbed }));
}
