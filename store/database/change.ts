import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import { DatabaseUnavailableError, StaleLeaderError, sqlState } from "./errors.ts";
import { preparedStatement } from "./prepared-statement.ts";
import type { Database } from "./schema.ts";
import type { Store } from "./store.ts";

/** Database handle of a query: the database itself, or a transaction. */
export type Db = Kysely<Database>;
/** Database handle of a change: the transaction that {@link change} opened. */
export type Tx = Transaction<Database>;

/**
 * Right of a leader to write for a scope. It ends when another leader takes the scope or an overlapping scope. It also
 * ends when the database is replaced by an earlier copy of itself, in which the same leadership may be over already
 * (threats c59).
 */
export type Fence = {
  /** Cluster, or `CLUSTER/a,b` for some of its namespaces. */
  readonly scope: string;
  /** Number of leaderships of the scope so far, for people. */
  readonly epoch: number;
  /** Identifies this leadership in this database alone. */
  readonly term: string;
};

/** SQLSTATEs of a deadlock and a serialisation failure: nothing was written, and a retry may succeed. */
const CONTENTION = new Set(["40P01", "40001"]);
const ATTEMPTS = 5;
/**
 * Advisory lock that writers share. A writer that repeats after a deadlock holds it alone, and so meets no second one.
 */
const WRITERS_LOCK = 53_975_264;

/**
 * Runs a transaction whose changes reach the feed. Checks the fence first. The feed's triggers fire within the COMMIT,
 * so that no writer holds the feed's lock, which all writers want, while a message is on its way to the database.
 *
 * @param fence null for a writer that is not a leader: the management API
 * @param body writes through `tx` alone; after a deadlock it runs again, from its beginning and with no other writer
 * @returns the body's result, and the seq at which a replica has seen all of it: the head, if it changed nothing
 * @throws StaleLeaderError if another leader has taken over
 */
export async function change<T>(
  store: Store,
  fence: Fence | null,
  body: (tx: Tx) => Promise<T>,
): Promise<{ result: T; seq: number }> {
  const { result, askSeq } = await commitChange(store, fence, body);
  return { result, seq: await askSeq() };
}

/**
 * Commits a change as {@link change} does, for a caller that must answer with the result even if the database is gone
 * after the COMMIT.
 *
 * @returns the body's result, and `askSeq`, which asks for the seq and may throw DatabaseUnavailableError
 */
export async function commitChange<T>(
  store: Store,
  fence: Fence | null,
  body: (tx: Tx) => Promise<T>,
): Promise<{ result: T; askSeq: () => Promise<number> }> {
  const { name, result } = await retryOnContention((attempt) =>
    store.db.transaction().execute(async (tx) => {
      const name = await beginFenced(store, tx, fence, attempt > 1);
      return { name, result: await body(tx) };
    }),
  );
  return { result, askSeq: () => seqOf(store, name) };
}

/** Asks for a seq; null if the database does not answer. The change is committed all the same. */
export async function seqIfKnown(askSeq: () => Promise<number>): Promise<number | null> {
  try {
    return await askSeq();
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) return null;
    throw error;
  }
}

async function retryOnContention<T>(task: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task(attempt);
    } catch (error) {
      if (attempt === ATTEMPTS || !CONTENTION.has(sqlState(error) ?? "")) throw error;
    }
  }
}

/** SQL condition that a row was made in this database. A restored database is another, with the rows of before. */
export const MADE_HERE = sql<boolean>`(made_in = database_number() and incarnation = incarnation())`;

/** Returns the SQL condition that a row of `leaders` has a namespace in common with a scope. */
function overlapsWith(scope: string): RawBuilder<boolean> {
  const [cluster = "", namespaces = null] = scope.split("/", 2);
  return sql`split_part(cluster, '/', 1) = ${cluster} and (cluster = ${cluster} or ${namespaces}::text is null
    or string_to_array(split_part(cluster, '/', 2), ',') && string_to_array(${namespaces}::text, ','))`;
}

/** Returns SQL for a scope's leadership, to compare a fence with, as `[epoch, term]`; null if it was never led. */
function leadershipOf(scope: string): RawBuilder<[epoch: string, term: string] | null> {
  return sql`(select array[epoch::text, database_number() || '-' || incarnation() || '/' || term]
    from leaders where cluster = ${scope} for share)`;
}

/**
 * Takes the leadership of a scope. From now on every write with an earlier fence of it, or of an overlapping scope, is
 * refused.
 *
 * @param scope a cluster, or `CLUSTER/a,b` for some of its namespaces
 */
export async function takeLeadership(store: Store, scope: string): Promise<Fence> {
  return store.db.transaction().execute(async (tx) => {
    // Takers of overlapping scopes run one after the other, while leaders can still write.
    await sql`lock table leaders in share row exclusive mode`.execute(tx);
    await sql`insert into leaders (cluster, epoch) values (${scope}, 0) on conflict do nothing`.execute(tx);
    await sql`select from leaders where ${overlapsWith(scope)} order by cluster for update`.execute(tx);
    await sql`update leaders set epoch = epoch + 1, term = gen_random_uuid() where ${overlapsWith(scope)}`.execute(tx);
    const { rows } = await sql<{ held: [epoch: string, term: string] | null }>`
      select ${leadershipOf(scope)} as held`.execute(tx);
    const held = rows[0]?.held;
    if (held == null) throw new Error("the database returned no row where there is always one");
    const [epoch, term] = held;
    return { scope, epoch: Number(epoch), term };
  });
}

/** Lists the scopes in which a controller has ever led. */
export async function leaderScopes(db: Db): Promise<string[]> {
  const rows = await db.selectFrom("leaders").select("cluster").orderBy("cluster").execute();
  return rows.map(({ cluster }) => cluster);
}

/**
 * Joins the writers and checks the fence, in one statement. The shared lock makes a successor wait for writes in
 * progress, so that none of them commits after the successor has taken over.
 *
 * @returns the transaction's name in the feed
 */
async function beginFenced(store: Store, tx: Tx, fence: Fence | null, alone: boolean): Promise<string> {
  const lock = alone ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`;
  const joined = sql`${lock}(${WRITERS_LOCK}),`;
  const leadership = fence === null ? sql`null::text[]` : leadershipOf(fence.scope);
  const { rows } = await sql<{ name: string; held: [epoch: string, term: string] | null }>`${preparedStatement}
    select ${store.engine === "postgres" ? joined : sql``} this_transaction()::text as name, ${leadership} as held`.execute(
    tx,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database returned no row where there is always one");
  const { name, held } = row;
  const [epoch, term] = held ?? [];
  if (fence === null || (epoch === String(fence.epoch) && term === fence.term)) return name;
  throw new StaleLeaderError(
    `leader epoch ${fence.epoch} of cluster ${fence.scope} is over, the present one is ${epoch ?? "none"}${whyOver(fence, term)}`,
  );
}

function whyOver(fence: Fence, term: string | undefined): string {
  if (term === undefined) return "";
  const databaseOf = (one: string) => one.split("/", 1)[0];
  if (databaseOf(term) !== databaseOf(fence.term)) return ", of another term: the database was restored";
  return ": another controller leads. Where this comes again and again, two installations serve the same namespaces with one database: keyplane doctor names them";
}

/** Asks for the seq of a transaction after its COMMIT, which has made the changes. */
async function seqOf(store: Store, transaction: string): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    select coalesce((select max(seq) from changes where tx = ${transaction}::uuid), head) as seq from feed`.execute(
    store.db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the table feed has no row: restore it, or the database, from a backup");
  return row.seq;
}
