import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import {
  CORPUS_NAMES,
  type Contradiction,
  type CorpusAtom,
  type CorpusName,
  KINDS,
  type Kind,
  LANGUAGES,
  type Language,
  type Question,
  readCorpus,
} from "./corpus.ts";

const NAME = { type: "string", pattern: "^[a-z0-9]+(-[a-z0-9]+)*$" };
/** As people write their tags, in any script. */
const TAG = { type: "string", pattern: "^[\\p{Ll}\\p{Lm}\\p{Lo}0-9]+(-[\\p{Ll}\\p{Lm}\\p{Lo}0-9]+)*$" };
const LANGUAGE = { enum: LANGUAGES };
const ATOM = {
  type: "object",
  required: ["id", "about", "topic", "language", "ageDays", "importance", "content"],
  additionalProperties: false,
  properties: {
    id: NAME,
    about: NAME,
    topic: NAME,
    language: LANGUAGE,
    ageDays: { type: "integer", minimum: 1, maximum: 400 },
    importance: { type: "integer", minimum: 0, maximum: 10 },
    tags: { type: "array", minItems: 1, items: TAG },
    content: { type: "string", minLength: 10, maxLength: 12_000 },
  },
};
const QUESTION = {
  type: "object",
  required: ["ask", "kind", "language", "answers"],
  additionalProperties: false,
  properties: {
    ask: { type: "string", minLength: 3, maxLength: 400 },
    kind: { enum: Object.keys(KINDS) },
    language: LANGUAGE,
    answers: { type: "array", minItems: 1, uniqueItems: true, items: NAME },
    older: NAME,
  },
  if: { properties: { kind: { const: "contradiction" } } },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema.
  then: { required: ["older"] },
  else: { not: { required: ["older"] } },
};
const isCorpus = new Ajv().compile({
  type: "object",
  required: ["atoms", "questions"],
  additionalProperties: false,
  properties: { atoms: { type: "array", items: ATOM }, questions: { type: "array", items: QUESTION } },
});

/** The halves that were written so that each kind of question is as hard as its name says. */
const HALVES = ["chosen", "held-out"] as const satisfies readonly CorpusName[];
const LANGUAGES_OF_HALVES = ["en", "de", "zh", "ja", "ru", "fr"] as const satisfies readonly Language[];

/** The least number of questions of each kind in a half. */
const LEAST: Readonly<Record<Kind, number>> = {
  words: 20,
  keywords: 12,
  topic: 12,
  form: 12,
  "old-exact": 10,
  paraphrase: 12,
  across: 12,
  contradiction: 20,
  long: 12,
};

const segmenters = new Map(LANGUAGES.map((it) => [it, new Intl.Segmenter(it, { granularity: "word" })]));

/** The words of a text that carry meaning, roughly: cut where endings begin, without the short ones. */
function stems(text: string, language: Language): Set<string> {
  const least = language === "zh" || language === "ja" ? 2 : 4;
  const segments = [...(segmenters.get(language)?.segment(text.toLowerCase()) ?? [])];
  const words = segments.filter((it) => it.isWordLike && it.segment.length >= least);
  return new Set(words.map((it) => it.segment.slice(0, 5)));
}

/** Which part of a question's words stands in a text, 0 to 1. */
function sharedPart({ ask, language }: Question, text: string): number {
  const asked = stems(ask, language);
  const there = stems(text, language);
  return [...asked].filter((stem) => there.has(stem)).length / Math.max(1, asked.size);
}

const mean = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0) / numbers.length;

