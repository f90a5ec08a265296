import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest, preParsingHookHandler } from "fastify";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { CutCause, OpenCall, OpenStreams } from "../deps.ts";
import { type Problem, problem, STALE_VIEW } from "../http/errors.ts";

/** What a caller is told whose call is cut before anything was sent. */
export const CUT_PROBLEMS: Readonly<Record<CutCause, Problem>> = {
  key_ended: problem("unauthorized"),
  stale_index: STALE_VIEW,
  slow_body: problem("request_timeout"),
  stopping: problem("unavailable", "This server is stopping: try again."),
};

/**
 * Watches a request that was let through, until whoever sees its response close ends it; whoever goes on with it may
 * say how it is cut.
 */
export function trackCall(
  streams: OpenStreams,
  request: FastifyRequest,
  reply: FastifyReply,
  key: KeyRecord,
): OpenCall {
  return streams.track(key, (cause) => endCall(reply, cause), request.raw);
}

/** Ends a call at once: with the answer where nothing was sent, else by breaking its connection. */
function endCall(reply: FastifyReply, cause: CutCause): void {
  const { raw } = reply;
  if (reply.sent || raw.headersSent) {
    raw.destroy();
    return;
  }
  reply.send(CUT_PROBLEMS[cause]);
}

/** What a caller is told whose key has as many calls under way as it may. */
export const TOO_MANY_CALLS = problem(
  "rate_limited",
  "This key has as many calls under way as it may: try again when one of them has ended.",
  { "retry-after": "1" },
);

/** What a caller is told whose body finds no room. */
const NO_ROOM = {
  key: problem("rate_limited", "The calls of this key that are under way hold as much as they may: try again later.", {
    "retry-after": "1",
  }),
  process: problem("unavailable", "This server holds as many bodies as it can: try again."),
} as const;

/**
 * Notes the next piece of a body that is kept as long as its call lasts; what its caller is told where there is no
 * room.
 */
export function roomFor(call: OpenCall | null, piece: Buffer): Problem | undefined {
  const full = call?.keep(piece.length);
  return full && NO_ROOM[full];
}

/** Counts a body that the framework reads. */
export const keepBody: preParsingHookHandler = (request, reply, payload, done) => {
  const { openCall } = request;
  // In the same turn as the framework's own listener, which misses nothing of it.
  if (hasBody(request.raw)) {
    payload.on("data", (piece: Buffer) => {
      const refusal = roomFor(openCall, piece);
      if (refusal !== undefined && !reply.sent) reply.send(refusal);
    });
  }
  done(null, payload);
};

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}
