import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { ANY_TEAM, type TeamBounds } from "../../../runtime/team-bounds.ts";
import type { Tx } from "../../../store/database/change.ts";
import { fromDigest } from "../../../store/database/digest.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import type { Store } from "../../../store/database/store.ts";
import { retryPauseMs } from "../../../store/libraries/retry-pause.ts";
import { EXTRACTED, type FoundStatement } from "../../rules/extraction.ts";
import { MODEL_JOINS } from "../embedding/embedding-model.ts";
import { insertAtom } from "../writes/atom-writes.ts";
import { useTokens } from "./jobs.ts";

/** Lease on a passage that this process reads: no other process does until the lease ends or its time is over. */
export type ExtractionLease = {
  readonly libraryId: string;
  readonly teamId: string;
  /** Library, or its subject's part of it, that the atoms are saved in. */
  readonly storedIn: string;
  /** Subject whose conversation it is; null for a shared one. */
  readonly subject: string | null;
  readonly claim: string;
  readonly failures: number;
  /** Digest of the library's key. If the gateway or the key is gone, digest and public id are empty and name none. */
  readonly digest: string;
  readonly publicId: string;
  readonly model: string;
  readonly jobId: string;
  readonly passage: string;
  readonly isLast: boolean;
  /** Tries of this passage, in a row, at which the upstream failed while it answered another text. */
  readonly doubts: number;
  /** Statements from the passages before. */
  readonly statements: readonly FoundStatement[];
};

/** Outcome of a lease. */
export type ExtractionResult =
  /** The passage is read; others follow. `statements` are those of all passages so far. */
  | { readonly kind: "read"; readonly statements: readonly FoundStatement[] }
  /** All passages are read: the statements to save, and the number of others that the library has almost so. */
  | { readonly kind: "done"; readonly statements: readonly FoundStatement[]; readonly known: number }
  /** The model's answer is unusable, too long or too late, or the model rejects this passage. */
  | { readonly kind: "useless"; readonly why: string; readonly tokens: number }
  /** The upstream fails at this passage while it answers another text. */
  | {
      readonly kind: "stuck";
      readonly why: string;
      readonly tokens: number;
      readonly retryAfterMs: number | undefined;
    }
  /** No model can be asked at present. */
  | {
      readonly kind: "failed";
      readonly why: string;
      readonly tokens: number;
      readonly retryAfterMs: number | undefined;
    };

/** Length of the lease: longer than its work takes. */
const CLAIM = "200 seconds";
/** Unusable answers after which a job has failed. */
const MAX_TRIES = 2;
/**
 * Pauses, in milliseconds, before the retries of a job at which the upstream fails while it answers another text; after
 * them the job has failed. Together they outlast an upstream that is overloaded for some minutes.
 */
const STUCK_PAUSES_MS = [10_000, 60_000, 300_000];
/** Condition of a job that is neither over nor put off. */
const IS_DUE = sql`ended_at is null and due_at <= clock_timestamp()`;

/**
 * Claims a library that has a conversation to read: in the next team, the library that has waited longest. Its subjects
 * take turns, and a subject's conversations whose last try failed go last.
 *
 * @param claim a new UUID
 * @param lastPart returns the part of a library (the library itself, or a subject's part) that was served last
 */
export async function claimExtraction(
  { db }: Store,
  claim: string,
  { except, after }: TeamBounds = ANY_TEAM,
  lastPart: (libraryId: string) => string | undefined = () => undefined,
): Promise<ExtractionLease | undefined> {
  const claimed = await sql<{ id: string }>`${preparedStatement}
    update library_extractions set claim = ${claim}::uuid, due_at = clock_timestamp() + ${CLAIM}::interval
    where library_id = (
      select e.library_id from library_extractions e join libraries l on l.id = e.library_id
      where e.due_at <= clock_timestamp() and l.state = 'active'
        and exists (select from extraction_jobs where library_id = e.library_id and ${IS_DUE})
        and l.team_id <> all(${[...except]}::text[])
      order by l.team_id <= ${after}, l.team_id, e.due_at limit 1 for update of e skip locked)
    returning library_id as id`.execute(db);
  const [library] = claimed.rows;
  if (library === undefined) return undefined;
  const last = lastPart(library.id) ?? "";
  const { rows } = await sql<Omit<ExtractionLease, "digest"> & { digest: Uint8Array | null }>`
    with claimed as (
      select * from library_extractions where library_id = ${library.id} and claim = ${claim}::uuid
    ), running as (
      update extraction_jobs set state = 'running' where id = (
        select id from extraction_jobs where library_id = (select library_id from claimed) and ${IS_DUE}
        order by stored_in <= ${last}, stored_in, failure is not null, created_at, id limit 1)
      returning *
    )
    select e.library_id as "libraryId", l.team_id as "teamId", j.stored_in as "storedIn",
      (select subject from libraries where id = j.stored_in) as subject, e.claim::text as claim, e.failures, v.digest,
      coalesce(g.public_id, '') as "publicId", e.model, j.id::text as "jobId", j.passages[j.done + 1] as passage,
      j.done + 1 >= j.calls as "isLast", j.statements, j.failures as doubts
    from claimed e join running j on j.library_id = e.library_id join libraries l on l.id = e.library_id
    ${MODEL_JOINS}`.execute(db);
  const [row] = rows;
  return row && { ...row, digest: row.digest === null ? "" : fromDigest(row.digest) };
}

