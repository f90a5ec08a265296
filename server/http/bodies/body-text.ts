import type { preValidationHookHandler } from "fastify";
import { isStorableText } from "../../../domain/storable-text.ts";
import { problem } from "../problems/problem.ts";

/** Maximum nesting: deeper than any meaningful body, and less than recursive code can walk. */
const MAX_DEPTH = 32;

/**
 * Refuses text that no database stores as it is, in any field, and bodies that are nested too deeply. Runs before any
 * recursive code walks the body.
 */
export const refuseUnstorableBodies: preValidationHookHandler = (request, _reply, done) => {
  const diagnostic = faultOf(request.body);
  done(diagnostic === undefined ? undefined : problem("invalid_request", diagnostic));
};

function faultOf(body: unknown): string | undefined {
  let level = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return "The body is nested too deeply.";
    if (level.some(isOddText)) return "The body must not contain a NUL character, or half of a surrogate pair.";
    level = level.flatMap(within);
  }
  return undefined;
}

function isOddText(value: unknown): boolean {
  return typeof value === "string" && !isStorableText(value);
}

/** Returns the values within a value, and the names of its fields, some of which are stored. */
function within(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === "object" && value !== null ? Object.entries(value).flat() : [];
}
