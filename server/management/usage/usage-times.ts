import { DAY_MS, HOUR_MS } from "../../../domain/duration.ts";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import type { UsageStep } from "../../../store/usage/usage-question.ts";
import { HOURS_KEPT_DAYS } from "../../../store/usage/usage-tables.ts";
import { problem } from "../../http/problems/problem.ts";

/** Days that a query covers up to its end if it gives no start. */
const DEFAULT_DAYS = 30;

/** Time span in whole hours or days in UTC, from inclusive, to exclusive, in milliseconds since the epoch. */
export type UsageSpan = { readonly from: number; readonly to: number };

/**
 * Returns the whole hours of a query, or whole days if it is by day or hours are no longer kept. It begins with the first
 * day that is kept.
 *
 * @param now milliseconds since the epoch
 * @param retentionMs milliseconds that days are kept
 * @throws Problem `invalid_request` if nothing is between the times, and for hours or days that are no longer kept
 */
export function usageSpan(
  { since, until }: { readonly since: number | undefined; readonly until: number | undefined },
  step: UsageStep,
  now: number,
  retentionMs: number,
): UsageSpan {
  const to = Math.min(until ?? now, now + DAY_MS);
  const from = Math.max(since ?? to - DEFAULT_DAYS * DAY_MS, 0);
  if (from >= to) {
    throw problem(
      "invalid_request",
      "There is nothing between since and until: since is the earlier one, and not to come.",
    );
  }
  // Leaves a margin of a day, so that no query reads an hour that is being deleted.
  const isOld = (at: number) => at < now - (HOURS_KEPT_DAYS - 1) * DAY_MS;
  if (step === "hour" && isOld(from)) {
    throw problem(
      "invalid_request",
      `Hours are kept for ${HOURS_KEPT_DAYS - 1} days: ask for a later since, or with step=day.`,
    );
  }
  const lengthAt = (at: number) => (step === "day" || isOld(at) ? DAY_MS : HOUR_MS);
  // Leaves a margin of an hour, so that no query reads a day that is being deleted.
  const firstKept = Math.ceil((now + HOUR_MS - retentionMs) / DAY_MS) * DAY_MS;
  if (to <= firstKept) {
    const day = rfc3339(firstKept).slice(0, 10);
    throw problem("invalid_request", `Days before ${day} are no longer kept: ask for a later until.`);
  }
  return {
    from: Math.max(Math.floor(from / lengthAt(from)) * lengthAt(from), firstKept),
    to: Math.ceil(to / lengthAt(to)) * lengthAt(to),
  };
}

/** Returns when the step ends that begins at `at`, in milliseconds since the epoch. */
export function endOfStep(at: number, step: UsageStep, { to }: UsageSpan): number {
  return step === "total" ? to : Math.min(to, at + (step === "hour" ? HOUR_MS : DAY_MS));
}
