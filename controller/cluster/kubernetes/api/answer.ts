/** Parses answers of the API server. */
import { ApiError, errorOfStatus } from "./api-error.ts";

/** Answer that has been received whole. */
export type EndedAnswer = { readonly status: number; readonly retryAfter: string | undefined; readonly text: string };

/** Longest wait between two attempts, in milliseconds (architecture §2, I8). */
const MAX_WAIT_MS = 30_000;

/**
 * Returns the JSON of a successful answer.
 *
 * @throws ApiError if the answer is no success, or a success that is not JSON
 */
export function parseAnswer({ status, text }: Pick<EndedAnswer, "status" | "text">): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (status < 300) throw new ApiError(null, "", "the answer is not JSON");
  }
  if (status >= 200 && status < 300) return value;
  throw value === undefined ? new ApiError(status, "", `HTTP ${status}`) : errorOfStatus(value, status);
}

/**
 * Returns the milliseconds until a request may be sent again: as the server asks, or a second, each plus a random part
 * of up to a half, so that requests come apart from one another.
 */
export function retryDelayOf({ retryAfter }: EndedAnswer, random: () => number): number {
  const seconds = Number(retryAfter);
  const asked = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 1_000;
  return Math.min(asked * (1 + random() / 2), MAX_WAIT_MS);
}
