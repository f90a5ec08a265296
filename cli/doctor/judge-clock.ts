import { type Finding, note, ok, wrong } from "./finding.ts";

/** Largest difference without effect. Milliseconds. */
const MAX_NOTHING_MS = 2_000;
/**
 * Largest tolerable difference. Milliseconds. Beyond it, issuers' tokens count as expired or not yet valid, and people
 * look for an event at the wrong time.
 */
const MAX_TOLERABLE_MS = 30_000;

/**
 * Compares a clock with this machine's.
 *
 * @param whose owner of the clock, such as "the database's"
 * @param theirs time of that clock, in milliseconds since the epoch
 * @param asked this machine's time before the question and after the answer
 */
export function judgeClock(
  whose: string,
  theirs: number,
  { before, after }: { readonly before: number; readonly after: number },
): Finding {
  const ahead = theirs < before ? theirs - before : Math.max(0, theirs - after);
  return judgeClocks(whose, "this machine's", ahead);
}

/**
 * Judges the difference of two clocks.
 *
 * @param ahead how far the first clock is ahead of the other, in milliseconds
 */
export function judgeClocks(one: string, other: string, ahead: number): Finding {
  if (Math.abs(ahead) <= MAX_NOTHING_MS) return ok("clock", `${one} clock and ${other} agree`);
  const way = ahead > 0 ? "ahead of" : "behind";
  const message = `${one} clock is ${Math.round(Math.abs(ahead) / 1_000)} s ${way} ${other}`;
  const step = "set both by NTP: timedatectl set-ntp true";
  return Math.abs(ahead) <= MAX_TOLERABLE_MS ? note("clock", message, step) : wrong("clock", message, step);
}
