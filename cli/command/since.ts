import { DAY_MS, parseDuration } from "../../domain/duration.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import { UsageError } from "./usage-error.ts";

/** Pattern of a date, or of a time with its zone: without a zone, it would be another moment on each machine. */
const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/**
 * Parses a moment in a flag: a time, or a duration before now.
 *
 * @param now milliseconds since the epoch
 * @returns milliseconds since the epoch; undefined if the flag is not given
 * @throws UsageError for anything else
 */
export function parseMoment(flag: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const at = /^\d{4}-/.test(text) ? timeOf(text) : now - msOf(text);
  if (!Number.isNaN(at)) return at;
  throw new UsageError(`${flag} ${text}: write a duration such as 24h or 30d, or a time such as 2026-11-21T08:00:00Z`);
}

/** Parses a date or time; NaN if it is invalid, such as February 30. */
function timeOf(text: string): number {
  const day = TIME.exec(text)?.[1];
  const begin = day === undefined ? Number.NaN : Date.parse(day);
  return !Number.isNaN(begin) && rfc3339(begin).startsWith(`${day}T`) ? Date.parse(text) : Number.NaN;
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
