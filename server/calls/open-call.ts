import type { FastifyReply, FastifyRequest, preParsingHookHandler, RequestPayload } from "fastify";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { LimitOwner } from "../../domain/access/rate-limit.ts";
import { hasBody } from "../http/bodies/body-framing.ts";
import { heldBytes } from "../http/bodies/held-bytes.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { STALE_VIEW } from "../http/problems/problem-of.ts";
import type { BodyHolder } from "./body-room.ts";
import type { CutCause, OpenBody, OpenCall, OpenStreams } from "./calls.ts";

/** For a process whose bodies take up all the room that it has for them. */
const FULL = problem("unavailable", "This server holds as many bodies as it can: try again.");

/** The answer to a call that is cut before anything was sent. */
export const CUT_PROBLEMS: Readonly<Record<CutCause, Problem>> = {
  key_ended: problem("unauthorized"),
  stale_index: STALE_VIEW,
  slow_body: problem("request_timeout"),
  no_room: FULL,
  stopping: problem("unavailable", "This server is stopping: try again."),
};

/**
 * Tracks a request that was let through. The listener that sees its response close ends the call; the code that goes on
 * with the call may set how it is cut. Whose calls under way are as many as they may be, where that is so.
 */
export function trackCall(
  streams: Pick<OpenStreams, "track">,
  request: FastifyRequest,
  reply: FastifyReply,
  key: KeyRecord,
): OpenCall | LimitOwner {
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

/** The answers to a call beyond a limit of concurrent calls, by whose it is. */
export const TOO_MANY_CALLS: Readonly<Record<LimitOwner, Problem>> = {
  key: tooManyOf("This key"),
  team: tooManyOf("The team"),
  route: tooManyOf("The route"),
};

function tooManyOf(owner: string): Problem {
  const detail = `${owner} has reached its limit of concurrent calls: try again when one of them has ended.`;
  return problem("rate_limited", detail, { "retry-after": "1" });
}

/** The answer to a call whose body finds no room. */
const NO_ROOM = {
  key: heldByOthers("key or token"),
  team: heldByOthers("team"),
  process: FULL,
} as const;

function heldByOthers(of: string): Problem {
  const detail = `The open calls of this ${of} have reached their limit of memory: try again later.`;
  return problem("rate_limited", detail, { "retry-after": "1" });
}

/**
 * Notes so many bytes more of a body that is kept as long as its call lasts; the problem to answer where there is no
 * room.
 */
export function roomFor(body: OpenBody | null, bytes: number): Problem | undefined {
  const full = body?.keep(bytes);
  return full && NO_ROOM[full];
}

/** Counts a body of a call that the framework reads. */
export const keepBody: preParsingHookHandler = (request, reply, payload, done) => {
  if (hasBody(request.raw)) keepPieces(request.openCall, reply, payload);
  done(null, payload);
};

/**
 * Counts a body of a request that no key stands for: the framework reads it, too.
 *
 * @param holderOf whose it is; undefined for one that is bounded elsewhere
 */
export function keepKeylessBody(
  streams: Pick<OpenStreams, "openBody">,
  holderOf: (request: FastifyRequest) => BodyHolder | undefined,
): preParsingHookHandler {
  return (request, reply, payload, done) => {
    // The response of a caller who has left does not close again: the body would keep its room for ever.
    const holder = hasBody(request.raw) && !reply.raw.destroyed ? holderOf(request) : undefined;
    if (holder !== undefined) {
      const body = streams.openBody(holder, request.raw, () => endCall(reply, "no_room"));
      reply.raw.once("close", () => body.end());
      keepPieces(body, reply, payload);
    }
    done(null, payload);
  };
}

function keepPieces(body: OpenBody | null, reply: FastifyReply, payload: RequestPayload): void {
  // In the same turn as the framework's own listener, which misses nothing of it.
  payload.on("data", (piece: Buffer) => {
    const refusal = reply.sent ? undefined : roomFor(body, heldBytes(piece));
    if (refusal !== undefined) reply.send(refusal);
  });
}
