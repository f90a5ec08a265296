import type { FastifyRequest } from "fastify";
import { type KeyRecord, UNSTORED_VERSION } from "../../domain/access/key-record.ts";
import { mayReachLibrary } from "../../domain/access/library-access.ts";
import type { OperationName } from "../../domain/access/operations.ts";
import type { Reach } from "../../domain/access/reach.ts";
import { decideAgain, decideStored, type Granted } from "../../server/auth/decide.ts";
import { accessNow, refusalOf } from "../../server/auth/key-hook.ts";
import { notAMember, type Refused } from "../../server/auth/refused.ts";
import { Problem } from "../../server/http/problems/problem.ts";
import { libraryUser } from "../../server/libraries/library-use.ts";
import { reachOfCall } from "../../server/libraries/reach-of-call.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import type { Db, Tx } from "../../store/database/change.ts";
import type { Correction, Deletion } from "../store/writes/atom-writes.ts";
import type { Forgetting } from "../store/writes/forgotten-atoms.ts";
import { findKeyAtCommit, findMemberAtCommit } from "../store/writes/key-at-commit.ts";

/** Change of the memory, which is made in a transaction. */
export type MemoryWrite<T> = {
  write(tx: Tx, reach: Reach): Promise<T>;
  /** Returns the library that was written to; undefined if nothing was. */
  libraryOf(result: T): string | undefined;
  /** Operation that is decided on, if it is not the route's own. */
  readonly operation?: OperationName;
};

/** Error that rolls a write back: the key has lost the right to it, or does not reach the library any more. */
class RolledBack extends Error {
  readonly refused: Refused | "unreachable";
  constructor(refused: RolledBack["refused"]) {
    super("the key may not write this any more");
    this.refused = refused;
  }
}

/**
 * Writes as the key of a request. Access is decided again before the transaction, by the index, and after the write
 * within it, by the database itself: a key that has ended leaves no row, whatever the request waited for.
 *
 * @param db the call's handle of the database
 * @returns undefined if the key does not reach the library any more
 * @throws Problem 401, 403 or 503, as for a request that is refused before its route
 */
export async function writeAs<T>(
  deps: ServerDeps,
  db: Db,
  request: FastifyRequest,
  { write, libraryOf, operation = request.operation }: MemoryWrite<T>,
): Promise<T | undefined> {
  const granted = accessNow(deps, request, operation);
  if (granted instanceof Problem) throw granted;
  const { openCall } = request;
  const onCut = openCall?.onCut;
  // The transaction says what has become of the call: an answer that it was refused must not go with a row that stays.
  openCall?.takeOver(() => {});
  try {
    const result = await db.transaction().execute(async (tx) => {
      const reach = reachOfCall(granted.key, request);
      const result = await write(tx, reach);
      const isOfSubject = (key: KeyRecord) => reachOfCall(key, request).subject === reach.subject;
      await assertMayCommit(deps, tx, { granted, operation, libraryId: libraryOf(result), isOfSubject });
      return result;
    });
    const libraryId = libraryOf(result);
    if (libraryId !== undefined) libraryUser(deps, granted.key).noteLibrary(libraryId);
    return result;
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
    if (error.refused === "unreachable") return undefined;
    throw refusalOf(deps, request, error.refused);
  } finally {
    if (onCut !== undefined) openCall?.takeOver(onCut);
  }
}

/** Write that may not be committed yet, and what decides whether it may. */
type DoneWrite = {
  readonly granted: Granted;
  readonly operation: OperationName;
  readonly libraryId: string | undefined;
  /** Returns true if the call means the same subject's memory by the key as it is now. */
  isOfSubject(key: KeyRecord): boolean;
};

async function assertMayCommit(
  deps: ServerDeps,
  tx: Tx,
  { granted, operation, libraryId, isOfSubject }: DoneWrite,
): Promise<void> {
  const { key, client } = granted;
  const { keyId, version, membership } = key;
  // A placeholder is in no database.
  if (version !== UNSTORED_VERSION || membership !== undefined) {
    const stored =
      membership === undefined
        ? await findKeyAtCommit(deps.store, tx, keyId, version)
        : await findMemberAtCommit(deps.store, tx, membership);
    if (stored === undefined && membership !== undefined) throw new RolledBack(notAMember(membership.token));
    const refused = decideStored(stored?.key, operation, stored?.now ?? 0, client);
    if (refused !== undefined) throw new RolledBack(refused);
    const reaches =
      stored?.key.teamId === key.teamId &&
      isOfSubject(stored.key) &&
      (libraryId === undefined || mayReachLibrary(stored.key, libraryId));
    if (!reaches) throw new RolledBack("unreachable");
  }
  // Last, with nothing waited for until the COMMIT is on its way: what this replica acknowledges later, comes later.
  const again = decideAgain(deps, granted, operation);
  if (!again.granted) throw new RolledBack(again);
}

/** Rolls back a write whose library is not there any more; {@link writeAs} then returns undefined. */
export function rollBack(): never {
  throw new RolledBack("unreachable");
}

/** Returns the library of an atom that was corrected. */
export function correctedLibrary(correction: Correction): string | undefined {
  return correction.kind === "corrected" ? correction.atom.library.id : undefined;
}

/** Returns the library of an atom that was deleted or forgotten. */
export function deletedLibrary(deletion: Deletion | Forgetting): string | undefined {
  return "libraryId" in deletion ? deletion.libraryId : undefined;
}
