import type { FastifyReply, FastifyRequest } from "fastify";
import { type KeyRecord, UNSTORED_VERSION } from "../../domain/access/key-record.ts";
import type { Reach } from "../../domain/access/reach.ts";
import { readIdempotencyKey, sha256 } from "../../server/http/idempotency-key.ts";
import { type Problem, problem } from "../../server/http/problems/problem.ts";
import { reachOfCall } from "../../server/libraries/reach-of-call.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import type { Db, Tx } from "../../store/database/change.ts";
import { findLibraryById, openLibrary } from "../../store/libraries/reachable-libraries.ts";
import {
  beginSave,
  endSave,
  type FormerSave,
  findSave,
  type MadeAtoms,
  type RepeatableSave,
} from "../store/writes/repeatable-saves.ts";
import { type MemoryWrite, rollBack, writeAs } from "./write-as.ts";

/** Save that is made once for its Idempotency-Key. */
type Save<T extends MadeAtoms> = {
  /** Identity by which the save is recognized; undefined if the request has no Idempotency-Key. */
  readonly known: RepeatableSave | undefined;
  /** Prepares the write of a save that was not made before; throws if it is refused. */
  prepare(): Promise<{ readonly libraryId: string; write(tx: Tx, reach: Reach): Promise<T> }>;
  /** Reads what was made before, to be shown again. */
  recall(tx: Tx, reach: Reach, made: MadeAtoms): Promise<T>;
};

type Saved<T> = { readonly made: T; readonly libraryId: string; readonly isReplayed: boolean };

/**
 * Returns the identity of a save: its key, whatever the version, and its Idempotency-Key. Undefined if it has none.
 *
 * @param asked all that decides what is made, beside the operation
 * @throws Problem `invalid_request` for a malformed Idempotency-Key
 */
export function repeatableSave(request: FastifyRequest, asked: unknown): RepeatableSave | undefined {
  const key = readIdempotencyKey(request);
  if (key === undefined) return undefined;
  const { principal, operation } = request;
  return {
    caller: callerOf(principal, reachOfCall(principal, request)),
    key: sha256(key),
    request: sha256(JSON.stringify([operation, asked], inOrder)),
  };
}

/**
 * Returns the name of a key, the same for each of its versions, and of the subject that it saves for. The name of a
 * placeholder has its team: its id is a position in a list, which may be another team's tomorrow.
 */
export function callerOf({ keyId, teamId, version }: KeyRecord, { subject }: Reach): string {
  const key = version === UNSTORED_VERSION ? `${teamId}/${keyId}` : keyId;
  return subject === undefined ? key : `${key}/of/${subject}`;
}

/** Orders the members of an object by their names, for JSON.stringify: it is the same object in any order. */
export function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * Saves as {@link writeAs} does, once for each Idempotency-Key. The record of it is written in the transaction of the
 * atoms, so that a refused save leaves none. A repetition is authorized as any save is, and finds what was made.
 *
 * @returns undefined if the key does not reach the library any more
 * @throws Problem `idempotency_mismatch` if the Idempotency-Key was used for another request; `rate_limited` if the key
 * has saved too often with an Idempotency-Key
 */
export async function saveOnce<T extends MadeAtoms>(
  deps: ServerDeps,
  db: Db,
  request: FastifyRequest,
  { known, prepare, recall }: Save<T>,
): Promise<Saved<T> | undefined> {
  const write = (body: MemoryWrite<Saved<T>>["write"]) =>
    writeAs(deps, db, request, { write: body, libraryOf: ({ libraryId }) => libraryId });
  const replay = async (tx: Tx, reach: Reach, former: FormerSave): Promise<Saved<T>> => {
    const { libraryId, isSameRequest } = former;
    if (!isSameRequest) throw anotherRequest(former);
    if ((await findLibraryById(tx, reach, libraryId)) === undefined) return rollBack();
    return { made: await recall(tx, reach, former), libraryId, isReplayed: true };
  };
  if (known === undefined) {
    const { libraryId, ...save } = await prepare();
    return write(async (tx, reach) => ({ made: await save.write(tx, reach), libraryId, isReplayed: false }));
  }
  const former = await findSave(db, known);
  if (former !== undefined) return write((tx, reach) => replay(tx, reach, former));
  const prepared = await requireCapacity(deps, db, known)
    .then(prepare)
    .catch(async (error: unknown) => {
      // A refusal as a duplicate, or for lack of capacity, may be due to what the same request has saved meanwhile.
      const made = await findSave(db, known);
      if (made === undefined) throw error;
      return made;
    });
  if (!("write" in prepared)) return write((tx, reach) => replay(tx, reach, prepared));
  return write(async (tx, reach) => {
    const { libraryId } = prepared;
    const before = await beginSave(tx, known, (await openLibrary(tx, reach, libraryId)) ?? rollBack());
    if (before === "absent") return rollBack();
    if (before !== undefined) return replay(tx, reach, before);
    const made = await prepared.write(tx, reach);
    await endSave(tx, known, made);
    return { made, libraryId, isReplayed: false };
  });
}

/** Answers 201, or 200 if the save was made before. */
export function markSaved(reply: FastifyReply, isReplayed: boolean): FastifyReply {
  return isReplayed ? reply.code(200).header("idempotency-replayed", "true") : reply.code(201);
}

/**
 * Returns the problem of an Idempotency-Key that was used for another request. It names the atom that the other request
 * has made, if it is one, as the management API does.
 */
function anotherRequest({ atomIds }: MadeAtoms): Problem {
  const [id] = atomIds;
  const made = atomIds.length === 1 && typeof id === "string" ? { id } : {};
  return problem("idempotency_mismatch", ANOTHER_REQUEST, undefined, made);
}

const ANOTHER_REQUEST = "Another request was made with this Idempotency-Key: use a new key for a new request.";

async function requireCapacity({ recordCapacity }: ServerDeps, db: Db, { caller }: RepeatableSave): Promise<void> {
  const waitMs = await recordCapacity.waitFor(db, caller);
  if (waitMs === 0) return;
  throw problem(
    "rate_limited",
    "This key has saved too often with an Idempotency-Key within 24 hours: nothing was saved. Try again later, save more at once, or save without one.",
    { "retry-after": String(Math.ceil(waitMs / 1_000)) },
  );
}
