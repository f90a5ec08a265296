import { DAY_MS, HOUR_MS } from "../../../domain/duration.ts";
import type { UsageStep } from "../../../store/usage/usage-question.ts";

const MINUTE_MS = 60_000;

/** Time that pages show usage of, split into intervals, the last interval still under way. */
export type UsageRange = {
  readonly name: "hour" | "day" | "month";
  readonly title: string;
  readonly every: string;
  readonly step: UsageStep;
  readonly lengthMs: number;
  readonly number: number;
  /** Interval of labels: every `labelEvery`th interval has its label. */
  readonly labelEvery: number;
};

const HOUR: UsageRange = {
  ...{ name: "hour", title: "Last hour", every: "every 5 minutes", step: "slot" },
  ...{ lengthMs: 5 * MINUTE_MS, number: 12, labelEvery: 3 },
};
const DAY: UsageRange = {
  ...{ name: "day", title: "Last day", every: "every hour", step: "hour" },
  ...{ lengthMs: HOUR_MS, number: 24, labelEvery: 6 },
};
const MONTH: UsageRange = {
  ...{ name: "month", title: "Last 30 days", every: "every day", step: "day" },
  ...{ lengthMs: DAY_MS, number: 30, labelEvery: 7 },
};
export const USAGE_RANGES = [HOUR, DAY, MONTH] as const;

/** Reads the range of a URL: a day unless it names another that exists. */
export function usageRange(value: unknown): UsageRange {
  return USAGE_RANGES.find(({ name }) => name === value) ?? DAY;
}

/** Returns the starts of a range's intervals, in milliseconds since the epoch. */
export function piecesOf({ lengthMs, number }: UsageRange, now: number): number[] {
  const last = Math.floor(now / lengthMs);
  return Array.from({ length: number }, (_, i) => (last - number + 1 + i) * lengthMs);
}
