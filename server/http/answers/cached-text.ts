import { createHash } from "node:crypto";
import type { FastifyReply, RouteHandlerMethod } from "fastify";
import { PacedResponse } from "./paced-response.ts";

/**
 * Answers with a text that is the same for as long as the process lives: made when it is first asked for, and sent again
 * only to those who do not have it.
 *
 * @param type its media type
 */
export function cachedText(type: string, make: () => string): RouteHandlerMethod {
  let made: { readonly text: Buffer; readonly etag: string } | undefined;
  return (request, reply) => {
    made ??= tagged(make());
    const { text, etag } = made;
    reply.headers({ etag, "cache-control": "no-cache" });
    const known = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
    if (known?.includes(etag)) return reply.code(304).send();
    return sendShared(reply.type(type), text);
  };
}

/** Answers with bytes that the process keeps for all: however many read them, they are held once. */
export function sendShared(reply: FastifyReply, bytes: Buffer): FastifyReply {
  if (reply.raw instanceof PacedResponse) reply.raw.isShared = true;
  return reply.send(bytes);
}

function tagged(content: string): { text: Buffer; etag: string } {
  const text = Buffer.from(content);
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"` };
}
