import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { problem } from "../http/problems/problem.ts";

/**
 * Key of a property for what a PUT changes of an object and no answer shows. It counts for the entity tag, and no
 * serialiser sees it.
 */
export const UNSEEN: unique symbol = Symbol("unseen");

/** Object as it is shown, for its entity tag. */
type Tagged = { readonly id: string; readonly spec: unknown; readonly [UNSEEN]?: string };

/**
 * Returns the entity tag for what a PUT changes of an object, and for nothing else: a use of a key does not outdate an
 * edit of it. It has no hyphen, which a proxy puts before the name of a coding.
 */
export function etagOf({ id, spec, [UNSEEN]: unseen }: Tagged): string {
  return `"${createHash("sha256")
    .update(JSON.stringify(unseen === undefined ? [id, spec] : [id, spec, unseen]))
    .digest("hex")
    .slice(0, 32)}"`;
}

/** Sets the entity tag that a PUT of the object has to name, and returns the object. */
export function withEtag<T extends Tagged>(reply: FastifyReply, object: T): T {
  reply.header("etag", etagOf(object));
  return object;
}

/**
 * Requires the header `If-Match`.
 *
 * @param ifMatch the header: entity tags separated by commas, or `*`
 * @throws Problem `precondition_required` if it is missing
 */
export function requireIfMatch(ifMatch: string | undefined): string {
  if (ifMatch === undefined) throw problem("precondition_required");
  return ifMatch;
}

/**
 * Matches an entity tag of this API, as it was sent or as a proxy changed it. Each part of the pattern begins with a
 * character that the part before cannot match.
 */
const OURS = /^(?:W\/)?("[0-9a-f]+)(?:-+(?:gzip|br|zstd|deflate))?"$/;

/**
 * Restores an entity tag as it was sent. A proxy that compresses an answer makes the tag weak, or adds the coding's
 * name; our tags are those of an object, which every coding shows alike.
 */
function asAnswered(tag: string): string | undefined {
  const [, ours] = OURS.exec(tag.trim()) ?? [];
  return ours && `${ours}"`;
}

/** Checks a precondition. @throws Problem `precondition_failed` for an object that has changed */
export function checkIfMatch(ifMatch: string | undefined, object: Tagged): void {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  const tags = ifMatch.split(",").map(asAnswered);
  if (!tags.includes(etagOf(object))) throw problem("precondition_failed");
}
