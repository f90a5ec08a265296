import { sql } from "kysely";
import { migrate } from "../../store/database/migrate/migrate.ts";
import type { Store } from "../../store/database/store.ts";
import { addTeamsWithLibraries } from "../memory/libraries.ts";
import { dropPartsIndex } from "../memory/store/filled-library.ts";
import { distractors } from "../memory/store/search/corpus/distractors.ts";
import { CORPUS_NAMES, type CorpusName, KINDS } from "../memory/store/search/recall/corpus.ts";
import {
  type Answered,
  askAll,
  type Model,
  shareAmongFive,
  shareNewerFirst,
  storeCorpus,
} from "../memory/store/search/recall/measure.ts";
import { storeAged } from "../memory/store/search/recall/stored.ts";
import { onPGlite } from "./questions.ts";
import { figure, table } from "./table.ts";

/** Atoms that answer nothing, as old as the others. */
const OTHERS = Number(process.env.KEYPLANE_BENCH_ATOMS ?? 100_000);
const MODELS: readonly Model[] = ["none", "perfect"];
const ASKS = ["search", "recall"] as const;

/**
 * Asks what an agent would ask of memories, of which the ranking was chosen by the first: what share of the questions
 * has its answer among the first five, and in what share of the contradictions the newer atom comes first.
 */
export async function benchRecall(): Promise<string> {
  const heads = [...Object.keys(KINDS), "all", "newer first"];
  const rows: string[][] = [];
  for (const name of CORPUS_NAMES) {
    for (const others of new Set([0, OTHERS])) {
      for (const model of MODELS) rows.push(...(await onPGlite((store) => measure(store, { name, others, model }))));
    }
  }
  return table(["among the first five", ...heads], rows);
}

async function measure(
  store: Store,
  { name, others, model }: { name: CorpusName; others: number; model: Model },
): Promise<string[][]> {
  await migrate(store);
  await addTeamsWithLibraries(store);
  await fill(store, others);
  const stored = await storeCorpus(store, name, model);
  const rows: string[][] = [];
  for (const ask of ASKS) {
    const title = `${ask}, ${name}, ${model === "none" ? "by words" : "a perfect model"}, among ${figure(others)} others`;
    rows.push([title, ...sharesOf(await askAll(stored, ask))]);
  }
  return rows;
}

async function fill(store: Store, others: number): Promise<void> {
  if (others === 0) return;
  await dropPartsIndex(store.db);
  const atoms = distractors(others).map((content, n) => ({ content, importance: n % 11, ageDays: (n * 7_919) % 400 }));
  await storeAged(store.db, { libraryId: "lib-diary", teamId: "team-a" }, atoms);
  await migrate(store);
  await sql`analyze atoms`.execute(store.db);
}

function sharesOf(answered: readonly Answered[]): string[] {
  const kinds = Object.keys(KINDS).map((kind) => answered.filter(({ question }) => question.kind === kind));
  return [...kinds.map(shareAmongFive), shareAmongFive(answered), shareNewerFirst(answered)].map((share) =>
    figure(share, 2),
  );
}
