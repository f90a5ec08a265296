import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "../../../runtime/log.ts";
import { requestIdOf } from "../request-id.ts";
import { type Problem, problemDocument } from "./problem.ts";
import { problemOf } from "./problem-of.ts";

/**
 * Returns the root error handler. It renders problem documents, and logs other errors without secrets in their text.
 */
export function errorHandler(log: Logger): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const isOnce =
      request.routeOptions.config.docs?.idempotent !== undefined && request.headers["idempotency-key"] !== undefined;
    const shown = problemOf(error, request.method, isOnce ? "by its Idempotency-Key" : undefined);
    logFailure(log, request, { error, shown, message: "a request failed" });
    sendProblem(reply, shown);
  };
}

/** Sends a problem document. */
export function sendProblem(reply: FastifyReply, shown: Problem): void {
  const document = problemDocument(shown, requestIdOf(reply.request.raw));
  reply.code(shown.status).headers(shown.headers).type("application/problem+json").send(document);
}

/** True if the log has to report a problem: a fault that callers cannot mend, whichever part of the server answered. */
export function isForOperator(shown: Problem): boolean {
  return shown.code === "internal" || shown.code === "insufficient_storage";
}

/** Logs a failure that {@link isForOperator}, with its request's route and id. */
export function logFailure(
  log: Logger,
  { method, raw, routeOptions }: FastifyRequest,
  { error, shown, message }: { readonly error: unknown; readonly shown: Problem; readonly message: string },
): void {
  if (!isForOperator(shown)) return;
  log.error({ error, method, route: routeOptions.url, requestId: requestIdOf(raw) }, message);
}
