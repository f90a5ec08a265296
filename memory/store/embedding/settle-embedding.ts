import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../../../store/database/change.ts";
import type { Store } from "../../../store/database/store.ts";
import { beginSpace } from "../../../store/libraries/library-embedding.ts";
import { retryPauseMs } from "../../../store/libraries/retry-pause.ts";
import type { EmbeddingLease, WaitingAtom } from "./embedding-leases.ts";

/** Earlier refusals after which an atom that is refused alone is set aside. */
const MAX_TRIES = 2;
/**
 * Pauses, in milliseconds, before the retries of an atom at which the upstream fails while it embeds another text;
 * after them the atom is set aside. Together they outlast an upstream that is overloaded for some minutes.
 */
const FIRST_PAUSES_MS = [10_000, 60_000, 300_000];
/** Milliseconds before an atom that was set aside is first tried again, longer than most outages; doubled each time. */
const ASIDE_PAUSE_MS = 600_000;
/** Upper limit of that pause, six tries a day: an atom that the upstream never embeds costs it little. */
const MAX_ASIDE_PAUSE_MS = 14_400_000;

export type EmbeddedAtom = WaitingAtom & {
  /** Vectors of the atom's passages, in their order, all of one length. */
  readonly vectors: readonly (readonly number[])[];
};

/** Outcome of a lease's request to the upstream. */
export type EmbeddingResult =
  | { readonly kind: "nothing" }
  | {
      readonly kind: "embedded";
      readonly atoms: readonly EmbeddedAtom[];
      readonly servedBy: string;
    }
  /**
   * The upstream rejects these texts, which is for good, or fails at them: each is tried alone, and set aside if it is
   * refused again.
   */
  | {
      readonly kind: "refused";
      readonly atoms: readonly WaitingAtom[];
      readonly why: string;
      readonly isForGood: boolean;
      readonly retryAfterMs: number | undefined;
    }
  /** Failure of all embedding: no text can be embedded at present. */
  | { readonly kind: "failed"; readonly why: string; readonly retryAfterMs: number | undefined };

/**
 * Records the outcome of a lease, and ends it. Writes nothing if the claim is gone: another process has taken the lease,
 * or the library is embedded by another model or no longer at all.
 */
export async function settleEmbedding({ db }: Store, lease: EmbeddingLease, result: EmbeddingResult): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql`select from library_embeddings where library_id = ${lease.libraryId}
      and claim = ${lease.claim}::uuid for update`.execute(tx);
    if (rows.length === 0) return;
    if (result.kind === "failed") {
      const pauseMs = retryPauseMs(lease.failures, result.retryAfterMs);
      return release(tx, lease, { pauseMs, failure: result.why });
    }
    if (result.kind === "embedded" && lease.servedBy !== null && lease.servedBy !== result.servedBy) {
      return beginSpace(tx, lease.libraryId);
    }
    if (result.kind === "embedded") await saveVectors(tx, lease, result);
    if (result.kind === "refused") await putOff(tx, result);
    // An upstream that fails at some texts may have too much to do.
    await release(tx, lease, {
      pauseMs: result.kind === "refused" && !result.isForGood ? retryPauseMs(0, undefined) : 0,
    });
  });
}

/**
 * Saves the vectors of atoms, and takes the atoms off the queue. An atom that was corrected meanwhile keeps none of
 * them, and stays in the queue.
 */
