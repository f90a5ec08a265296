import type { FastifyReply, FastifyRequest } from "fastify";
import { commitChange, seqIfKnown, type Tx } from "../../store/database/change.ts";
import { beginCreation, type Creation, endCreation } from "../../store/idempotency.ts";
import { principalOf } from "../auth/management/author.ts";
import { readIdempotencyKey, sha256 } from "../http/idempotency-key.ts";
import { problem } from "../http/problems/problem.ts";
import type { Management } from "./context.ts";
import type { Receipt } from "./keys/shown/receipt.ts";

/** What a request has made, or made before. */
export type CreationResult<Shown> = {
  readonly id: string;
  /** As it was when the request was done with it. */
  readonly shown: Shown;
  /** Of a key that the server has minted, and only in the answer to the request that minted it. */
  readonly secret: string | null;
  readonly replayed: boolean;
  readonly change: Receipt;
};

/**
 * Longer than a replica can go on without proof that its view is current, unless it was started with a longer lease:
 * what is answered works everywhere, or the receipt says that this is not confirmed.
 */
const PATIENCE_MS = 10_000;
/** What has been made, with the secret that was minted for it. */
type Minted = { readonly id: string; readonly secret?: string | null };

/**
 * Makes something once, however often the request is repeated with its Idempotency-Key: the record of it is written in
 * the transaction that makes it, and all of the answer is read there: a secret that was minted is lost otherwise, where
 * the database goes away after the COMMIT. Ends when every replica decides by it (architecture §3): what is answered
 * works.
 *
 * @param creation how the request is known again; undefined where it does not say
 * @param make checks and makes; a refusal leaves no record, and the same key may be used again
 * @param show reads what has been made, or was made before
 * @param makeAgain makes something in the place of what was made before; undefined where that stands
 * @throws Problem `idempotency_mismatch` when the key was used for another request
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

/** Answers 201, with where to find what was made, and whether it was made before. */
export function markCreated(reply: FastifyReply, path: string, { id, replayed }: CreationResult<unknown>): void {
  reply.code(201).header("location", `/api/v1/${path}/${id}`);
  if (replayed) reply.header("idempotency-replayed", "true");
}

/** How a request of the API is recognized when repeated, by its Idempotency-Key; undefined where it has none. */
export function creationOf(request: FastifyRequest): Creation | undefined {
  const key = readIdempotencyKey(request);
  return key === undefined ? undefined : creationBy(request, key, [request.method, request.url, request.body]);
}

/**
 * How a request is recognized when it is repeated.
 *
 * @param key what it is known by, among its caller's requests
 * @param content all that it asks for
 */
export function creationBy(request: FastifyRequest, key: string, content: unknown): Creation {
  return { caller: principalOf(request).actor, key: sha256(key), request: sha256(JSON.stringify(content)) };
}
