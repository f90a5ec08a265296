import type { FastifyReply, FastifyRequest, preParsingHookHandler } from "fastify";

/** What bodies of callers who are not known take of a thread's memory at most, until they are answered. In bytes. */
const MAX_HELD = 16 << 20;

/**
 * Bounds what callers who are not known can have a thread hold, however many of them there are.
 *
 * @param answer ends the call of whose body there is no room for: nothing more of it is read
 */
export function boundUnsignedBodies(
  answer: (request: FastifyRequest, reply: FastifyReply) => void,
): preParsingHookHandler {
  let held = 0;
  return (request, reply, payload, done) => {
    if (request.managementPrincipal !== null) return done(null, payload);
    let own: number | undefined = 0;
    // In the same turn as the framework's own listener, which misses nothing of it.
    payload.on("data", (piece: Buffer) => {
      if (own === undefined) return;
      own += piece.length;
      held += piece.length;
      if (held > MAX_HELD && !reply.sent) answer(request, reply);
    });
    reply.raw.once("close", () => {
      held -= own ?? 0;
      own = undefined;
    });
    done(null, payload);
  };
}
