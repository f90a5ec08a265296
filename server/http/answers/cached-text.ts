import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { keepNewest } from "../../context/bounded-map.ts";
import { PacedResponse } from "./paced-response.ts";

/** Maximum number of texts that are kept for a route: a server is reached by few names. */
const MOST_KEPT = 4;

/**
 * Serves a text that stays the same for as long as the process lives. Makes it when it is first requested, and sends it
 * only to callers that do not have it.
 *
 * @param type media type of the text
 * @param variantOf returns the part of a request that the text depends on, which has few values; empty by default
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

/** Sends bytes that the process keeps for all: they are held once, however many callers read them. */
export function sendShared(reply: FastifyReply, bytes: Buffer): FastifyReply {
  if (reply.raw instanceof PacedResponse) reply.raw.isShared = true;
  return reply.send(bytes);
}

type Tagged = { readonly text: Buffer; readonly etag: string };

function tagged(content: string): Tagged {
  const text = Buffer.from(content);
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"` };
}
