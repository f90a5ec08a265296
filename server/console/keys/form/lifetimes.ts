import { DAY_MS } from "../../../../domain/duration.ts";
import { rfc3339 } from "../../../../domain/rfc3339.ts";
import type { Db } from "../../../../store/database/change.ts";
import { databaseTime } from "../../../../store/database/times.ts";
import { type FormBody, field } from "../../../pages/forms.ts";

/**
 * Lifetimes that the form of a new key offers. `days` is null for a lifetime that is not counted from the making of the
 * key.
 */
export const LIFETIMES = [
  { value: "none", title: "No end: until it is revoked", days: null },
  { value: "7d", title: "7 days", days: 7 },
  { value: "30d", title: "30 days", days: 30 },
  { value: "90d", title: "90 days", days: 90 },
  { value: "date", title: "Until a date of your own", days: null },
] as const;
export type Lifetime = (typeof LIFETIMES)[number]["value"];

const MINUTE_MS = 60_000;

/**
 * Reads the lifetime that a form asks for. A form without that choice, as the form to edit a key, has an end if it has
 * a date.
 */
export function readLifetime(body: FormBody): Lifetime {
  const chosen = LIFETIMES.find(({ value }) => value === field(body, "lifetime"));
  return chosen?.value ?? (field(body, "expires") === "" ? "none" : "date");
}

/**
 * Returns the end of a key that is made now, by the database's clock, rounded down to the minute. Empty for a lifetime
 * that is not counted in days.
 */
export async function endOfLifetime(db: Db, lifetime: Lifetime): Promise<{ readonly expiresAt?: string }> {
  const days = LIFETIMES.find(({ value }) => value === lifetime)?.days ?? null;
  if (days === null) return {};
  const end = (await databaseTime(db)) + days * DAY_MS;
  return { expiresAt: rfc3339(end - (end % MINUTE_MS)) };
}
