import type { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { rfc3339 } from "../../domain/rfc3339.ts";

/** Sends a file, in UTF-8, that a browser saves and does not show. */
export function sendAttachment(
  reply: FastifyReply,
  { name, type }: { readonly name: string; readonly type: string },
  content: string | Readable,
): FastifyReply {
  return reply
    .header("content-disposition", `attachment; filename="${name}"`)
    .type(`${type}; charset=utf-8`)
    .send(content);
}

/** Returns a file name that tells the content and the time of the file. @param at milliseconds since the epoch */
export function fileNameAt(what: "audit" | "keys", at: number, ending: string): string {
  return `keyplane-${what}-${rfc3339(at).replaceAll(":", "-")}.${ending}`;
}
