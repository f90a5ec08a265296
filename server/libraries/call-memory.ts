import type { FastifyReply, FastifyRequest } from "fastify";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Reach } from "../../domain/access/reach.ts";
import type { Db } from "../../store/database/change.ts";
import { accessNow } from "../auth/key-hook.ts";
import { reserveAnswer } from "../http/answers/paced-response.ts";
import { callerSignal } from "../http/caller-signal.ts";
import { Problem } from "../http/problems/problem.ts";
import type { ServerDeps } from "../product/deps.ts";
import { type LibraryUser, libraryUser } from "./library-use.ts";
import { reachOfCall } from "./reach-of-call.ts";

/** Runs the statements of a request, as {@link callMemory} does. */
export type MemoryCaller = <T>(body: MemoryCall<T>) => Promise<T>;

/** Body of a call, with the key as it is then, and the memory that the call reaches. */
type MemoryCall<T> = (db: Db, user: LibraryUser, reach: Reach) => Promise<T>;

/**
 * Runs the statements of a request in a slot of its team, and no longer than the caller waits for the answer. The
 * request may have waited for its slot, so it is decided again when it gets one.
 *
 * @throws Problem 400, 401, 403 or 503 as on arrival, and 429 or 503 if there is no memory budget for an answer
 */
export function callMemory<T>(
  deps: ServerDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  body: MemoryCall<T>,
): Promise<T> {
  return memoryCaller(deps, request, reply)(body);
}

/** Returns {@link callMemory} for a request that calls more than once: each call has a slot and a time of its own. */
export function memoryCaller(deps: ServerDeps, request: FastifyRequest, reply: FastifyReply): MemoryCaller {
  // Shared by all of its calls, since each signal leaves a listener on the response.
  const signal = callerSignal(reply);
  return (body) =>
    callInSlot(deps, request, reply, (db, key) => body(db, libraryUser(deps, key), reachOfCall(key, request)), signal);
}

/**
 * Runs a function as {@link callMemory} does, for a request about its key alone, which need not say whose memory it
 * means.
 */
export function callInSlot<T>(
  deps: ServerDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  body: (db: Db, key: KeyRecord) => Promise<T>,
  signal = callerSignal(reply),
): Promise<T> {
  const call = { teamId: request.principal.teamId, signal };
  return deps.store.memory.run(call, async (db) => {
    const granted = accessNow(deps, request);
    if (granted instanceof Problem) throw granted;
    const refusal = reserveAnswer(reply.raw);
    if (refusal !== undefined) throw refusal;
    return body(db, granted.key);
  });
}
