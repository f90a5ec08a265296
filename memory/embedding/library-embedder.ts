import { randomUUID } from "node:crypto";
import type { Logger } from "../../runtime/log.ts";
import { TeamTurns } from "../../runtime/team-turns.ts";
import { startTurns } from "../../runtime/turns.ts";
import type { EmbedResult } from "../../server/gateway/library/embed-request.ts";
import type { TextEmbedder } from "../../server/gateway/library/embed-texts.ts";
import type { Store } from "../../store/database/store.ts";
import { type EmbeddedAtom, settleTurn, type TurnResult } from "../store/embedding/settle-turn.ts";
import {
  claimTurn,
  clearSome,
  type EmbeddingTurn,
  MAX_TEXTS,
  takeBatch,
  type WaitingAtom,
  walkSome,
} from "../store/embedding/turns.ts";
import type { CountEmbedded } from "./metrics.ts";

type Embedding = {
  readonly store: Store;
  readonly embedder: Pick<TextEmbedder, "embed">;
  readonly log: Logger;
  readonly count: CountEmbedded;
};

const POLL_MS = 1_000;
/** Libraries that a process embeds at a time, of one team half of them: PGlite answers one question at a time. */
const MAX_TURNS = { postgres: 6, pglite: 2 } as const;
/** Milliseconds from which on a turn is slow: models embed a request's texts in less. */
const SLOW_MS = 5_000;
/**
 * Milliseconds of a request. A turn makes three at most (two for the longest atom), which end before its claim does.
 */
const TIMEOUT_MS = 18_000;
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
  const most = MAX_TURNS[store.engine];
  const turns = new TeamTurns({ most, slowMs: SLOW_MS }, () => performance.now());
  return startTurns({
    ...{ most, pollMs },
    takeTurn: () =>
      turns.takeNext(
        (bounds) => claimTurn(store, randomUUID(), bounds),
        (turn) => take(embedding, turn),
      ),
    onFailure: (error) => log.warn({ error }, "the atoms of a library could not be embedded; it is tried again"),
  });
}

async function take({ store, embedder, count }: Embedding, turn: EmbeddingTurn): Promise<void> {
  if (turn.isEnded) return clearSome(store, turn);
  const isWalkEnd = !turn.isWalked && (await walkSome(store, turn));
  const atoms = await takeBatch(store, turn);
  const result = await (atoms.length > 0
    ? embed(embedder, turn, atoms)
    : isWalkEnd || turn.failures > 0
      ? tryModel(embedder, turn)
      : NOTHING);
  await settleTurn(store, turn, result);
  if (result.kind !== "nothing") count(result.kind, atoms.length);
}

const NOTHING: TurnResult = { kind: "nothing" };

/** Tests whether the model embeds anything, so that a library shows a failure before its first atom is saved. */
async function tryModel(embedder: Embedding["embedder"], turn: EmbeddingTurn): Promise<TurnResult> {
  const result = await ask(embedder, turn, [PROBE]);
  return result.kind === "vectors" ? NOTHING : { retryAfterMs: undefined, ...result, kind: "failed" };
}

function ask(embedder: Embedding["embedder"], turn: EmbeddingTurn, texts: readonly string[]): Promise<EmbedResult> {
  return embedder.embed({ ...turn, dimensions: turn.askedDimensions, texts, timeoutMs: TIMEOUT_MS });
}

async function embed(
  embedder: Embedding["embedder"],
  turn: EmbeddingTurn,
  atoms: readonly WaitingAtom[],
): Promise<TurnResult> {
  const result = await askInParts(
    (texts) => ask(embedder, turn, texts),
    atoms.flatMap(({ passages }) => passages),
  );
  switch (result.kind) {
    case "vectors": {
      const { servedBy, vectors } = result;
      const length = servedBy === turn.servedBy ? turn.dimensions : vectors[0]?.length;
      const other = vectors.find((vector) => vector.length !== length);
      if (other !== undefined) {
        const why = `the upstream gave vectors of ${other.length} numbers where it gave ${length} before`;
        return { kind: "failed", why, retryAfterMs: undefined };
      }
      return { kind: "embedded", atoms: withVectors(atoms, vectors), servedBy };
    }
    case "refused": {
      if (atoms.length === 1 && (await tryModel(embedder, turn)).kind === "failed") {
        return { kind: "failed", why: result.why, retryAfterMs: undefined };
      }
      return { kind: "refused", atoms, why: result.why, isForGood: true, retryAfterMs: undefined };
    }
    case "failed": {
      const { why, retryAfterMs, isDoubtful } = result;
      const hasFailed = turn.failures > 0 || atoms.some(({ tries }) => tries > 0);
      if (isDoubtful === true && hasFailed && (await tryModel(embedder, turn)).kind === "nothing") {
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
