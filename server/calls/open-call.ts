import type { FastifyReply, FastifyRequest, preParsingHookHandler, RequestPayload } from "fastify";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { LimitOwner } from "../../domain/access/rate-limit.ts";
import { hasBody } from "../http/bodies/body-framing.ts";
import { heldBytes } from "../http/bodies/held-bytes.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { STALE_VIEW } from "../http/problems/problem-of.ts";
import type { BodyHolder } from "./body-budget.ts";
import type { CutCause, OpenBody, OpenCall, OpenStreams } from "./calls.ts";

/** Answer of a process whose bodies take up all the memory that it has for them. */
const FULL = problem("unavailable", "This server holds as many bodies as it can: try again.");

/** Answers to a call that is cut before anything was sent, by the cause. */
export const CUT_PROBLEMS: Readonly<Record<CutCause, Problem>> = {
  key_ended: problem("unauthorized"),
  stale_index: STALE_VIEW,
  slow_body: problem("request_timeout"),
  no_room: FULL,
  stopping: problem("unavailable", "This server is stopping: try again."),
};

/**
 * Tracks a request that was let through. The listener that sees its response close ends the call; the code that goes on
 * with the call may set how it is cut.
 *
 * @returns the call, or the owner that has as many calls under way as it may
 */
export function trackCall(
  streams: Pick<OpenStreams, "track">,
  request: FastifyRequest,
  reply: FastifyReply,
  key: KeyRecord,
): OpenCall | LimitOwner {
  return streams.track(key, (cause) => endCall(reply, cause), request.raw);
}

/** Ends a call at once: with the answer if nothing was sent, else by breaking its connection. */
function endCall(reply: FastifyReply, cause: CutCause): void {
  const { raw } = reply;
  if (reply.sent || raw.headersSent) {
    raw.destroy();
    return;
  }
  reply.send(CUT_PROBLEMS[cause]);
}

/** Answers to a call beyond a limit of concurrent calls, by the owner of the limit. */
export const TOO_MANY_CALLS: Readonly<Record<LimitOwner, Problem>> = {
  key: tooManyOf("This key"),
  team: tooManyOf("The team"),
  route: tooManyOf("The route"),
};

function tooManyOf(owner: string): Problem {
  const detail = `${owner} has reached its limit of concurrent calls: try again when one of them has ended.`;
  return problem("rate_limited", detail, { "retry-after": "1" });
}

/** Answers to a call whose body finds no space, by the owner of the bound. */
const BODY_REFUSALS = {
  key: heldByOthers("key or token"),
  team: heldByOthers("team"),
  process: FULL,
} as const;

function heldByOthers(of: string): Problem {
  const detail = `The open calls of this ${of} have reached their limit of memory: try again later.`;
  return problem("rate_limited", detail, { "retry-after": "1" });
}

/**
 * Notes so many bytes more of a body that is kept as long as its call lasts; returns the problem to answer if there is
 * no space for them.
 */
export function reserveBodyBytes(body: OpenBody | null, bytes: number): Problem | undefined {
  const full = body?.keep(bytes);
  return full && BODY_REFUSALS[full];
}

/** Counts the body of a call, which the framework reads. */
export const keepBody: preParsingHookHandler = (request, reply, payload, done) => {
  if (hasBody(request.raw)) keepPieces(request.openCall, reply, payload);
  done(null, payload);
};

/**
 * Counts the body of a request without a key, which the framework reads, too.
 *
 * @param holderOf returns what the body is counted for; undefined for a body that is bounded elsewhere
 */
export function keepKeylessBody(
  streams: Pick<OpenStreams, "openBody">,
  holderOf: (request: FastifyRequest) => BodyHolder | undefined,
): preParsingHookHandler {
  return (request, reply, payload, done) => {
    // The response of a caller who has left does not close again: the body would keep its budget for ever.
    const holder = hasBody(request.raw) && !reply.raw.destroyed ? holderOf(request) : undefined;
    if (holder !== undefined) {
      const body = streams.openBody(holder, request.raw, () => endCall(reply, "no_room"));
      reply.raw.once("close", () => body.end());
      keepPieces(body, reply, payload);
    }
    done(null, payload);
  };
}

/** Bounds the wait for the body of a request without a key, which the framework reads. */
export function awaitKeylessBody(streams: Pick<OpenStreams, "awaitBody">): preParsingHookHandler {
  return (request, reply, payload, done) => {
    if (request.openCall === null && hasBody(request.raw) && !reply.raw.destroyed) {
      reply.raw.once(
        "close",
        streams.awaitBody(request.raw, () => endCall(reply, "slow_body")),
      );
    }
    done(null, payload);
  };
}

function keepPieces(body: OpenBody | null, reply: FastifyReply, payload: RequestPayload): void {
  // In the same iteration as the framework's own listener, which misses nothing of it.
  payload.on("data", (piece: Buffer) => {
    const refusal = reply.sent ? undefined : reserveBodyBytes(body, heldBytes(piece));
    if (refusal !== undefined) reply.send(refusal);
  });
}
