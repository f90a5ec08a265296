import { type RawBuilder, type Selectable, type SqlBool, sql } from "kysely";
import { type Db, MADE_HERE, type Tx } from "../database/change.ts";
import { fromDigest, toDigest } from "../database/digest.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import type { Database } from "../database/schema.ts";
import { DATABASE_NOW, databaseTimeIn, toMs } from "../database/times.ts";

/** Person who is signed in: as an issuer knows them, or an operator of the installation by a one-time link. */
export type SignedIn = {
  readonly person: { readonly issuer: string; readonly subject: string; readonly groups: readonly string[] } | null;
  /** Session id of the issuer; null if it does not give one. */
  readonly sid: string | null;
  /** Name for people to read. */
  readonly displayName: string;
};

/** Session that has not ended. */
export type Session = Pick<SignedIn, "person" | "displayName"> & {
  /** Begin by the database's clock, like all times of a session: milliseconds since the epoch. */
  readonly begunAt: number;
  /** Milliseconds since the issuer last confirmed the person. */
  readonly claimsAgeMs: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/**
 * Begins a session.
 *
 * @param digest SHA-256 of the value of its cookie, 32 latin1 characters
 * @param lifetimeMs milliseconds that it lasts, by the database's clock
 */
export async function beginSession(
  tx: Tx,
  digest: string,
  { person, sid, displayName }: SignedIn,
  lifetimeMs: number,
): Promise<void> {
  await sql`insert into sessions (digest, issuer, subject, groups, sid, display_name, expires_at)
    values (${toDigest(digest)}, ${person?.issuer ?? null}, ${person?.subject ?? null},
      ${person?.groups ?? []}::text[], ${sid}, ${displayName}, ${databaseTimeIn(lifetimeMs)})`.execute(tx);
}

type Row = Pick<
  Selectable<Database["sessions"]>,
  "issuer" | "subject" | "groups" | "display_name" | "created_at" | "expires_at"
> & { readonly age: number };

/** Finds the session of a digest; undefined if it has ended, never existed, or came back with a restored backup. */
export async function findSession(db: Db, digest: string): Promise<Session | undefined> {
  const { rows } = await sql<Row>`${preparedStatement}
    select issuer, subject, groups, display_name, created_at, expires_at,
      (extract(epoch from clock_timestamp() - claims_at) * 1000)::float8 as age
    from sessions
    where digest = ${toDigest(digest)} and expires_at > ${DATABASE_NOW} and ${MADE_HERE}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { issuer, subject, groups } = row;
  const person = issuer === null || subject === null ? null : { issuer, subject, groups };
  return {
    ...{ person, displayName: row.display_name, claimsAgeMs: row.age },
    ...{ begunAt: toMs(row.created_at), expiresAt: toMs(row.expires_at) },
  };
}

/**
 * Locks a session until the transaction ends: what ends it waits, and later changes of the session wait behind it. They
 * would pass a shared lock, and so put the end off (threats b441). Returns false if it has ended.
 */
export async function holdSession(tx: Tx, digest: string): Promise<boolean> {
  const { rows } = await sql`select from sessions
    where digest = ${toDigest(digest)} and expires_at > ${DATABASE_NOW} for no key update`.execute(tx);
  return rows.length > 0;
}

/**
 * Updates a session that has not ended with what its issuer says of the same person now. It stays the same session:
 * what has been revoked since its begin stays revoked.
 *
 * @returns false if the person has no such session
 */
export async function renewSession(db: Db, digest: string, { person, sid, displayName }: SignedIn): Promise<boolean> {
  if (person === null) return false;
  const { rows } = await sql`update sessions set groups = ${person.groups}::text[], sid = coalesce(${sid}, sid),
      display_name = ${displayName}, claims_at = clock_timestamp()
    where digest = ${toDigest(digest)} and issuer = ${person.issuer} and subject = ${person.subject}
      and expires_at > ${DATABASE_NOW} and ${MADE_HERE} returning 1`.execute(db);
  return rows.length > 0;
}

/** Counts the unexpired sessions that a restored backup brought from another database: none of them is valid here. */
export async function countRestoredSessions(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom("sessions")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("expires_at", ">", DATABASE_NOW)
    .where(sql<SqlBool>`not ${MADE_HERE}`)
    .executeTakeFirstOrThrow();
  return count;
}

/** Ends one session, from the next request on. Returns false if there is none. */
export async function endSession(db: Db, digest: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("sessions")
    .where("digest", "=", toDigest(digest))
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/**
 * Ends the sessions of a subject, by any issuer.
 *
 * @returns digests of the sessions that had not ended
 */
export async function endSessionsOf(tx: Tx, subject: string): Promise<string[]> {
  return endWhere(tx, sql`subject = ${subject}`);
}

/**
 * Ends the sessions that began with a one-time link, and the links that were not used.
 *
 * @returns digests of the sessions that had not ended
 */
export async function endSessionsByLink(tx: Tx): Promise<string[]> {
  await sql`delete from sign_in_links`.execute(tx);
  return endWhere(tx, sql`subject is null`);
}

async function endWhere(tx: Tx, condition: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await sql<{ digest: Uint8Array; wasOpen: boolean }>`delete from sessions where ${condition}
    returning digest, expires_at > ${DATABASE_NOW} and ${MADE_HERE} as "wasOpen"`.execute(tx);
  return rows.filter(({ wasOpen }) => wasOpen).map(({ digest }) => fromDigest(digest));
}

/** Ends every session and one-time link: in a database put back in time, it is unknown which of them had ended. */
export async function endAllSessions(db: Db): Promise<void> {
  await sql`with links as (delete from sign_in_links) delete from sessions`.execute(db);
}

/** Sessions that an issuer ends: those of a subject, or the session that it knows as `sid`. */
export type EndedByIssuer = { readonly issuer: string; readonly subject?: string; readonly sid?: string };

/** Request of a logout token. Each token is accepted once. */
export type LogoutRequest = EndedByIssuer & {
  /** Id of the logout token. */
  readonly jti: string;
  /** Milliseconds that the id is kept. */
  readonly keptMs: number;
};

/**
 * Ends the sessions that an issuer names, once for each token.
 *
 * @returns number of sessions; undefined if the token was used before
 */
export async function endSessionsOnce(
  tx: Tx,
  { issuer, subject, sid, jti, keptMs }: LogoutRequest,
): Promise<number | undefined> {
  if (subject === undefined && sid === undefined) throw new Error("a logout names a subject, a session or both");
  const taken = await sql`insert into logout_tokens (issuer, jti, expires_at)
    values (${issuer}, ${jti}, ${databaseTimeIn(keptMs)}) on conflict do nothing returning 1`.execute(tx);
  if (taken.rows.length === 0) return undefined;
  let ended = tx.deleteFrom("sessions").where("issuer", "=", issuer);
  if (subject !== undefined) ended = ended.where("subject", "=", subject);
  if (sid !== undefined) {
    // A session of the subject without a known sid may be the session that is meant.
    ended = ended.where(sql<SqlBool>`(sid = ${sid} or (${subject !== undefined} and sid is null))`);
  }
  const { numDeletedRows } = await ended.executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
