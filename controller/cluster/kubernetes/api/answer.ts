/** What is made of an answer of the API server. */
import { ApiError, errorOfStatus } from "./api-error.ts";

/** An answer that has ended. */
export type EndedAnswer = { readonly status: number; readonly retryAfter: string | undefined; readonly text: string };

/** The longest wait between two attempts, in milliseconds (architecture §2, I8). */
const MAX_WAIT_MS = 30_000;

/** @throws ApiError for what is no success, and for a success that is no JSON */
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

/** Milliseconds until a request may be sent again: as the server asks, or a second; apart from one another. */
export function retryDelayOf({ retryAfter }: EndedAnswer, random: () => number): number {
  const seconds = Number(retryAfter);
  const asked = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 1_000;
  return Math.min(asked * (1 + random() / 2), MAX_WAIT_MS);
}
