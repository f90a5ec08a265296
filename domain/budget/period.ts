import { rfc3339Millis } from "../rfc3339.ts";

/** Kind of period after which a budget resets. */
export type BudgetPeriod = "Day" | "Week" | "Month" | "Total";

/** A period of a budget. Times are milliseconds since the epoch; a week begins on Monday. */
export type Period = {
  /** First day of the period by the calendar of its time zone, such as `2026-11-01`; `total` for an endless period. */
  readonly name: string;
  readonly beginsAt: number;
  /** End of the period; Infinity if it has none. */
  readonly endsAt: number;
};

const DAY_MS = 24 * 3_600_000;
/** Upper bound of the difference between any time zone and UTC, in milliseconds. */
const FURTHEST = 15 * 3_600_000;
const TOTAL: Period = { name: "total", beginsAt: Number.NEGATIVE_INFINITY, endsAt: Number.POSITIVE_INFINITY };

/**
 * Returns the period that contains a given time, by the calendar of a time zone. It begins with the first moment of its
 * first day, which is not midnight if a clock is put forward then; so a day may have 23 or 25 hours.
 *
 * @param timeZone an IANA name; UTC replaces a name that is not known here
 * @param at milliseconds since the epoch
 */
export function periodAt(period: BudgetPeriod, timeZone: string, at: number): Period {
  if (period === "Total") return TOTAL;
  const calendar = calendarOf(timeZone);
  const [first, next] = daysOf(period, dayAt(calendar, at));
  return {
    name: rfc3339Millis(first).slice(0, 10),
    beginsAt: beginOf(calendar, first),
    endsAt: beginOf(calendar, next),
  };
}

/** Returns the first day of the period that contains a day, and that of the next. Days are their midnights in UTC. */
function daysOf(period: Exclude<BudgetPeriod, "Total">, day: number): readonly [number, number] {
  if (period === "Day") return [day, day + DAY_MS];
  const date = new Date(day);
  if (period === "Week") {
    const monday = day - ((date.getUTCDay() + 6) % 7) * DAY_MS;
    return [monday, monday + 7 * DAY_MS];
  }
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return [Date.UTC(year, month), Date.UTC(year, month + 1)];
}

/** Returns the first moment of a day. The search relies on no clock ever being put back to the day before. */
function beginOf(calendar: Intl.DateTimeFormat, day: number): number {
  let [before, from] = [day - FURTHEST, day + FURTHEST];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (dayAt(calendar, middle) < day) before = middle;
    else from = middle;
  }
  return from;
}

function dayAt(calendar: Intl.DateTimeFormat, at: number): number {
  const parts = calendar.formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part("year"), part("month") - 1, part("day"));
}

const calendars = new Map<string, Intl.DateTimeFormat>();

function calendarOf(timeZone: string): Intl.DateTimeFormat {
  const known = calendars.get(timeZone);
  if (known !== undefined) return known;
  const calendar = makeCalendar(timeZone) ?? makeCalendar("UTC");
  if (calendar === undefined) throw new Error("there is no calendar of UTC");
  calendars.set(timeZone, calendar);
  return calendar;
}

function makeCalendar(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, year: "numeric", month: "numeric", day: "numeric" });
  } catch {
    return undefined;
  }
}
