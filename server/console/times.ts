import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { type Html, html } from "../pages/html.ts";

const MINUTE = 60_000;
const UNITS = [
  { unit: "year", ms: 365 * 24 * 60 * MINUTE },
  { unit: "month", ms: 30 * 24 * 60 * MINUTE },
  { unit: "day", ms: 24 * 60 * MINUTE },
  { unit: "hour", ms: 60 * MINUTE },
  { unit: "minute", ms: MINUTE },
] as const;
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const ABSOLUTE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/**
 * Shows how far a time is from now, with the exact time as its title: in UTC, and by script in the reader's zone too.
 *
 * @param iso time in RFC 3339
 * @param now milliseconds since the epoch
 */
export function ago(iso: string, now: number): Html {
  const at = Date.parse(iso);
  const toTheMinute = `${rfc3339Millis(at).slice(0, 16)}Z`;
  return html`<time datetime="${toTheMinute}" title="${absolute(iso)}">${relative(at - now)}</time>`;
}

/** Shows a time as date and clock, in UTC, or by script in the reader's zone, and how far it is from now. */
export function moment(iso: string, now: number): Html {
  return html`<time datetime="${iso}" data-local="minute">${absolute(iso)}</time> <span class="muted small">(${relative(Date.parse(iso) - now)})</span>`;
}

/** Matches a time that is a whole word, not part of a URL, which others may choose to look like a time. */
const MOMENT_IN_TEXT = /(?<!\S)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** Shows a sentence of the API, with the times in it as {@link moment} shows them. */
export function withMoments(text: string, now: number): Html {
  const isMoment = (part: string, i: number) => i % 2 === 1 && !Number.isNaN(Date.parse(part));
  return html`${text.split(MOMENT_IN_TEXT).map((part, i) => (isMoment(part, i) ? moment(part, now) : part))}`;
}

/**
 * Shows a time to the second, as {@link moment} does, above how far it is from now. Both in milliseconds since the
 * epoch.
 */
export function exactMoment(at: number, now: number): Html {
  const iso = rfc3339Millis(at);
  return html`<time datetime="${iso}" data-local="second">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time><small>${relative(at - now)}</small>`;
}

export function absolute(iso: string): string {
  return `${ABSOLUTE.format(new Date(iso))} UTC`;
}

function relative(ms: number): string {
  const found = UNITS.find(({ ms: length }) => Math.abs(ms) >= length);
  if (found === undefined) return ms > 0 ? "in a moment" : "just now";
  return RELATIVE.format(Math.trunc(ms / found.ms), found.unit);
}
