import type { IncomingHttpHeaders } from "node:http";
import type { LimitOwner } from "../../../domain/access/rate-limit.ts";
import { budgetProblem } from "../../auth/budget-problem.ts";
import type { MetRate } from "../../auth/charge-rate.ts";
import type { BudgetRefusal } from "../../budgets/budget-grants.ts";
import { retryAfterMs } from "../upstream/retry-after.ts";
import { TooLongError } from "./library-post.ts";

/** Result of a call that brought no answer. */
export type FailedCall = {
  /** `refused` if the upstream does not take this request; `failed` if the reason may pass. */
  readonly kind: "refused" | "failed";
  /** Reason for people, without any words of the upstream's. */
  readonly why: string;
  /** Milliseconds until the next try, if the upstream or a limit says so. */
  readonly retryAfterMs?: number;
  /** True if the answer was too long, or took too long: the request may be the cause. */
  readonly isOverrun?: boolean;
  /** True if the upstream has had the call, and failed at it: the request may be the cause, or the upstream. */
  readonly isDoubtful?: boolean;
  /** True if a limit refuses the call, here or at the upstream: that says nothing of either. */
  readonly isLimited?: boolean;
};

/** Error for a call that may not be made any more once it has a connection: its upstream has nothing of it. */
export class UnsentError extends Error {
  readonly failure: FailedCall;

  constructor(failure: FailedCall) {
    super(failure.why);
    this.failure = failure;
  }
}

const MAX_RETRY_AFTER_MS = 300_000;
/** Nanoseconds in a millisecond. */
const NANOSECONDS = 1e6;
/** Statuses of an upstream, or of a firewall before it, that does not take this request, and may take another. */
const REFUSED: ReadonlySet<number> = new Set([400, 403, 413, 422]);

/** Returns the result of a call that failed for a reason that may pass. */
export function failedCall(why: string): FailedCall {
  return { kind: "failed", why };
}

/** Returns the result of a call that a limit refuses. */
export function limitFailure(why: string): FailedCall {
  return { ...failedCall(why), isLimited: true };
}

/** Returns the result of a call that a rate limit refuses. */
export function rateFailure({ of, verdict }: MetRate): FailedCall {
  const retryAfterMs = Math.min(Math.ceil(verdict.retryAfter / NANOSECONDS), MAX_RETRY_AFTER_MS);
  return { ...limitFailure(`the rate limit of the library's ${of} is used up`), retryAfterMs };
}

/**
 * Returns the result of a call that a budget refuses.
 *
 * @param now milliseconds since the epoch
 */
export function budgetFailure(refusal: BudgetRefusal, now: number): FailedCall {
  const { detail, headers } = budgetProblem(refusal, now);
  const retryAfterMs = Math.min(Number(headers["retry-after"] ?? 3_600) * 1_000, MAX_RETRY_AFTER_MS);
  return { ...limitFailure(detail), retryAfterMs };
}

/** Returns the result of a call that may not begin, since as many calls of a limit's owner are under way as may be. */
export function concurrencyFailure(of: LimitOwner): FailedCall {
  return limitFailure(`the library's ${of} has too many calls under way`);
}

/**
 * Returns the result of a call that the upstream answered with another status than 200.
 *
 * @param now milliseconds since the epoch
 */
export function statusFailure(status: number, headers: IncomingHttpHeaders, now: number): FailedCall {
  const why = `the upstream answered ${status}`;
  if (REFUSED.has(status)) return { kind: "refused", why };
  const failed = { ...failedCall(why), isDoubtful: status >= 500, isLimited: status === 429 };
  const asked = retryAfterMs(headers, now);
  return asked === undefined ? failed : { ...failed, retryAfterMs: Math.min(asked, MAX_RETRY_AFTER_MS) };
}

/** True if an answer was too long, or took too long. */
export function isOverrun(error: unknown): boolean {
  return error instanceof TooLongError || isCallTimeout(error);
}

/** True if a call's own time limit ended it. */
export function isCallTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/**
 * Returns the reason why a call failed, for people. It goes by error codes alone: a message may hold what the other
 * side sent.
 */
export function whyCallFailed(error: unknown, timeoutMs: number): string {
  if (error instanceof TooLongError) return "the upstream's answer was too long";
  if (isCallTimeout(error)) {
    return `the upstream did not answer within ${timeoutMs / 1_000} s`;
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[A-Z0-9_]{1,64}$/.test(code) ? `the upstream cannot be reached: ${code}` : "the upstream cannot be reached";
}