describe.each(CORPUS_NAMES)("the corpus %s", (name) => {
  const { atoms, questions } = readCorpus(name);
  const byId = new Map(atoms.map((atom) => [atom.id, atom]));
  const answered = new Set(questions.flatMap(({ answers }) => answers));

  function atomOf(id: string): CorpusAtom {
    const atom = byId.get(id);
    if (atom === undefined) throw new Error(`${name}.yaml has no atom ${id}`);
    return atom;
  }
  const answersTo = (question: Question): CorpusAtom[] => question.answers.map(atomOf);
  const ofKind = (kind: Kind): Question[] => questions.filter((question) => question.kind === kind);
  const contradictions = questions.filter((question): question is Contradiction => question.kind === "contradiction");
  /** The questions of a kind whose shared part with their answers is not as it should be. */
  const wrong = (kind: Kind, isRight: (shared: number) => boolean): string[] =>
    ofKind(kind)
      .filter((question) => !answersTo(question).some(({ content }) => isRight(sharedPart(question, content))))
      .map(({ ask }) => ask);

  it("has the shape that its types say", () => {
    isCorpus({ atoms, questions });
    expect(isCorpus.errors ?? []).toEqual([]);
  });

  it("gives each atom an id and a text of its own", () => {
    expect(byId.size).toBe(atoms.length);
    expect(new Set(atoms.map(({ content }) => content)).size).toBe(atoms.length);
    expect(new Set(questions.map(({ ask }) => ask)).size).toBe(questions.length);
  });

  it("answers every question with an atom that exists, in the question's language unless it is asked across", () => {
    const same = (question: Question) => answersTo(question).some(({ language }) => language === question.language);
    expect(questions.filter((question) => same(question) === (question.kind === "across"))).toEqual([]);
  });

  it("puts two statements of one fact a week to a year apart into a contradiction", () => {
    for (const { ask, answers, older } of contradictions) {
      const [newer, old] = [atomOf(answers[0] ?? ""), atomOf(older)];
      expect.soft(newer.about, ask).toBe(old.about);
      expect.soft(old.ageDays - newer.ageDays, ask).toBeGreaterThanOrEqual(7);
      expect.soft(old.ageDays - newer.ageDays, ask).toBeLessThanOrEqual(366);
    }
  });

  if (!HALVES.some((half) => half === name)) return;

  it("has enough atoms, subjects and questions of each kind", () => {
    expect(atoms.length).toBeGreaterThanOrEqual(320);
    const topics = new Set(atoms.map(({ topic }) => topic)).size;
    expect(topics).toBeGreaterThanOrEqual(25);
    expect(topics).toBeLessThanOrEqual(40);
    const kinds = Object.keys(KINDS) as Kind[];
    expect(kinds.filter((kind) => ofKind(kind).length < LEAST[kind])).toEqual([]);
  });

  it("is half in English, and each other language has its share", () => {
    const share = (language: Language) => atoms.filter((atom) => atom.language === language).length / atoms.length;
    expect(share("en")).toBeGreaterThan(0.4);
    expect(share("en")).toBeLessThan(0.6);
    expect(LANGUAGES_OF_HALVES.filter((language) => share(language) < 0.07)).toEqual([]);
  });

  it("has long texts, and says nothing by an atom's importance", () => {
    expect(atoms.filter(({ content }) => content.length >= 2000).length).toBeGreaterThanOrEqual(12);
    const importances = (isAnswer: boolean) =>
      atoms.filter(({ id }) => answered.has(id) === isAnswer).map(({ importance }) => importance);
    expect(Math.abs(mean(importances(true)) - mean(importances(false)))).toBeLessThan(0.6);
    expect(atoms.filter(({ importance }) => importance === 5).length).toBeGreaterThan(atoms.length / 2);
  });

  it("has contradictions whose older atom shares more words or is more important, and whose newer is longer", () => {
    const pairs = contradictions.map((asked) => ({
      asked,
      newer: atomOf(asked.answers[0] ?? ""),
      old: atomOf(asked.older),
    }));
    const olderShares = pairs.filter(
      (it) => sharedPart(it.asked, it.old.content) > sharedPart(it.asked, it.newer.content),
    );
    expect(olderShares.length).toBeGreaterThanOrEqual(5);
    expect(pairs.filter((it) => it.newer.content.length > it.old.content.length).length).toBeGreaterThanOrEqual(5);
    expect(pairs.filter((it) => it.old.importance > it.newer.importance).length).toBeGreaterThanOrEqual(2);
  });

  it("asks what is a year old beside three new atoms of high importance that share a word", () => {
    for (const question of ofKind("old-exact")) {
      const near = atoms.filter(
        ({ ageDays, importance, content, language }) =>
          ageDays <= 60 && importance >= 8 && language === question.language && sharedPart(question, content) > 0,
      );
      expect.soft(near.length, question.ask).toBeGreaterThanOrEqual(3);
      expect.soft(Math.min(...answersTo(question).map(({ ageDays }) => ageDays)), question.ask).toBeGreaterThan(330);
    }
  });

  it("asks in as many words of the answer as the kind of a question says", () => {
    expect.soft(wrong("words", (shared) => shared >= 0.5)).toEqual([]);
    expect.soft(wrong("keywords", (shared) => shared >= 0.5)).toEqual([]);
    expect.soft(wrong("topic", (shared) => shared >= 0.2 && shared < 0.9)).toEqual([]);
    expect.soft(wrong("old-exact", (shared) => shared >= 0.6)).toEqual([]);
    expect.soft(wrong("paraphrase", (shared) => shared <= 0.25)).toEqual([]);
    expect.soft(wrong("across", (shared) => shared <= 0.25)).toEqual([]);
  });

  it("hides the answer of a long text behind its beginning", () => {
    for (const question of ofKind("long")) {
      for (const { content, language } of answersTo(question)) {
        const least = language === "zh" || language === "ja" ? 2000 : 3000;
        expect.soft(content.length, question.ask).toBeGreaterThanOrEqual(least);
        const atOnce = sharedPart(question, content.slice(0, 400));
        expect.soft(atOnce, question.ask).toBeLessThan(sharedPart(question, content));
      }
    }
  });
});

it("shares no atom, fact or subject between the corpora", () => {
  const taken = CORPUS_NAMES.flatMap((name) => {
    const names = readCorpus(name).atoms.flatMap(({ id, about, topic, content }) => [
      `id ${id}`,
      `about ${about}`,
      `topic ${topic}`,
      content,
    ]);
    return [...new Set(names)];
  });
  expect(taken.filter((it, n) => taken.indexOf(it) !== n)).toEqual([]);
});

it.each([
  { name: "unseen", languages: 9, contradictions: 50 },
  { name: "blind", languages: 10, contradictions: 90 },
] as const)(
  "has $contradictions contradictions in $languages languages in $name, written without a look at the ranking",
  ({ name, languages, contradictions }) => {
    const { atoms, questions } = readCorpus(name);
    expect(new Set(atoms.map(({ language }) => language)).size).toBe(languages);
    expect(questions.filter(({ kind }) => kind === "contradiction").length).toBeGreaterThanOrEqual(contradictions);
  },
);
