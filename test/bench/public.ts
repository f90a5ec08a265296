import { passagesOf } from "../../domain/passages.ts";
import { recallAtoms } from "../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../memory/store/search/atom-search.ts";
import type { QuestionVector } from "../../memory/store/search/candidates/nearest.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import type { Store } from "../../store/database/store.ts";
import { addTeamsWithLibraries } from "../memory/libraries.ts";
import { storeAged, storeVectors } from "../memory/store/search/recall/stored.ts";
import { bm25 } from "./public/bm25.ts";
import { type Collection, readCollections } from "./public/collections.ts";
import { type Embed, embeddingEndpoint } from "./public/embedding-endpoint.ts";
import { MEASURES, type Measures, measuresOf } from "./public/measures.ts";
import { onPGlite } from "./questions.ts";
import { figure, median, table } from "./table.ts";

const LIBRARY = "lib-diary";
const TEAM = "team-a";
const REACH = { teamId: TEAM, libraryIds: null };
/** Number of answers that are asked for. */
const LIMIT = 20;
const DAY_MS = 86_400_000;
const SPACE = {
  ...{ digest: "", publicId: "", model: "", askedDimensions: null, servedBy: "" },
  libraries: [{ id: LIBRARY, space: 1 }],
};

/** Ranking of one question by one way to ask, and how long it took. */
type Asked = { readonly way: string; readonly category: string; readonly measures: Measures; readonly ms: number };

/**
 * Asks the questions of public collections of the memory and of BM25, each collection in a library of its own: how much
 * of the evidence is found, and how high it stands. `LOCOMO_FILE`, `CRANFIELD_DIR` and `SCIFACT_DIR` name the files,
 * `KEYPLANE_BENCH_CONVERSATIONS` those of LoCoMo's conversations that are asked, and `EMBEDDINGS_URL` an endpoint by
 * whose vectors they are asked once more.
 */
export async function benchPublic(): Promise<string> {
  const { given, missing } = readCollections(process.env);
  const embed = embeddingEndpoint(process.env);
  const only = process.env.KEYPLANE_BENCH_CONVERSATIONS?.split(",");
  const rows: string[][] = [];
  for (const [name, collections] of given) {
    const asked: Asked[] = [];
    for (const collection of collections) {
      if (name === "LoCoMo" && only?.includes(collection.name) === false) continue;
      asked.push(...(await onPGlite((store) => ask(store, collection, embed))));
    }
    rows.push(...rowsOf(name, asked));
  }
  const heads = ["", "questions", "R@5", "R@10", "R@20", "any@10", "MRR", "nDCG@10", "ms p50"];
  return [...(rows.length > 0 ? [table(heads, rows)] : []), ...missing].join("\n");
}

async function ask(store: Store, { documents, questions }: Collection, embed: Embed | undefined): Promise<Asked[]> {
  await migrate(store);
  await addTeamsWithLibraries(store);
  const latest = Math.max(...documents.map(({ writtenMs }) => writtenMs ?? 0));
  const atoms = documents.map(({ text, source, writtenMs }) => ({
    ...{ content: text, source, importance: 5, ageDays: writtenMs === null ? 1 : 1 + (latest - writtenMs) / DAY_MS },
  }));
  const ids = await storeAged(store.db, { libraryId: LIBRARY, teamId: TEAM }, atoms);
  await migrate(store);
  const documentOf = new Map(ids.map((id, at) => [id, documents[at]?.id ?? ""]));
  const yardstick = await bm25(
    store.db,
    documents.map(({ text }) => text),
  );
  type Meaning = readonly QuestionVector[];
  const recall = async (query: string, meaning: Meaning = []) => {
    const { atoms } = await recallAtoms(store.db, REACH, searchFor(query, meaning));
    return atoms.map(({ id }) => documentOf.get(id) ?? "");
  };
  const search = async (query: string, meaning: Meaning = []) => {
    const { items } = await searchAtoms(store.db, REACH, searchFor(query, meaning));
    return items.map(({ atom }) => documentOf.get(atom.id) ?? "");
  };
  const ways: Record<string, (query: string) => Promise<string[]>> = {
    BM25: async (query) => (await yardstick(query)).slice(0, LIMIT).map((at) => documents[at]?.id ?? ""),
    recall: (query) => recall(query),
    search: (query) => search(query),
  };
  if (embed !== undefined) {
    const passages = documents.map(({ text }) => passagesOf(text));
    const embedded = (await embed(passages.flat())).values();
    await storeVectors(
      store.db,
      LIBRARY,
      ids,
      passages.map(({ length }) => embedded.take(length).toArray()),
    );
    const meanings = new Map<string, Meaning>();
    for (const { ask } of questions) {
      const [vector = []] = await embed([ask]);
      meanings.set(ask, [{ space: { ...SPACE, dimensions: vector.length }, vector }]);
    }
    ways["recall with vectors"] = (query) => recall(query, meanings.get(query));
    ways["search with vectors"] = (query) => search(query, meanings.get(query));
  }
  const asked: Asked[] = [];
  for (const { ask, category, evidence } of questions) {
    for (const [way, rank] of Object.entries(ways)) {
      const from = performance.now();
      const ranked = await rank(ask);
      asked.push({ way, category, measures: measuresOf(ranked, evidence), ms: performance.now() - from });
    }
  }
  return asked;
}

function searchFor(query: string, meaning: readonly QuestionVector[]) {
  return { libraryId: LIBRARY, tags: [], query, limit: LIMIT, meaning };
}

function rowsOf(name: string, asked: readonly Asked[]): string[][] {
  const ways = [...Map.groupBy(asked, ({ way }) => way)];
  const all = ways.map(([way, each]) => rowOf(`${name}, ${way}`, each));
  const categories = ways.flatMap(([way, each]) =>
    [...Map.groupBy(each, ({ category }) => category)].map(([category, some]) =>
      rowOf(`${name}, ${way}, ${category}`, some),
    ),
  );
  return categories.length > all.length ? [...all, ...categories] : all;
}

function rowOf(title: string, asked: readonly Asked[]): string[] {
  const mean = (of: (each: Asked) => number) => asked.reduce((sum, each) => sum + of(each), 0) / asked.length;
  const each = MEASURES.map((measure) =>
    figure(
      mean(({ measures }) => measures[measure]),
      3,
    ),
  );
  return [title, figure(asked.length), ...each, figure(median(asked.map(({ ms }) => ms)), 1)];
}
