import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Db, Tx } from "../../../store/database/change.ts";
import { toDigest } from "../../../store/database/digest.ts";
import { findPart, isReachable, openLibrary, shownLibrary } from "../../../store/libraries/reachable-libraries.ts";
import { isAtomId } from "../rows/atoms.ts";

export type JobState = "queued" | "running" | "done" | "failed";

/** Conversation that is handed over. */
export type Conversation = {
  readonly libraryId: string;
  /** Digest of the passages: 32 latin1 characters. */
  readonly digest: string;
  /** Texts of the conversation, one for each call of the model. */
  readonly passages: readonly string[];
  /** Tokens that the calls take at most. */
  readonly tokens: number;
};

/** Result of handing over a conversation. */
export type HandedOver =
  | { readonly kind: "job"; readonly id: string; readonly state: JobState; readonly libraryId: string }
  /** The library declares no extraction. */
  | { readonly kind: "undeclared" }
  /** The library's key was revoked. */
  | { readonly kind: "revoked" }
  /** {@link MAX_OPEN} conversations wait already. */
  | { readonly kind: "full" }
  /** The conversation takes more tokens than the library has on any day. */
  | { readonly kind: "large"; readonly tokens: number; readonly tokensPerDay: number }
  /** The conversation takes more tokens than the library has left today. */
  | { readonly kind: "spent"; readonly resetsInMs: number };

/** Number of a library's conversations that may wait or be read at one time. */
export const MAX_OPEN = 100;

/**
 * Puts a conversation into the queue of a library, once: the same conversation for the same subject is the same job,
 * and a failed job is tried anew.
 *
 * @returns undefined if the library is not in the reach
 */
export async function handOver(tx: Tx, reach: Reach, conversation: Conversation): Promise<HandedOver | undefined> {
  const { libraryId, digest, passages, tokens } = conversation;
  const present = await sql`select from libraries l where l.id = ${libraryId} and ${isReachable(reach)}`.execute(tx);
  if (present.rows.length === 0) return undefined;
  // Locked: of two at once the second sees what the first has used, and its job.
  const { rows } = await sql<{ isRevoked: boolean; tokensPerDay: number; used: number; resetsInMs: number }>`
    select (select state = 'revoked' from keys where id = key_id) as "isRevoked", tokens_per_day::float8 as "tokensPerDay",
      (case when used_on = ${TODAY} then used_tokens else 0 end)::float8 as used,
      extract(epoch from (${TODAY} + 1)::timestamp at time zone 'UTC' - clock_timestamp())::float8 * 1000 as "resetsInMs"
    from library_extractions where library_id = ${libraryId} for update`.execute(tx);
  const [extraction] = rows;
  if (extraction === undefined) return { kind: "undeclared" };
  if (extraction.isRevoked) return { kind: "revoked" };
  const saved = reach.subject === undefined ? libraryId : await findPart(tx, libraryId, reach.subject);
  const known = await sql<{ id: string; state: JobState }>`select id::text, state from extraction_jobs
    where stored_in = ${saved ?? null} and digest = ${toDigest(digest)}::bytea`.execute(tx);
  const [before] = known.rows;
  if (before !== undefined && before.state !== "failed") return { kind: "job", ...before, libraryId };
  const { tokensPerDay, used, resetsInMs } = extraction;
  if (tokens > tokensPerDay) return { kind: "large", tokens, tokensPerDay };
  const open = await sql<{ count: number }>`select count(*)::integer as count from (select from extraction_jobs
    where library_id = ${libraryId} and ended_at is null limit ${MAX_OPEN}) j`.execute(tx);
  if ((open.rows[0]?.count ?? 0) >= MAX_OPEN) return { kind: "full" };
  if (used + tokens > tokensPerDay) return { kind: "spent", resetsInMs };
  // What is refused leaves no part of the library behind.
  const storedIn = await openLibrary(tx, reach, libraryId);
  if (storedIn === undefined) return undefined;
  await useTokens(tx, libraryId, tokens);
  const made = await sql<{ id: string; state: JobState }>`
    insert into extraction_jobs (library_id, stored_in, digest, passages, calls)
    values (${libraryId}, ${storedIn}, ${toDigest(digest)}::bytea, ${[...passages]}::text[], ${passages.length}::integer)
    on conflict (stored_in, digest) do update set state = 'queued', passages = excluded.passages, done = 0, tries = 0,
      failures = 0, due_at = excluded.due_at,
      found = 0, known = 0, failure = null, created_at = excluded.created_at, ended_at = null
    returning id::text, state`.execute(tx);
  const [job] = made.rows;
  return job && { kind: "job", ...job, libraryId };
}

/** The present day by UTC, as a `date`. */
const TODAY = sql`(clock_timestamp() at time zone 'UTC')::date`;

/** Adds tokens to the count of a library's present day. */
export async function useTokens(tx: Tx, libraryId: string, tokens: number): Promise<void> {
  await sql`update library_extractions set used_on = ${TODAY},
      used_tokens = ${tokens}::bigint + case when used_on = ${TODAY} then used_tokens else 0 end
    where library_id = ${libraryId}`.execute(tx);
}

/** State of a conversation's job. Times are milliseconds since the epoch. */
export type ExtractionJob = {
  readonly id: string;
  readonly state: JobState;
  readonly library: { readonly id: string; readonly namespace: string; readonly name: string };
  readonly calls: number;
  readonly done: number;
  /** Statements that the model found, the number of them that the library had already, and the atoms of the others. */
  readonly found: number;
  readonly known: number;
  readonly atomIds: readonly string[];
  /** Reason for the failure of the last try, or of the job. */
  readonly failure: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
};

/** @returns undefined if there is no such job, or it is not of a library of the reach */
export async function findJob(db: Db, reach: Reach, id: string): Promise<ExtractionJob | undefined> {
  if (!isAtomId(id)) return undefined;
  const { rows } = await sql<
    Omit<ExtractionJob, "library"> & {
      readonly library_id: string;
      readonly namespace: string;
      readonly name: string;
    }
  >`
    select j.id::text, j.state, ${shownLibrary(reach)}, j.calls, j.done, j.found, j.known, j.atom_ids::text[] as "atomIds",
      j.failure, extract(epoch from j.created_at)::float8 * 1000 as "createdAt",
      extract(epoch from j.ended_at)::float8 * 1000 as "endedAt"
    from extraction_jobs j join libraries l on l.id = j.stored_in
    where j.id = ${id}::uuid and ${isReachable(reach)}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { library_id: libraryId, namespace, name, ...job } = row;
  return { ...job, library: { id: libraryId, namespace, name } };
}
