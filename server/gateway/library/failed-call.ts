import type { IncomingHttpHeaders } from "node:http";
import type { LimitOwner } from "../../../domain/access/rate-limit.ts";
import { budgetProblem } from "../../auth/budget-problem.ts";
import type { MetRate } from "../../auth/charge-rate.ts";
import type { BudgetRefusal } from "../../budgets/budget-grants.ts";
import { retryAfterMs } from "../upstream/retry-after.ts";
import { TooLongError } from "./library-post.ts";

/** A call that brought no answer. */
export type FailedCall = {
  /** The upstream does not take this; or nothing can be asked at present. */
  readonly kind: "refused" | "failed";
  /** For people, in words without anything that the upstream has said. */
  readonly why: string;
  /** When to try again, where the upstream or a rate limit says. */
  readonly retryAfterMs?: number;
  /** The answer was too long, or took too long: what was asked may be why. */
  readonly isOverrun?: boolean;
  /** The upstream has had the call, and failed at it: what was asked may be why, or the upstream. */
  readonly isDoubtful?: boolean;
};

const MAX_RETRY_AFTER_MS = 300_000;
/** In a millisecond. */
const NANOSECONDS = 1e6;
/** What an upstream answers that does not take this, and something else perhaps. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

/** A call that brought no answer, for a reason that may pass. */
export function failedCall(why: string): FailedCall {
  return { kind: "failed", why };
}

/** A call that a rate limit refuses. */
export function rateFailure({ of, verdict }: MetRate): FailedCall {
  const retryAfterMs = Math.min(Math.ceil(verdict.retryAfter / NANOSECONDS), MAX_RETRY_AFTER_MS);
  return { ...failedCall(`the rate limit of the library's ${of} is used up`), retryAfterMs };
}

/** A call that a budget refuses. @param now milliseconds since the epoch */
export function budgetFailure(refusal: BudgetRefusal, now: number): FailedCall {
  const { detail, headers } = budgetProblem(refusal, now);
  const retryAfterMs = Math.min(Number(headers["retry-after"] ?? 3_600) * 1_000, MAX_RETRY_AFTER_MS);
  return { ...failedCall(detail), retryAfterMs };
}

/** A call that may not begin while so many others of its key, or of what that is of, are under way. */
export function concurrencyFailure(of: LimitOwner): FailedCall {
  return failedCall(`the library's ${of} has too many calls under way`);
}

/** A call that the upstream answered with another status than 200. @param now milliseconds since the epoch */
export function statusFailure(status: number, headers: IncomingHttpHeaders, now: number): FailedCall {
  const why = `the upstream answered ${status}`;
  if (REFUSED.has(status)) return { kind: "refused", why };
  const failed = { ...failedCall(why), isDoubtful: status >= 500 };
  const asked = retryAfterMs(headers, now);
  return asked === undefined ? failed : { ...failed, retryAfterMs: Math.min(asked, MAX_RETRY_AFTER_MS) };
}

/** Whether an answer was too long, or took too long. */
export function isOverrun(error: unknown): boolean {
  return error instanceof TooLongError || isCallTimeout(error);
}

/** Whether a call's own time limit ended it. */
export function isCallTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/** Why a call failed, for people. It goes by codes alone: a message may hold what the other side sent. */
export function whyCallFailed(error: unknown, timeoutMs: number): string {
  if (error instanceof TooLongError) return "the upstream's answer was too long";
  if (isCallTimeout(error)) {
    return `the upstream did not answer within ${timeoutMs / 1_000} s`;
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[A-Z0-9_]{1,64}$/.test(code) ? `the upstream cannot be reached: ${code}` : "the upstream cannot be reached";
}
