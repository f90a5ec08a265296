import type { FastifyReply, FastifyRequest } from "fastify";
import type { KeyRecord } from "../../domain/key-record.ts";
import type { CutCause, OpenCall, OpenStreams } from "../deps.ts";
import { type Problem, problem } from "../errors.ts";

/** What a caller is told whose call is cut before anything was sent. */
export const CUT_ANSWERS: Readonly<Record<CutCause, Problem>> = {
  key_ended: problem("unauthorized"),
  stale_index: problem("unavailable"),
  slow_body: problem("request_timeout"),
  stopping: problem("unavailable", "This server is stopping: try again."),
};

/** Watches a request that was let through until its response has closed; whoever goes on with it may say how it is cut. */
export function trackCall(
  streams: OpenStreams,
  request: FastifyRequest,
  reply: FastifyReply,
  key: KeyRecord,
): OpenCall {
  const call = streams.track(key, (cause) => endCall(reply, cause), request.raw);
  reply.raw.once("close", () => call.end());
  return call;
}

/** Ends a call at once: with the answer where nothing was sent, else by breaking its connection. */
function endCall(reply: FastifyReply, cause: CutCause): void {
  const { raw } = reply;
  if (reply.sent || raw.headersSent) {
    raw.destroy();
    return;
  }
  reply.send(CUT_ANSWERS[cause]);
}
