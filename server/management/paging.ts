import type { preValidationHookHandler } from "fastify";
import { isId } from "../../store/database/ids.ts";
import { problem } from "../http/problems/problem.ts";

/**
 * Returns one page of a list that was read one row too far. A cursor is the last id of the page before, and grants
 * nothing.
 */
export function pageOf<Json extends { readonly id: string }>(
  items: readonly Json[],
  limit: number,
): { items: readonly Json[]; nextCursor: string | null } {
  const shown = items.slice(0, limit);
  return { items: shown, nextCursor: items.length > limit ? (shown.at(-1)?.id ?? null) : null };
}

/** Checks a cursor. @throws Problem `invalid_request` for a text that is no id */
export function readCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined || isId(cursor)) return cursor;
  throw problem("invalid_request", "The cursor is not one of ours: pass a nextCursor unchanged.");
}

/** Sets an empty object as the body of a request without one. */
export const bodyMayBeMissing: preValidationHookHandler = (request, _reply, done) => {
  // `null` is a body, and stays for the schema to refuse.
  if (request.body === undefined) request.body = {};
  done();
};
