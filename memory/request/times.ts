import { InvalidAtomError } from "../../store/database/errors.ts";

/** Milliseconds since the epoch of the years 1 to 9999: what RFC 3339 and every database have a name for. */
export const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
export const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * A time as a caller wrote it, in milliseconds since the epoch.
 *
 * @param text has the form of RFC 3339
 * @throws InvalidAtomError for one that no calendar has, such as of 30 February, which `Date` takes for one of March
 */
export function readTime(field: string, text: string): number {
  const at = Date.parse(text);
  const isDay = new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10));
  if (isDay && at >= EARLIEST && at <= LATEST) return at;
  throw new InvalidAtomError(
    `"${field}" is no time: write it as RFC 3339 has it, such as 2027-01-31T00:00:00Z, of the years 1 to 9999.`,
  );
}
