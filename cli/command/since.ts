import { DAY_MS, parseDuration } from "../../domain/duration.ts";
import { UsageError } from "./usage-error.ts";

/**
 * A moment as a flag gives it: so long ago, or a time.
 *
 * @param now milliseconds since the epoch
 * @returns milliseconds since the epoch; undefined where the flag is not given
 * @throws UsageError for what is neither
 */
export function parseMoment(flag: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : now - msOf(text);
  if (!Number.isNaN(at)) return at;
  throw new UsageError(`${flag} ${text}: write a duration such as 24h or 30d, or a time such as 2026-11-21T08:00:00Z`);
}

function msOf(text: string): number {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days !== undefined) return Number(days) * DAY_MS;
  try {
    return parseDuration(text);
  } catch {
    return Number.NaN;
  }
}