/**
 * Records the outcome of a lease, and ends it. Writes nothing if the claim is gone, since another process has taken the
 * lease or the library takes no statements any more: so the statements of a conversation are saved once, whole or not at
 * all.
 */
export async function settleExtraction({ db }: Store, lease: ExtractionLease, result: ExtractionResult): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { libraryId, jobId } = lease;
    const { rows } = await sql`select from library_extractions where library_id = ${libraryId}
      and claim = ${lease.claim}::uuid for update`.execute(tx);
    if (rows.length === 0) return;
    const job =
      await sql`select from extraction_jobs where id = ${jobId}::uuid and ended_at is null for update`.execute(tx);
    if (job.rows.length > 0) await settleJob(tx, lease, result);
    const failed = result.kind === "failed" ? result : undefined;
    const isPausing = failed !== undefined || result.kind === "stuck";
    const pauseMs = isPausing ? retryPauseMs(failed === undefined ? 0 : lease.failures, failed?.retryAfterMs) : 0;
    await sql`update library_extractions set claim = null,
        failures = ${failed === undefined ? 0 : lease.failures + 1}::integer,
        due_at = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond'
      where library_id = ${libraryId}`.execute(tx);
  });
}

/** Columns of a job that has failed: the text of the conversation is not kept. */
const FAILED = sql`state = 'failed', passages = '{}', statements = '[]', ended_at = clock_timestamp()`;

async function settleJob(tx: Tx, lease: ExtractionLease, result: ExtractionResult): Promise<void> {
  const { jobId, libraryId } = lease;
  const id = sql`${jobId}::uuid`;
  if ("tokens" in result) await useTokens(tx, libraryId, result.tokens);
  switch (result.kind) {
    case "read":
      await sql`update extraction_jobs set done = done + 1, tries = 0, failures = 0, failure = null,
        statements = ${JSON.stringify(result.statements)}::jsonb where id = ${id}`.execute(tx);
      return;
    case "done": {
      const atomIds = await saveStatements(tx, lease, result.statements);
      await sql`update extraction_jobs set state = 'done', done = calls, failure = null, passages = '{}',
          statements = '[]', known = ${result.known}::integer, found = ${result.known + atomIds.length}::integer,
          atom_ids = ${atomIds}::text[]::uuid[], ended_at = clock_timestamp()
        where id = ${id}`.execute(tx);
      return;
    }
    case "useless":
      await sql`update extraction_jobs set tries = tries + 1, failure = ${result.why} where id = ${id}`.execute(tx);
      await sql`update extraction_jobs set ${FAILED} where id = ${id} and tries >= ${MAX_TRIES}`.execute(tx);
      return;
    case "stuck": {
      const pauseMs = STUCK_PAUSES_MS[lease.doubts];
      const later = Math.max(pauseMs ?? 0, result.retryAfterMs ?? 0);
      const next =
        pauseMs === undefined
          ? FAILED
          : sql`state = 'queued', due_at = clock_timestamp() + ${later}::float8 * interval '1 millisecond'`;
      await sql`update extraction_jobs set ${next}, failures = failures + 1, failure = ${result.why}
        where id = ${id}`.execute(tx);
      return;
    }
    case "failed":
      await sql`update extraction_jobs set failure = ${result.why} where id = ${id}`.execute(tx);
  }
}

/** Returns the reach of a lease: the atoms that its statements are compared with, and the library they are saved in. */
export function reachOfLease({ teamId, libraryId, subject }: ExtractionLease): Reach {
  return { teamId, libraryIds: [libraryId], ...(subject !== null && { subject }) };
}

/**
 * Saves the statements as new atoms. A model adds statements, and nothing else: it sets neither what they replace nor
 * when they are true.
 */
async function saveStatements(
  tx: Tx,
  lease: ExtractionLease,
  statements: readonly FoundStatement[],
): Promise<string[]> {
  const reach = reachOfLease(lease);
  const { rows } = await sql<{ now: number }>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as now`.execute(tx);
  const at = Math.floor(rows[0]?.now ?? 0);
  const ids: string[] = [];
  for (const { content, tags, importance } of statements) {
    const atom = await insertAtom(tx, reach, {
      ...{ libraryId: lease.storedIn, at, content, tags, importance, source: EXTRACTED },
      ...{ metadata: {}, links: [], expiresAt: null, validFrom: null, validTo: null },
    });
    if (atom !== undefined) ids.push(atom.id);
  }
  return ids;
}