async function saveVectors(
  tx: Tx,
  { libraryId, space }: EmbeddingLease,
  { atoms, servedBy }: Extract<EmbeddingResult, { kind: "embedded" }>,
): Promise<void> {
  const first = rowsOf(atoms, (passage) => passage === 0);
  await sql`
    insert into atom_embeddings (atom_id, library_id, space, revision, signature, embedding)
    select a.id, a.library_id, ${space}::integer, a.revision, binary_quantize(vector), vector from ${first}
    join atoms a on a.id = given.id and a.revision = given.revision
    join libraries l on l.id = a.library_id and coalesce(l.parent_id, l.id) = ${libraryId}
    for key share of a
    on conflict (library_id, atom_id) do update set space = excluded.space, revision = excluded.revision,
      signature = excluded.signature, embedding = excluded.embedding`.execute(tx);
  const others = rowsOf(atoms, (passage) => passage > 0);
  await sql`
    insert into atom_passages (library_id, atom_id, passage, space, revision, signature, embedding)
    select v.library_id, v.atom_id, given.passage, v.space, v.revision, binary_quantize(vector), vector from ${others}
    join atom_embeddings v on v.atom_id = given.id and v.revision = given.revision and v.space = ${space}::integer
    on conflict (library_id, atom_id, passage) do update set space = excluded.space, revision = excluded.revision,
      signature = excluded.signature, embedding = excluded.embedding`.execute(tx);
  await sql`delete from embedding_queue q using unnest(${keysOf(atoms)}) as given (id, revision)
    where q.atom_id = given.id and q.revision = given.revision`.execute(tx);
  await sql`update library_embeddings set served_by = ${servedBy},
      dimensions = ${atoms[0]?.vectors[0]?.length ?? null}::integer
    where library_id = ${libraryId} and served_by is null`.execute(tx);
}

/** Returns the vectors of some of the passages, as a relation `given` with `id`, `revision`, `passage` and `vector`. */
function rowsOf(atoms: readonly EmbeddedAtom[], isWanted: (passage: number) => boolean): RawBuilder<unknown> {
  const rows = atoms.flatMap(({ id, revision, vectors }) =>
    vectors.flatMap((vector, passage) => (isWanted(passage) ? [{ id, revision, passage, vector }] : [])),
  );
  return sql`unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ revision }) => revision)}::integer[],
    ${rows.map(({ passage }) => passage)}::integer[], ${rows.map(({ vector }) => JSON.stringify(vector))}::vector[]
  ) as given (id, revision, passage, vector)`;
}

/** Returns the ids and the revisions of atoms, as two arguments of `unnest`. */
function keysOf(atoms: readonly WaitingAtom[]): RawBuilder<unknown> {
  return sql`${atoms.map(({ id }) => id)}::uuid[], ${atoms.map(({ revision }) => revision)}::integer[]`;
}

type RefusedAtoms = Extract<EmbeddingResult, { kind: "refused" }>;

async function putOff(tx: Tx, refused: RefusedAtoms): Promise<void> {
  const { atoms } = refused;
  const later = atoms.map((atom) => laterOf(atom, refused));
  await sql`update embedding_queue q set tries = tries + 1, refusal = given.refusal,
      due_at = coalesce(clock_timestamp() + given.pause_ms * interval '1 millisecond', 'infinity')
    from unnest(${keysOf(atoms)}, ${later.map(({ pauseMs }) => pauseMs)}::float8[],
      ${later.map(({ refusal }) => refusal)}::text[]) as given (id, revision, pause_ms, refusal)
    where q.atom_id = given.id and q.revision = given.revision`.execute(tx);
}

/** Returns the pause before an atom's next try, null for no further try, and the reason if the atom is set aside. */
function laterOf(
  { tries }: WaitingAtom,
  { why, isForGood, retryAfterMs = 0 }: RefusedAtoms,
): { readonly pauseMs: number | null; readonly refusal: string | null } {
  if (isForGood) return tries < MAX_TRIES ? { pauseMs: tries * 1_000, refusal: null } : { pauseMs: null, refusal: why };
  const pauseMs = FIRST_PAUSES_MS[tries];
  if (pauseMs !== undefined) return { pauseMs: Math.max(pauseMs, retryAfterMs), refusal: null };
  const asideMs = Math.min(ASIDE_PAUSE_MS * 2 ** (tries - FIRST_PAUSES_MS.length), MAX_ASIDE_PAUSE_MS);
  return { pauseMs: Math.max(asideMs, retryAfterMs), refusal: why };
}

/**
 * Ends a lease. Without a failure the library's failures count from 0 again.
 *
 * @param pauseMs milliseconds before the library's next lease
 */
async function release(
  tx: Tx,
  { libraryId, failures }: EmbeddingLease,
  { pauseMs, failure = null }: { readonly pauseMs: number; readonly failure?: string | null },
): Promise<void> {
  await sql`update library_embeddings set claim = null, failure = ${failure}::text,
      failures = ${failure === null ? 0 : failures + 1}::integer,
      due_at = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond'
    where library_id = ${libraryId}`.execute(tx);
}
