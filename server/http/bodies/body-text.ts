import type { preValidationHookHandler } from "fastify";
import { problem } from "../problems/problem.ts";

/** Deeper than any body that means something, and less deep than what walks one by calling itself can go. */
const MAX_DEPTH = 32;

/**
 * Refuses what no database stores as it is, and what is nested without end, in whatever field it stands: before
 * anything that walks a body by calling itself.
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
  return typeof value === "string" && (value.includes("\0") || !value.isWellFormed());
}

/** The fields' names too: some are kept. */
function within(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === "object" && value !== null ? Object.entries(value).flat() : [];
}
