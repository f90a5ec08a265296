import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { problem } from "../http/problems/problem.ts";

/** What a PUT changes of an object and no answer shows: it is in the entity tag alone, and no serialiser sees it. */
export const UNSEEN: unique symbol = Symbol("unseen");

/** An object as it is shown, for its entity tag. */
type Tagged = { readonly id: string; readonly spec: unknown; readonly [UNSEEN]?: string };

/**
 * Stands for what a PUT changes of an object, and for nothing else: use of a key does not outrun an edit of it. It has no
 * hyphen, with which a proxy adds the name of a coding.
 */
export function etagOf({ id, spec, [UNSEEN]: unseen }: Tagged): string {
  return `"${createHash("sha256")
    .update(JSON.stringify(unseen === undefined ? [id, spec] : [id, spec, unseen]))
    .digest("hex")
    .slice(0, 32)}"`;
}

/** An object as an answer, with what a PUT of it has to name. */
export function withEtag<T extends Tagged>(reply: FastifyReply, object: T): T {
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

/** One of ours, as it was answered or with what a proxy made of it; each part begins with what the one before has not. */
const OURS = /^(?:W\/)?("[0-9a-f]+)(?:-+(?:gzip|br|zstd|deflate))?"$/;

/**
 * An entity tag as it was answered. A proxy that compresses an answer makes the tag weak, or adds the coding's name; ours
 * are of an object, of which every coding says the same.
 */
function asAnswered(tag: string): string | undefined {
  const [, ours] = OURS.exec(tag.trim()) ?? [];
  return ours && `${ours}"`;
}

/** @throws Problem `precondition_failed` for an object that is another by now */
export function checkIfMatch(ifMatch: string | undefined, object: Tagged): void {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  const tags = ifMatch.split(",").map(asAnswered);
  if (!tags.includes(etagOf(object))) throw problem("precondition_failed");
}
