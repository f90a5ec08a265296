import { DAY_MS, HOUR_MS } from "../../../domain/duration.ts";
import type { UsageStep } from "../../../store/usage/usage-question.ts";
import { HOURS_KEPT_DAYS } from "../../../store/usage/usage-tables.ts";
import { problem } from "../../http/problems/problem.ts";

/** What is asked for where no beginning is given. */
const DEFAULT_DAYS = 30;

/** Milliseconds since the epoch, whole hours or days in UTC: from then on, and before then. */
export type UsageSpan = { readonly from: number; readonly to: number };

/**
 * The whole hours that a question is about, or the whole days where hours are not kept any more, and by day.
 *
 * @param now milliseconds since the epoch
 * @throws Problem `invalid_request` where nothing is between the times, and for hours that are not kept any more
 */
export function usageSpan(
  { since, until }: { readonly since: number | undefined; readonly until: number | undefined },
  step: UsageStep,
  now: number,
): UsageSpan {
  const to = Math.min(until ?? now, now + DAY_MS);
  const from = Math.max(since ?? to - DEFAULT_DAYS * DAY_MS, 0);
  if (from >= to) {
    throw problem(
      "invalid_request",
      "There is nothing between since and until: since is the earlier one, and not to come.",
    );
  }
  // A day is left, so that no hour is asked for that is being deleted.
  const isOld = (at: number) => at < now - (HOURS_KEPT_DAYS - 1) * DAY_MS;
  if (step === "hour" && isOld(from)) {
    throw problem(
      "invalid_request",
      `Hours are kept for ${HOURS_KEPT_DAYS - 1} days: ask for a later since, or with step=day.`,
    );
  }
  const lengthAt = (at: number) => (step === "day" || isOld(at) ? DAY_MS : HOUR_MS);
  return {
    from: Math.floor(from / lengthAt(from)) * lengthAt(from),
    to: Math.ceil(to / lengthAt(to)) * lengthAt(to),
  };
}

/** When the piece of time ends that begins at a moment. */
export function endOfStep(at: number, step: UsageStep, { to }: UsageSpan): number {
  return step === "total" ? to : Math.min(to, at + (step === "hour" ? HOUR_MS : DAY_MS));
}
