import type { Problem } from "../http/problems/problem.ts";

/** Of a request that needs no other answer any more. */
export const ANSWERED = "answered";

/** What a hook decides of a request: a refusal of it, or undefined for one that goes on. */
export type HookOutcome = Problem | typeof ANSWERED | undefined;

/** Goes on with what was decided, or that it could not be: nothing that fails on the way there may end the process. */
export function finishHookAsync(decided: Promise<HookOutcome>, done: (refusal?: Error) => void): void {
  decided.then((outcome) => finishHook(outcome, done), done);
}

/** Goes on with what is decided already. */
export function finishHook(outcome: HookOutcome, done: (refusal?: Error) => void): void {
  if (outcome !== ANSWERED) done(outcome);
}
