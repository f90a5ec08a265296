import type { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { rfc3339 } from "../../domain/rfc3339.ts";

/** Answers with a file, which a browser saves and does not show. Its text is UTF-8. */
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

/** The name of a file that says what it has, and of when. @param at milliseconds since the epoch */
export function fileNameAt(what: "audit" | "keys", at: number, ending: string): string {
  return `keyplane-${what}-${rfc3339(at).replaceAll(":", "-")}.${ending}`;
}
