import { sql } from "kysely";
import type { Db } from "../../../../../store/database/change.ts";
import { CHINESE } from "./chinese.ts";
import type { Entry, Kind } from "./corpus.ts";
import { distractors } from "./distractors.ts";
import { ENGLISH } from "./english.ts";
import { GERMAN } from "./german.ts";
import { JAPANESE } from "./japanese.ts";
import { RUSSIAN } from "./russian.ts";

const LANGUAGES: Readonly<Record<string, readonly Entry[]>> = {
  english: ENGLISH,
  german: GERMAN,
  russian: RUSSIAN,
  chinese: CHINESE,
  japanese: JAPANESE,
};

const DISTRACTORS = 2_000;
/** One question of three is asked by the test alone: nothing was chosen so that it is answered. */
const HELD_OUT_OF = 3;

export type CorpusQuestion = {
  readonly language: string;
  readonly kind: Kind;
  readonly question: string;
  readonly answer: string;
  readonly isHeldOut: boolean;
};

/** Every question of the corpus with the text of the atom that answers it. */
export const QUESTIONS: readonly CorpusQuestion[] = Object.entries(LANGUAGES)
  .flatMap(([language, entries]) =>
    entries.flatMap(({ content, ask }) =>
      ask.map(([kind, question]) => ({ language, kind, question, answer: content })),
    ),
  )
  .map((asked, n) => ({ ...asked, isHeldOut: n % HELD_OUT_OF === HELD_OUT_OF - 1 }));

/** Stores the corpus among the distractors, a minute between two of them. */
export async function storeCorpus(db: Db, libraryId: string, teamId: string): Promise<void> {
  const entries = Object.values(LANGUAGES).flat();
  const others = distractors(DISTRACTORS).map((content): Entry => ({ content, ask: [] }));
  const each = Math.floor(others.length / entries.length);
  const mixed = entries.flatMap((entry, n) => [entry, ...others.slice(n * each, (n + 1) * each)]);
  const atoms = [...mixed, ...others.slice(entries.length * each)].map(({ content, source = null, tags = [] }, n) => ({
    content,
    source,
    tags,
    n,
  }));
  await sql`
    insert into atoms (library_id, team_id, content, source, tags, importance, created_at, updated_at)
    select ${libraryId}, ${teamId}, atom ->> 'content', atom ->> 'source',
      array(select jsonb_array_elements_text(atom -> 'tags')), 5, at, at
    from jsonb_array_elements(${JSON.stringify(atoms)}::jsonb) atom,
      lateral (select now() - (atom ->> 'n')::integer * interval '1 minute' as at) made`.execute(db);
}

/** What share of the questions the first ten answers hold the answer of. */
export function recallAtTen(
  asked: readonly CorpusQuestion[],
  found: ReadonlyMap<CorpusQuestion, readonly string[]>,
): number {
  const answered = asked.filter((each) => found.get(each)?.slice(0, 10).includes(each.answer));
  return answered.length / asked.length;
}

/** The questions by what `by` says of them. */
export function grouped(
  asked: readonly CorpusQuestion[],
  by: (each: CorpusQuestion) => string,
): [string, CorpusQuestion[]][] {
  return [...Map.groupBy(asked, by)];
}
