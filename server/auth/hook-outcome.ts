import type { Problem } from "../http/problems/problem.ts";

/** Outcome of a hook that has answered its request itself. */
export const ANSWERED = "answered";

/** Outcome of a hook: the refusal of its request, {@link ANSWERED}, or undefined for a request that goes on. */
export type HookOutcome = Problem | typeof ANSWERED | undefined;

/**
 * Goes on with a decision once it is made, or with the error that kept it from being made: no failure on the way there
 * may end the process.
 */
export function finishHookAsync(decided: Promise<HookOutcome>, done: (refusal?: Error) => void): void {
  decided.then((outcome) => finishHook(outcome, done), done);
}

/** Goes on with a decision that is made already. */
export function finishHook(outcome: HookOutcome, done: (refusal?: Error) => void): void {
  if (outcome !== ANSWERED) done(outcome);
}
