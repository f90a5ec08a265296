/** Reads the public collections in the formats in which they are published. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Text of a collection, to be saved as an atom. */
export type Document = {
  readonly id: string;
  readonly text: string;
  /** What it is a part of, as the session of a conversation; null if it stands alone. */
  readonly source: string | null;
  /** Milliseconds since the epoch; null if the collection does not say. */
  readonly writtenMs: number | null;
};

export type Question = {
  readonly ask: string;
  readonly category: string;
  /** Ids of the documents that answer it. */
  readonly evidence: readonly string[];
};

/** Documents that are searched together, as a library. */
export type Collection = {
  readonly name: string;
  readonly documents: readonly Document[];
  readonly questions: readonly Question[];
};

/** Names of the categories of LoCoMo's questions; the fifth, of questions without an answer, is left out. */
const LOCOMO_CATEGORIES: Readonly<Record<number, string>> = {
  1: "multi-hop",
  2: "temporal",
  3: "open-domain",
  4: "single-hop",
};

/** Milliseconds from one turn of a session to the next: the file has the session's beginning alone. */
const TURN_MS = 20_000;

type Turn = { dia_id: string; speaker: string; text: string; blip_caption?: string };
type Conversation = {
  sample_id: string;
  conversation: Record<string, string | Turn[]>;
  qa: { question: string; category: number; evidence: string[] }[];
};

/** Reads LoCoMo's file: a collection for each conversation, a document for each turn. */
export function readLocomo(file: string): Collection[] {
  const samples: Conversation[] = JSON.parse(readFileSync(file, "utf8"));
  return samples.map(({ sample_id, conversation, qa }) => {
    const documents = Object.entries(conversation).flatMap(([name, turns]) => {
      if (!Array.isArray(turns)) return [];
      const writtenMs = parseSessionTime(String(conversation[`${name}_date_time`]));
      return turns.map(({ dia_id, speaker, text, blip_caption }, at) => {
        const photo = blip_caption === undefined ? "" : ` [shares ${blip_caption}]`;
        const spoken = { text: `${speaker}: ${text}${photo}`, writtenMs: writtenMs + at * TURN_MS };
        return { id: dia_id, source: name, ...spoken };
      });
    });
    const ids = new Set(documents.map(({ id }) => id));
    const questions = qa.flatMap(({ question, category, evidence }) => {
      const named = LOCOMO_CATEGORIES[category];
      const known = [...new Set(evidence.flatMap((text) => text.match(/D\d+:\d+/g) ?? []))].filter((id) => ids.has(id));
      return named === undefined || known.length === 0 ? [] : [{ ask: question, category: named, evidence: known }];
    });
    return { name: sample_id, documents, questions };
  });
}

/** Parses the time of a session, such as `1:56 pm on 8 May, 2023`, in milliseconds since the epoch. */
function parseSessionTime(text: string): number {
  const [, hour = "", minute = "", half = "", day = ""] = /^(\d+):(\d+) (am|pm) on (.*)$/.exec(text) ?? [];
  const hours = (Number(hour) % 12) + (half === "pm" ? 12 : 0);
  return Date.parse(`${day} UTC`) + (hours * 60 + Number(minute)) * 60_000;
}

/** Reads a folder with Cranfield's `cran.all.1400`, `cran.qry` and `cranqrel`. */
export function readCranfield(folder: string): Collection[] {
  const read = (name: string) => readFileSync(join(folder, name), "utf8").replaceAll("\r", "");
  const partsOf = (text: string) => text.split(/^\.I /m).slice(1);
  const documents = partsOf(read("cran.all.1400")).map((part) => {
    const id = String(Number.parseInt(part, 10));
    const [, title = ""] = /^\.T\n([\s\S]*?)^\.A/m.exec(part) ?? [];
    const [, body = ""] = /^\.W\n([\s\S]*)/m.exec(part) ?? [];
    return { id, text: inOneLine(`${title} ${body}`), source: null, writtenMs: null };
  });
  const relevant = Map.groupBy(
    read("cranqrel")
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/)),
    ([question]) => question,
  );
  // Judgements name questions by their place in the file, whatever their own number is.
  const questions = partsOf(read("cran.qry")).map((part, at) => {
    const [, ask = ""] = /^\.W\n([\s\S]*)/m.exec(part) ?? [];
    const judged = relevant.get(String(at + 1)) ?? [];
    return { ask: inOneLine(ask), category: "all", evidence: judged.map(([, document = ""]) => document) };
  });
  return [{ name: "Cranfield", documents: documents.filter(({ text }) => text !== ""), questions }];
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** Reads a folder in BEIR's format: `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`. */
export function readBeir(name: string, folder: string): Collection[] {
  const lines = <T>(file: string): T[] =>
    readFileSync(join(folder, file), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const documents = lines<{ _id: string; title: string; text: string }>("corpus.jsonl").map(({ _id, title, text }) => ({
    ...{ id: _id, text: `${title}. ${text}`, source: null, writtenMs: null },
  }));
  const judged = Map.groupBy(
    readFileSync(join(folder, "qrels/test.tsv"), "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split("\t")),
    ([question]) => question,
  );
  const questions = lines<{ _id: string; text: string }>("queries.jsonl").flatMap(({ _id, text }) => {
    const evidence = (judged.get(_id) ?? []).filter(([, , score]) => Number(score) > 0).map(([, id = ""]) => id);
    return evidence.length === 0 ? [] : [{ ask: text, category: "all", evidence }];
  });
  return [{ name, documents, questions }];
}

/** Returns the collections whose files the environment names, and which variables name none. */
export function readCollections(env: NodeJS.ProcessEnv): { given: Map<string, Collection[]>; missing: string[] } {
  const readers: Record<string, [string, (path: string) => Collection[]]> = {
    LOCOMO_FILE: ["LoCoMo", readLocomo],
    CRANFIELD_DIR: ["Cranfield", readCranfield],
    SCIFACT_DIR: ["SciFact", (folder) => readBeir("SciFact", folder)],
  };
  const given = new Map<string, Collection[]>();
  const missing: string[] = [];
  for (const [variable, [name, read]] of Object.entries(readers)) {
    const path = env[variable];
    if (path === undefined || !existsSync(path)) missing.push(`${name} was not measured: ${variable} names none.`);
    else given.set(name, read(path));
  }
  return { given, missing };
}
