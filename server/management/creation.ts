import type { FastifyReply, FastifyRequest } from "fastify";
import { commitChange, seqIfKnown, type Tx } from "../../store/database/change.ts";
import { beginCreation, type Creation, endCreation } from "../../store/idempotency.ts";
import { principalOf } from "../auth/management/author.ts";
import { readIdempotencyKey, sha256 } from "../http/idempotency-key.ts";
import { problem } from "../http/problems/problem.ts";
import type { Management } from "./context.ts";
import type { Receipt } from "./keys/shown/receipt.ts";

/** Result of a creation: the object that this request made, or that the same request made before. */
export type CreationResult<Shown> = {
  readonly id: string;
  /** Object as it was when the request was done with it. */
  readonly shown: Shown;
  /** Key that the server minted, only in the answer to the request that minted it; null otherwise. */
  readonly secret: string | null;
  readonly replayed: boolean;
  readonly change: Receipt;
};

/**
 * Milliseconds that a creation waits for its confirmation. Longer than a replica can go on without proof that its view
 * is current, unless it was started with a longer lease: the answer works everywhere, or its receipt says that this is
 * not confirmed.
 */
const PATIENCE_MS = 10_000;
/** New object, with the secret that was minted for it. */
type Minted = { readonly id: string; readonly secret?: string | null };

/**
 * Makes something once, however often the request is repeated with its Idempotency-Key. The record of the request is
 * written in the transaction that makes the object. All of the answer is read there too: otherwise a minted secret
 * would be lost if the database goes away after the COMMIT. Waits up to {@link PATIENCE_MS} until every replica decides
 * by the change (architecture §3): what is answered works, or its receipt says that this is not confirmed.
 *
 * @param creation identity of the request, which recognises a repetition; undefined if the request gives none
 * @param make checks and makes; a refusal leaves no record, and the same key may be used again
 * @param show reads what has been made, or was made before
 * @param makeAgain replaces what was made before; its result is undefined if that stays
 * @throws Problem `not_found` when what was made has been deleted, `idempotency_mismatch` when the key was used for
 * another request
 */
export async function createOnce<Shown>(
  { store, receipts }: Management,
  creation: Creation | undefined,
  make: (tx: Tx) => Promise<Minted>,
  show: (tx: Tx, id: string) => Promise<Shown>,
  makeAgain: (tx: Tx, id: string) => Promise<Minted | undefined> = async () => undefined,
): Promise<CreationResult<Shown>> {
  const { result, askSeq } = await commitChange(store, null, async (tx) => {
    const before = creation && (await beginCreation(tx, creation));
    if (before !== undefined) {
      if (before.objectId === undefined) throw problem("not_found", "What this Idempotency-Key made has been deleted.");
      if (!before.isSameRequest) throw problem("idempotency_mismatch", undefined, undefined, { id: before.objectId });
      const again = await makeAgain(tx, before.objectId);
      const shown = await show(tx, before.objectId);
      return { id: before.objectId, shown, secret: again?.secret ?? null, replayed: true };
    }
    const { id, secret = null } = await make(tx);
    if (creation !== undefined) await endCreation(tx, creation, id);
    return { id, shown: await show(tx, id), secret, replayed: false };
  });
  return { ...result, change: await receipts.wait(await seqIfKnown(askSeq), PATIENCE_MS) };
}

/** Sets status 201, the location of the new object, and a header if it was made before. */
export function markCreated(reply: FastifyReply, path: string, { id, replayed }: CreationResult<unknown>): void {
  reply.code(201).header("location", `/api/v1/${path}/${id}`);
  if (replayed) reply.header("idempotency-replayed", "true");
}

/** Returns the identity of a request by its Idempotency-Key; undefined if it has none. */
export function creationOf(request: FastifyRequest): Creation | undefined {
  const key = readIdempotencyKey(request);
  return key === undefined ? undefined : creationBy(request, key, [request.method, request.url, request.body]);
}

/**
 * Returns the identity by which a repeated request is recognised.
 *
 * @param key key of the request, unique among its caller's requests
 * @param content all that the request asks for
 */
export function creationBy(request: FastifyRequest, key: string, content: unknown): Creation {
  return { caller: principalOf(request).actor, key: sha256(key), request: sha256(JSON.stringify(content)) };
}
