import { recallAtoms } from "../../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../../memory/store/search/atom-search.ts";
import type { QuestionVector } from "../../../../../memory/store/search/candidates/nearest.ts";
import type { Store } from "../../../../../store/database/store.ts";
import { type Corpus, type CorpusName, type Question, readCorpus } from "./corpus.ts";
import { PERFECT_DIMENSIONS, perfectVector } from "./perfect-vectors.ts";
import { storeAged, storePerfectVectors } from "./stored.ts";

const TEAM = "team-a";
const LIBRARY = "lib-diary";
const REACH = { teamId: TEAM, libraryIds: null };

/** By words alone, or with the vectors of a model that understands everything. */
export type Model = "none" | "perfect";

/** What became of a question. */
export type Answered = {
  readonly question: Question;
  /** Whether one of its answers is among the first five. */
  readonly isAmongFive: boolean;
  /** Of a contradiction: whether the newer atom is found, and stands before the older one. */
  readonly isNewerFirst: boolean;
};

/** Stores a half of the corpus; with vectors only where the database has a table for them. */
export async function storeCorpus(store: Store, name: CorpusName, model: Model): Promise<StoredCorpus> {
  const corpus = readCorpus(name);
  const ids = await storeAged(store.db, { libraryId: LIBRARY, teamId: TEAM }, corpus.atoms);
  if (model === "perfect") await storePerfectVectors(store.db, LIBRARY, corpus, ids);
  return { store, corpus, model, names: new Map(corpus.atoms.map(({ id }, n) => [ids[n] ?? "", id])) };
}

export type StoredCorpus = {
  readonly store: Store;
  readonly corpus: Corpus;
  readonly model: Model;
  /** The names that the corpus has for the stored ids. */
  readonly names: ReadonlyMap<string, string>;
};

/** Asks every question of a corpus. */
export async function askAll(
  { store, corpus, model, names }: StoredCorpus,
  ask: "search" | "recall",
): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (const question of corpus.questions) {
    const meaning = model === "none" ? [] : [perfectQuestion(corpus, question)];
    const search = { libraryId: LIBRARY, tags: [], query: question.ask, limit: 10, meaning };
    const atoms =
      ask === "recall"
        ? (await recallAtoms(store.db, REACH, search)).atoms
        : (await searchAtoms(store.db, REACH, search)).items.map(({ atom }) => atom);
    answered.push(
      judge(
        question,
        atoms.map(({ id }) => names.get(id) ?? ""),
      ),
    );
  }
  return answered;
}

function judge(question: Question, found: readonly string[]): Answered {
  const place = found.findIndex((id) => question.answers.includes(id));
  const older = question.kind === "contradiction" ? found.indexOf(question.older) : -1;
  return {
    question,
    isAmongFive: place >= 0 && place < 5,
    isNewerFirst: question.kind === "contradiction" && place >= 0 && (older < 0 || place < older),
  };
}

/** The vector that a perfect model gives a question: what is asked for is the fact that answers it. */
function perfectQuestion({ atoms }: Corpus, { ask, answers }: Question): QuestionVector {
  const answer = atoms.find(({ id }) => id === answers[0]);
  const model = { digest: "", publicId: "", model: "", askedDimensions: null, servedBy: "" };
  return {
    space: { ...model, dimensions: PERFECT_DIMENSIONS, libraries: [{ id: LIBRARY, space: 1 }] },
    vector: perfectVector({ about: answer?.about ?? "", topic: answer?.topic ?? "", own: ask }),
  };
}

/** What share of the questions has its answer among the first five; NaN of none. */
export function shareAmongFive(answered: readonly Answered[]): number {
  return answered.filter(({ isAmongFive }) => isAmongFive).length / answered.length;
}

/** In what share of the contradictions the newer atom comes first; NaN without any. */
export function shareNewerFirst(answered: readonly Answered[]): number {
  const contradictions = answered.filter(({ question }) => question.kind === "contradiction");
  return contradictions.filter(({ isNewerFirst }) => isNewerFirst).length / contradictions.length;
}
