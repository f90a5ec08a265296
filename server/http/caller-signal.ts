import type { FastifyReply } from "fastify";

/**
 * Returns a signal that is aborted when the connection ends before its answer, and once the answer is sent: no caller
 * waits then.
 */
export function callerSignal({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  if (raw.destroyed) left.abort();
  else raw.once("close", () => left.abort());
  return left.signal;
}
