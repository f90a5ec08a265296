import type { FastifyReply, FastifyRequest, preParsingHookHandler } from "fastify";
import { heldBytes } from "./held-bytes.ts";

/** Bytes that bodies of unknown callers may hold of a thread's memory for a route, until they are answered. */
const MAX_HELD = 16 << 20;

type HeldBody = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  bytes: number;
  /** True if the whole body has been read: it is being answered. */
  isWhole: boolean;
};

/**
 * Bounds what unknown callers can have a thread hold for a route, however many there are. At the bound, the body that
 * has been waited for the longest is dropped: callers that hold their bodies back cannot crowd out others.
 *
 * @param answer ends the call of a dropped body: nothing more of it is read
 */
export function boundUnknownBodies(
  answer: (request: FastifyRequest, reply: FastifyReply) => void,
): preParsingHookHandler {
  let held = 0;
  /** Bodies, the oldest first. */
  const bodies = new Set<HeldBody>();

  function forget(one: HeldBody): void {
    if (bodies.delete(one)) held -= one.bytes;
  }

  function evict(): void {
    for (const one of bodies) {
      if (held <= MAX_HELD) return;
      if (one.isWhole || one.reply.sent) continue;
      forget(one);
      answer(one.request, one.reply);
    }
  }

  return (request, reply, payload, done) => {
    // If the caller has left already, no event would come to forget the body.
    if (request.managementPrincipal !== null || reply.raw.destroyed) return done(null, payload);
    const own: HeldBody = { request, reply, bytes: 0, isWhole: false };
    bodies.add(own);
    // Added in the same event-loop iteration as the framework's own listener, so that no piece is missed.
    payload.on("data", (piece: Buffer) => {
      if (!bodies.has(own)) return;
      const bytes = heldBytes(piece);
      own.bytes += bytes;
      held += bytes;
      evict();
    });
    payload.once("end", () => {
      own.isWhole = true;
    });
    reply.raw.once("close", () => forget(own));
    done(null, payload);
  };
}
