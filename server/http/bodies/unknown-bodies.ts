import type { FastifyReply, FastifyRequest, preParsingHookHandler } from "fastify";
import { heldBytes } from "./held-bytes.ts";

/** What bodies of callers who are not known take of a thread's memory for a route, until they are answered. In bytes. */
const MAX_HELD = 16 << 20;

type Held = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  bytes: number;
  /** Whether all of it has been read: it is being answered. */
  isWhole: boolean;
};

/**
 * Bounds what callers who are not known can have a thread hold for a route, however many of them there are. Where there
 * is no more room, the body that is waited for the longest makes it: one that is held back crowds out no other.
 *
 * @param answer ends the call of whose body there is no room for: nothing more of it is read
 */
export function boundUnknownBodies(
  answer: (request: FastifyRequest, reply: FastifyReply) => void,
): preParsingHookHandler {
  let held = 0;
  /** The oldest first. */
  const bodies = new Set<Held>();

  function forget(one: Held): void {
    if (bodies.delete(one)) held -= one.bytes;
  }

  function makeRoom(): void {
    for (const one of bodies) {
      if (held <= MAX_HELD) return;
      if (one.isWhole || one.reply.sent) continue;
      forget(one);
      answer(one.request, one.reply);
    }
  }

  return (request, reply, payload, done) => {
    // Of a caller who has left already no event would come to forget the body by.
    if (request.managementPrincipal !== null || reply.raw.destroyed) return done(null, payload);
    const own: Held = { request, reply, bytes: 0, isWhole: false };
    bodies.add(own);
    // In the same turn as the framework's own listener, which misses nothing of it.
    payload.on("data", (piece: Buffer) => {
      if (!bodies.has(own)) return;
      const bytes = heldBytes(piece);
      own.bytes += bytes;
      held += bytes;
      makeRoom();
    });
    payload.once("end", () => {
      own.isWhole = true;
    });
    reply.raw.once("close", () => forget(own));
    done(null, payload);
  };
}
