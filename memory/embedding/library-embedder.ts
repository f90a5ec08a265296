import { randomUUID } from "node:crypto";
import type { Logger } from "../../runtime/log.ts";
import { startPolling } from "../../runtime/polling.ts";
import { TeamSlots } from "../../runtime/team-slots.ts";
import type { EmbedResult } from "../../server/gateway/library/embed-request.ts";
import type { TextEmbedder } from "../../server/gateway/library/embed-texts.ts";
import type { Store } from "../../store/database/store.ts";
import {
  claimEmbedding,
  clearSome,
  type EmbeddingLease,
  MAX_TEXTS,
  takeBatch,
  type WaitingAtom,
  walkSome,
} from "../store/embedding/embedding-leases.ts";
import { type EmbeddedAtom, type EmbeddingResult, settleEmbedding } from "../store/embedding/settle-embedding.ts";
import type { CountEmbedded } from "./metrics.ts";

type Embedding = {
  readonly store: Store;
  readonly embedder: Pick<TextEmbedder, "embed">;
  readonly log: Logger;
  readonly count: CountEmbedded;
};

const POLL_MS = 1_000;
/** Libraries that a process embeds at a time, of one team half of them: PGlite answers one question at a time. */
const MAX_LEASES = { postgres: 6, pglite: 2 } as const;
/** Milliseconds from which on a lease is slow: models embed a request's texts in less. */
const SLOW_MS = 5_000;
/**
 * Milliseconds of a request. A lease makes three at most (two for the longest atom), which end before its claim does.
 */
const TIMEOUT_MS = 18_000;
/** Milliseconds that the probe after a request waits for limits: if a minute has room for one, it is taken. */
const PROBE_WAIT_MS = 60_000;
/** Text that every model takes: a model that refuses it, or fails at it, does so to all texts. */
const PROBE = "keyplane";

/**
 * Embeds the atoms of the libraries that are to be embedded, in the background, after each save. The libraries take
 * turns of one request each, whichever process has them, and so do their teams, so that neither much work nor a slow
 * model holds up others. What fails is tried again later.
 *
 * @returns stops it, and waits for what is under way
 */
export function startLibraryEmbedder(embedding: Embedding, pollMs = POLL_MS): { close(): Promise<void> } {
  const { store, log } = embedding;
  const most = MAX_LEASES[store.engine];
  const slots = new TeamSlots({ most, slowMs: SLOW_MS }, () => performance.now());
  return startPolling({
    ...{ most, pollMs, writes: store.writes },
    runNext: () =>
      slots.takeNext(
        (bounds) => claimEmbedding(store, randomUUID(), bounds),
        (lease) => take(embedding, lease),
      ),
    onFailure: (error) => log.warn({ error }, "the atoms of a library could not be embedded; it is tried again"),
  });
}

async function take({ store, embedder, count }: Embedding, lease: EmbeddingLease): Promise<void> {
  if (lease.isEnded) return clearSome(store, lease);
  const isWalkEnd = !lease.isWalked && (await walkSome(store, lease));
  const atoms = await takeBatch(store, lease);
  const result = await (atoms.length > 0
    ? embed(embedder, lease, atoms)
    : isWalkEnd || lease.failures > 0
      ? tryModel(embedder, lease)
      : NOTHING);
  await settleEmbedding(store, lease, result);
  if (result.kind !== "nothing") count(result.kind, atoms.length);
}

const NOTHING: EmbeddingResult = { kind: "nothing" };

/** Tests whether the model embeds anything, so that a library shows a failure before its first atom is saved. */
async function tryModel(
  embedder: Embedding["embedder"],
  lease: EmbeddingLease,
  waitMs?: number,
): Promise<EmbeddingResult> {
  const result = await ask(embedder, lease, [PROBE], waitMs);
  return result.kind === "vectors" ? NOTHING : { retryAfterMs: undefined, ...result, kind: "failed" };
}

function ask(
  embedder: Embedding["embedder"],
  lease: EmbeddingLease,
  texts: readonly string[],
  waitMs = 0,
): Promise<EmbedResult> {
  return embedder.embed({ ...lease, dimensions: lease.askedDimensions, texts, timeoutMs: TIMEOUT_MS, waitMs });
}

async function embed(
  embedder: Embedding["embedder"],
  lease: EmbeddingLease,
  atoms: readonly WaitingAtom[],
): Promise<EmbeddingResult> {
  const result = await askInParts(
    (texts) => ask(embedder, lease, texts),
    atoms.flatMap(({ passages }) => passages),
  );
  switch (result.kind) {
    case "vectors": {
      const { servedBy, vectors } = result;
      const length = servedBy === lease.servedBy ? lease.dimensions : vectors[0]?.length;
      const other = vectors.find((vector) => vector.length !== length);
      if (other !== undefined) {
        const why = `the upstream gave vectors of ${other.length} numbers where it gave ${length} before`;
        return { kind: "failed", why, retryAfterMs: undefined };
      }
      return { kind: "embedded", atoms: withVectors(atoms, vectors), servedBy };
    }
    case "refused": {
      if ((await tryModel(embedder, lease, PROBE_WAIT_MS)).kind === "failed") {
        return { kind: "failed", why: result.why, retryAfterMs: undefined };
      }
      return { kind: "refused", atoms, why: result.why, isForGood: true, retryAfterMs: undefined };
    }
    case "failed": {
      const { why, retryAfterMs, isDoubtful } = result;
      const hasFailed = lease.failures > 0 || atoms.some(({ tries }) => tries > 0);
      if (isDoubtful === true && hasFailed && (await tryModel(embedder, lease, PROBE_WAIT_MS)).kind === "nothing") {
        return { kind: "refused", atoms, why, isForGood: false, retryAfterMs };
      }
      return { kind: "failed", why, retryAfterMs };
    }
  }
}

/** Asks for the vectors of texts in requests of at most {@link MAX_TEXTS}: some providers take no more. */
async function askInParts(
  ask: (texts: readonly string[]) => Promise<EmbedResult>,
  texts: readonly string[],
): Promise<EmbedResult> {
  const result = await ask(texts.slice(0, MAX_TEXTS));
  const left = texts.slice(MAX_TEXTS);
  if (result.kind !== "vectors" || left.length === 0) return result;
  const others = await askInParts(ask, left);
  if (others.kind !== "vectors") return others;
  if (others.servedBy !== result.servedBy) {
    const why = `the upstream ${others.servedBy} gave the vectors of some passages of an atom, and ${result.servedBy} those of the others`;
    return { kind: "failed", why };
  }
  return { ...result, vectors: [...result.vectors, ...others.vectors] };
}

/** @param vectors of the atoms' passages, one after the other */
function withVectors(atoms: readonly WaitingAtom[], vectors: readonly (readonly number[])[]): EmbeddedAtom[] {
  const left = [...vectors];
  return atoms.map((atom) => ({ ...atom, vectors: left.splice(0, atom.passages.length) }));
}
