import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import { DatabaseUnavailableError, StaleLeaderError, sqlState } from "./errors.ts";
import type { Database } from "./schema.ts";
import type { Store } from "./store.ts";

/** What a question needs: the database itself, or a transaction. */
export type Db = Kysely<Database>;
/** What a change needs: the transaction that {@link change} opened. */
export type Tx = Transaction<Database>;

/**
 * A leader's right to write for a scope: held until another takes it, or one that overlaps with it, or the database is
 * replaced by a copy of what it was, in which the same leadership may be over already (threats c59).
 */
export type Fence = {
  /** A cluster, or `CLUSTER/a,b` for some of its namespaces. */
  readonly scope: string;
  /** Counts the leaderships of the scope, for people. */
  readonly epoch: number;
  /** Of this leadership in this database alone. */
  readonly term: string;
};

/** Deadlock and serialisation failure: nothing was written, and the same again may go through. */
const CONTENTION = new Set(["40P01", "40001"]);
const ATTEMPTS = 5;
/** Shared by writers, and held alone by one that repeats after a deadlock, so that it meets no second one. */
const WRITERS_LOCK = 53_975_264;

/**
 * Runs a transaction whose changes reach the feed. Checks the fence first. The feed's triggers fire within the COMMIT,
 * so that no writer holds the feed's lock, which all writers want, while a message is under way to the database.
 *
 * @param fence null for a writer that is no leader: the management API
 * @param body writes through `tx` alone; runs again, from its beginning and with no other writer, after a deadlock
 * @returns the body's result, and the seq at which a replica has seen all of it: the head, where it changed nothing
 * @throws StaleLeaderError when another leader has taken over
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
 * As {@link change}, for a caller that has to answer with the result even if the database is gone after the COMMIT.
 *
 * @returns the body's result, and the question for the seq, which throws DatabaseUnavailableError
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

/** The answer to the question for a seq; null where the database does not give it: the change stands all the same. */
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

/** A restored database has another number, though its rows are those of before. */
export const DATABASE_NUMBER = sql<number>`database_number()`;

/** Whether a row of `leaders` is of a scope that has a namespace in common with this one. */
function overlapsWith(scope: string): RawBuilder<boolean> {
  const [cluster = "", namespaces = null] = scope.split("/", 2);
  return sql`split_part(cluster, '/', 1) = ${cluster} and (cluster = ${cluster} or ${namespaces}::text is null
    or string_to_array(split_part(cluster, '/', 2), ',') && string_to_array(${namespaces}::text, ','))`;
}

/** What a fence of a scope is compared with, as `[epoch, term]`; null where none has led it. */
function leadershipOf(scope: string): RawBuilder<[epoch: string, term: string] | null> {
  return sql`(select array[epoch::text, ${DATABASE_NUMBER} || '/' || term] from leaders where cluster = ${scope} for share)`;
}

/**
 * Takes the leadership of a scope. From here on every write is refused that has an earlier fence of it, or of a scope
 * that overlaps with it.
 *
 * @param scope a cluster, or `CLUSTER/a,b` for some of its namespaces
 */
export async function takeLeadership(store: Store, scope: string): Promise<Fence> {
  return store.db.transaction().execute(async (tx) => {
    // Of those that take scopes which overlap, one after the other, while leaders write.
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

/** The scopes in which a controller has ever led. */
export async function leaderScopes(db: Db): Promise<string[]> {
  const rows = await db.selectFrom("leaders").select("cluster").orderBy("cluster").execute();
  return rows.map(({ cluster }) => cluster);
}

/**
 * Joins the writers and checks the fence, in one statement. The share lock makes a successor wait for writes under way,
 * so that none of them commits after it has taken over.
 *
 * @returns the transaction's name in the feed
 */
async function beginFenced(store: Store, tx: Tx, fence: Fence | null, alone: boolean): Promise<string> {
  const lock = alone ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`;
  const joined = sql`${lock}(${WRITERS_LOCK}),`;
  const leadership = fence === null ? sql`null::text[]` : leadershipOf(fence.scope);
  const { rows } = await sql<{ name: string; held: [epoch: string, term: string] | null }>`
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

/** Asked after the COMMIT, which has made the changes. */
async function seqOf(store: Store, transaction: string): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    select coalesce((select max(seq) from changes where tx = ${transaction}::uuid), head) as seq from feed`.execute(
    store.db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the table feed has no row: restore it, or the database, from a backup");
  return row.seq;
}
