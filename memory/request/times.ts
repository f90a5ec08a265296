import { isOnCalendarDay } from "../../domain/rfc3339.ts";
import { InvalidAtomError } from "../../store/database/errors.ts";

/** First and last millisecond, since the epoch, of the years 1 to 9999, which RFC 3339 and every database can name. */
export const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
export const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Reads a time as a caller wrote it, in milliseconds since the epoch.
 *
 * @param text has the form of RFC 3339
 * @throws InvalidAtomError for a time that is not in the calendar, such as of 30 February
 */
export function readTime(field: string, text: string): number {
  const at = Date.parse(text.toUpperCase());
  if (isOnCalendarDay(text) && at >= EARLIEST && at <= LATEST) return at;
  throw new InvalidAtomError(
    `"${field}" is no time: write it as RFC 3339 has it, such as 2027-01-31T00:00:00Z, of the years 1 to 9999.`,
  );
}
