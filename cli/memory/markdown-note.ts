/** A note of Obsidian, basic-memory or any other folder of Markdown: its text, and what it says of itself and others. */
import { posix } from "node:path";
import { defined } from "../../domain/defined.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { Page } from "./front-matter.ts";
import { timeOf } from "./statement.ts";

/** A link of a note, as it is written. */
export type WikiLink = {
  readonly rel: string;
  /** The title, the path or the permalink of another note. */
  readonly target: string;
  /** It may be a picture: then it need not lead to a note. */
  readonly isEmbed: boolean;
};

export type Note = {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly title: string;
  /** Beside its title and path. */
  readonly aliases: readonly string[];
  readonly permalink: string | undefined;
  readonly content: string;
  readonly tags: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
  readonly links: readonly WikiLink[];
  readonly times: { readonly created?: string; readonly updated?: string };
};

/** The relation of a link that says none. */
const PLAIN_LINK = "links to";
/** Longer than that it is a sentence, and no relation. */
const MAX_RELATION = 64;

/** @param modifiedAt of the file, in milliseconds since the epoch: what a note that says no time of its own has */
export function readNote({ matter, body }: Page, path: string, modifiedAt: number): Note {
  const { title: named, type, tags, permalink, created, date, updated, modified, ...facts } = matter;
  const title = textOf(named) ?? posix.basename(path, ".md");
  const lines = proseOf(body);
  const first = body.trimStart().split("\n", 1)[0] ?? "";
  const isTitled = first.replace(/^#+/, "").trim() === title;
  const said = { created: created ?? date, updated: updated ?? modified };
  const times = { created: timeOf(said.created), updated: timeOf(said.updated) };
  // What is no time is text.
  const kept = { ...(times.created ? {} : { created, date }), ...(times.updated ? {} : { updated, modified }) };
  return {
    ...{ path, title, permalink: textOf(permalink), aliases: textsOf(matter.aliases ?? matter.alias) },
    content: isTitled ? body.trim() : `${title}\n\n${body.trim()}`.trim(),
    tags: [...(type === "note" ? [] : textsOf(type)), ...tagsOf(tags), ...lines.flatMap(tagsIn)],
    facts: { ...facts, ...kept },
    links: [...Object.entries(facts).flatMap(linksOfFact), ...lines.flatMap(linksIn)],
    times: timesOf(times, rfc3339Millis(Math.max(0, modifiedAt))),
  };
}

function timesOf({ created, updated }: { created: string | undefined; updated: string | undefined }, modified: string) {
  if (created === undefined && updated === undefined) return { created: modified, updated: modified };
  return defined({ created, updated: created && updated && updated < created ? created : updated });
}

function textOf(value: unknown): string | undefined {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
}

function textsOf(value: unknown): string[] {
  return [value].flat().flatMap((each) => textOf(each) ?? []);
}

/** A list, or words with commas or spaces between them, with or without a number sign. */
function tagsOf(value: unknown): string[] {
  const all = Array.isArray(value) ? textsOf(value) : textsOf(value).flatMap((text) => text.split(/[,\s]+/));
  return all.map((tag) => tag.replace(/^#/, ""));
}

/** The lines of a text without code, in which brackets and number signs mean something else. */
function proseOf(body: string): string[] {
  let fence: string | undefined;
  return body.split("\n").flatMap((line) => {
    const mark = /^\s{0,3}(```|~~~)/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || fence === mark)) {
      fence = fence === undefined ? mark : undefined;
      return [];
    }
    return fence === undefined ? [line.replace(/`[^`]*`/g, " ")] : [];
  });
}

/** `#tags`, and the category of an observation, `- [category] text`; a box to tick has one character. */
function tagsIn(line: string): string[] {
  const category = /^\s{0,20}[-*+] \[([^[\]]{2,64})\] /.exec(line)?.[1];
  const tags = Array.from(line.matchAll(/(?<![^\s([])#([\p{L}\p{N}_/-]+)/gu), ([, tag = ""]) => tag);
  return [...(category === undefined ? [] : [category]), ...tags.filter((tag) => /[^\d]/.test(tag))];
}

/** `[[Target]]`, `[[Target#Heading|shown]]`, in a table `[[Target\|shown]]`; and of an item of a list that has nothing else, `- relation [[Target]]`. */
function linksIn(line: string): WikiLink[] {
  const found = [...line.matchAll(/(!?)\[\[([^[\]]+)\]\]/g)];
  return found
    .map(({ 0: whole, 1: mark, 2: named = "", index }) => ({
      rel: found.length === 1 ? relationOf(line.slice(0, index), line.slice(index + whole.length)) : PLAIN_LINK,
      target: named.split(/[#|^\\]/, 1)[0]?.trim() ?? "",
      isEmbed: mark === "!",
    }))
    .filter(({ target }) => target !== "");
}

function relationOf(before: string, behind: string): string {
  const text = before.trim();
  const rest = behind.trim();
  const isItem = /^[-*+] /.test(text) && (rest === "" || (rest.startsWith("(") && rest.endsWith(")")));
  const rel = text.slice(2).trim().replace(/:$/, "").trim();
  return isItem && rel !== "" && !rel.includes("[") && rel.length <= MAX_RELATION ? rel : PLAIN_LINK;
}

/** A property of the front matter that leads to notes: `related: "[[Target]]"`. */
function linksOfFact([name, value]: readonly [string, unknown]): WikiLink[] {
  return textsOf(value)
    .flatMap(linksIn)
    .map((link) => ({ ...link, rel: name }));
}
