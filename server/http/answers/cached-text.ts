import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { keepNewest } from "../../context/bounded-map.ts";
import { PacedResponse } from "./paced-response.ts";

/** Texts of one route that are kept: a server is reached by few names. */
const MOST_KEPT = 4;

/**
 * Answers with a text that is the same for as long as the process lives: made when it is first asked for, and sent again
 * only to those who do not have it.
 *
 * @param type its media type
 * @param variantOf what of a request the text depends on, of which there is little; on nothing where it is left out
 */
export function cachedText(
  type: string,
  make: (variant: string) => string,
  variantOf: (request: FastifyRequest) => string = () => "",
): RouteHandlerMethod {
  const kept = new Map<string, Tagged>();
  return (request, reply) => {
    const variant = variantOf(request);
    const { text, etag } = kept.get(variant) ?? tagged(make(variant));
    keepNewest(kept, variant, { text, etag }, MOST_KEPT);
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

type Tagged = { readonly text: Buffer; readonly etag: string };

function tagged(content: string): Tagged {
  const text = Buffer.from(content);
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"` };
}
