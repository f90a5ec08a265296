import { condition, type StatedCondition } from "../../domain/conditions.ts";
import { REVOCATION_MESSAGES } from "../../domain/key/conditions/readiness.ts";
import type { LibraryGateway } from "../../domain/object-conditions.ts";
import { change } from "../../store/database/change.ts";
import {
  type EmbeddingProgress,
  embeddingProgress,
  MAX_COUNTED_ATOMS,
} from "../../store/libraries/embedding-progress.ts";
import { declareEmbedding, endEmbedding } from "../../store/libraries/library-embedding.ts";
import type { DeclaredObject } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { AT_REST, type ReconcileResult } from "../context/reconcile-result.ts";
import { modelDraft } from "./model-draft.ts";

/**
 * Milliseconds until the progress is looked at again: while atoms are being embedded, while the model fails, which is
 * tried again after ever longer pauses, and while there is nothing to embed.
 */
const UNDER_WAY_MS = 5_000;
const FAILING_MS = 20_000;
const AT_REST_MS = 60_000;

type LibraryEmbedding = {
  /** Gateways that Ready depends on. */
  readonly gateways: readonly LibraryGateway[];
  readonly progress: readonly StatedCondition[];
  readonly result: ReconcileResult;
};

/** Declares or ends the embedding of a library in the store, as its declaration has it. */
export async function reconcileEmbedding(
  deps: ControllerDeps,
  object: DeclaredObject<"MemoryLibrary">,
  library: { readonly id: string; readonly teamId: string },
): Promise<LibraryEmbedding> {
  const { store, fence } = deps;
  const { embedding } = object.spec;
  if (embedding === undefined) {
    if ((await embeddingProgress(store.db, library.id)) !== undefined) {
      await change(store, fence, (tx) => endEmbedding(tx, library.id));
    }
    return { gateways: [], progress: [], result: AT_REST };
  }
  const { dimensions = null } = embedding;
  const { draft, gateway } = await modelDraft(deps, object, library, "embedding", embedding);
  await change(store, fence, (tx) => declareEmbedding(tx, { ...draft, dimensions }));
  const progress = await embeddingProgress(store.db, library.id);
  return {
    gateways: [gateway],
    progress:
      progress === undefined ? [] : [embeddedCondition(progress, { model: embedding.model, gateway: gateway.gateway })],
    result: { requeueAfterMs: nextLookMs(progress) },
  };
}

/**
 * Returns the milliseconds until the next look. If nothing can be embedded until a person acts, looks are rare: many
 * libraries may be so for a long time.
 */
export function nextLookMs(progress: EmbeddingProgress | undefined): number {
  if (progress?.hasVectors !== true || progress.revoked !== null || isAtRest(progress)) return AT_REST_MS;
  return progress.failure === null ? UNDER_WAY_MS : FAILING_MS;
}

function isAtRest({ waiting, isMore, failure }: EmbeddingProgress): boolean {
  return waiting === 0 && !isMore && failure === null;
}

/** Model that a library is embedded by: its name, and the gateway as `namespace/name`. */
type CalledModel = { readonly model: string; readonly gateway: string };

/** Returns the condition that says how far the embedding is. */
export function embeddedCondition(progress: EmbeddingProgress, { model, gateway }: CalledModel): StatedCondition {
  const { hasVectors, keyId, revoked, failure, setAside, refusal } = progress;
  const not = (reason: StatedCondition["reason"], message: string) => condition("Embedded", "False", reason, message);
  if (revoked !== null) {
    return not("EmbeddingKeyRevoked", `Nothing is embedded by key ${keyId}. ${REVOCATION_MESSAGES[revoked]}`);
  }
  if (!hasVectors)
    return not("VectorsUnavailable", "The database keeps no vectors: atoms are found by their words alone.");
  if (failure !== null) {
    const tried = `The last try of model ${model} through ModelGateway ${gateway} failed: ${failure}`;
    return not("EmbeddingFailed", `${waitingInWords(progress)}. ${tried}.`);
  }
  if (!isAtRest(progress)) return not("Embedding", `${waitingInWords(progress)}.`);
  if (setAside > 0)
    return not("EmbeddingRefused", `${setAsideInWords(setAside)} are set aside, each tried alone: ${refusal}.`);
  return condition("Embedded", "True", "Embedded", `All atoms are embedded, by key ${keyId}.`);
}

function setAsideInWords(setAside: number): string {
  const count = Math.min(setAside, MAX_COUNTED_ATOMS).toLocaleString("en");
  return setAside > MAX_COUNTED_ATOMS ? `More than ${count} atoms` : `${count} atoms`;
}

/** Says how many atoms wait, in round numbers, so that a library of many atoms takes few different messages. */
function waitingInWords({ waiting, isMore }: EmbeddingProgress): string {
  if (isMore && waiting === 0) return "The atoms are about to be looked through";
  if (isMore) return `More than ${waiting.toLocaleString("en")} atoms wait to be embedded`;
  if (waiting === 0) return "No atom waits to be embedded";
  const step = waiting < 1_000 ? 1 : 1_000;
  return `${(Math.ceil(waiting / step) * step).toLocaleString("en")} atoms wait to be embedded`;
}
