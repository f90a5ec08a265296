import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { problem } from "../errors.ts";

/** Stands for what a PUT changes of an object, and for nothing else: use of a key does not outrun an edit of it. */
function etagOf({ id, spec }: { readonly id: string; readonly spec: unknown }): string {
  return `"${createHash("sha256")
    .update(JSON.stringify([id, spec]))
    .digest("base64url")
    .slice(0, 22)}"`;
}

/** An object as an answer, with what a PUT of it has to name. */
export function withEtag<T extends { readonly id: string; readonly spec: unknown }>(reply: FastifyReply, object: T): T {
  reply.header("etag", etagOf(object));
  return object;
}

/**
 * @param ifMatch the header: entity tags separated by commas, or `*`
 * @throws Problem `precondition_required`, where it is missing
 */
export function requireIfMatch(ifMatch: string | undefined): string {
  if (ifMatch === undefined) throw problem("precondition_required");
  return ifMatch;
}

/** @throws Problem `precondition_failed` for an object that is another by now */
export function checkIfMatch(
  ifMatch: string | undefined,
  object: { readonly id: string; readonly spec: unknown },
): void {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  const tags = ifMatch.split(",").map((tag) => tag.trim());
  if (!tags.includes(etagOf(object))) throw problem("precondition_failed");
}
