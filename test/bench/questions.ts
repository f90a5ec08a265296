import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kysely, KyselyPlugin } from "kysely";
import { openPGlite } from "../../store/database/pglite/pglite.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Database } from "../../store/database/schema.ts";
import type { Store } from "../../store/database/store.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";
import { figure, quantile } from "./table.ts";

/** Of one question: as many rounds as fit into so many milliseconds, at least three. */
const BUDGET_MS = 3_000;
const MAX_ROUNDS = 50;

/** What a store is asked, by one statement or several. */
export type Question = (db: Kysely<Database>) => Promise<unknown>;

/** Milliseconds of a question, and of the longest statement that any of them took. */
export type Cost = { readonly p50: number; readonly max: number; readonly statement: number };

export const COST_HEADS: readonly string[] = [
  "PostgreSQL p50 ms",
  "max",
  "statement",
  "PGlite p50 ms",
  "max",
  "statement",
];

export function cells(cost: Cost | undefined): string[] {
  return cost === undefined ? ["", "", ""] : [cost.p50, cost.max, cost.statement].map((ms) => figure(ms, 1));
}

/** What is due is done once. */
export async function measureOnce(store: Store, question: Question): Promise<Cost> {
  const statements: number[] = [];
  const from = performance.now();
  await question(store.db.withPlugin(timing(statements)));
  const took = performance.now() - from;
  return { p50: took, max: took, statement: Math.max(...statements) };
}

/** What a question costs, after one that warms up. */
export async function measure(store: Store, question: Question): Promise<Cost> {
  await question(store.db);
  const statements: number[] = [];
  const db = store.db.withPlugin(timing(statements));
  const took: number[] = [];
  const begun = performance.now();
  while (took.length < MAX_ROUNDS && (took.length < 3 || performance.now() - begun < BUDGET_MS)) {
    const from = performance.now();
    await question(db);
    took.push(performance.now() - from);
  }
  return { p50: quantile(took, 0.5), max: Math.max(...took), statement: Math.max(...statements) };
}

/** Notes how long each statement takes, from its text to its rows. */
function timing(statements: number[]): KyselyPlugin {
  const begun = new WeakMap<object, number>();
  return {
    transformQuery({ node, queryId }) {
      begun.set(queryId, performance.now());
      return node;
    },
    async transformResult({ result, queryId }) {
      statements.push(performance.now() - (begun.get(queryId) ?? Number.NaN));
      return result;
    },
  };
}

/** Measures on a PostgreSQL of its own. */
export async function onOwnPostgres<T>(measureAll: (store: Store) => Promise<T>): Promise<T> {
  const server = await startOwnPostgres();
  const store = await openPostgres(server.url, { answerTimeoutMs: 0 });
  try {
    return await measureAll(store);
  } finally {
    await store.close();
    await server.stop();
  }
}

/** Measures on the embedded database, in a folder of its own. */
export async function onPGlite<T>(measureAll: (store: Store) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-bench-"));
  const store = await openPGlite(folder);
  try {
    return await measureAll(store);
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}
