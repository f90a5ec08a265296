import type { FastifyReply, FastifyRequest } from "fastify";
import type { Db } from "../../store/change.ts";
import type { ServerDeps } from "../deps.ts";
import { callerSignal } from "../http/caller-signal.ts";

/** Runs the statements of a request: in its team's turn, and no longer than somebody waits for its answer. */
export function callMemory<T>(
  { store }: Pick<ServerDeps, "store">,
  { principal }: FastifyRequest,
  reply: FastifyReply,
  body: (db: Db) => Promise<T>,
): Promise<T> {
  return store.memory.run({ teamId: principal.teamId, signal: callerSignal(reply) }, body);
}
