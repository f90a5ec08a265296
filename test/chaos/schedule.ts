/** When what happens, all of it chosen before the run begins: the same seed and minutes give the same schedule. */
import { type Random, randomFrom, weighted } from "../env/random.ts";
import { FAULTS } from "./faults.ts";
import { MOVES } from "./moves.ts";

export type Scheduled = {
  /** Milliseconds from the beginning. */
  readonly at: number;
  readonly name: string;
  /** Of its own choices, so that what it meets changes no later choice. */
  readonly seed: number;
};

export type ScheduledFault = Scheduled & { readonly target: number; readonly lasts: number };

/** Mean times between two moves, and between two faults, in milliseconds. */
const BETWEEN_MOVES = 220;
const BETWEEN_FAULTS = 3_500;
/** What was broken is left in peace for that long. */
const PEACE = 3_000;

export function scheduleMoves(seed: number, lasts: number): Scheduled[] {
  const random = randomFrom(seed);
  return timesOf(random, lasts, BETWEEN_MOVES).map((at) => ({
    at,
    name: weighted(random, MOVES),
    seed: random.below(2 ** 31),
  }));
}

/** Each fault strikes once before any strikes again, as far as what it breaks is whole. */
export function scheduleFaults(seed: number, lasts: number): ScheduledFault[] {
  const random = randomFrom(seed ^ 0x5eed);
  const brokenUntil = new Map<string, number>();
  const scheduled: ScheduledFault[] = [];
  for (const at of timesOf(random, lasts, BETWEEN_FAULTS)) {
    const possible = Object.entries(FAULTS)
      .map(([name, fault]) => ({ ...fault, name, target: random.below(fault.targets) }))
      .filter(({ breaks, target }) => breaks(target).every((part) => (brokenUntil.get(part) ?? 0) <= at));
    const fresh = possible.filter(({ name }) => scheduled.every((struck) => struck.name !== name));
    const candidates = new Map((fresh.length > 0 ? fresh : possible).map((one) => [one.name, one]));
    const fault = candidates.get(weighted(random, Object.fromEntries(candidates)));
    if (fault === undefined) continue;
    const { name, target, longest, breaks } = fault;
    const duration = random.between(Math.min(300, longest), longest);
    for (const part of breaks(target)) brokenUntil.set(part, at + duration + PEACE);
    scheduled.push({ at, name, seed: random.below(2 ** 31), target, lasts: Math.min(duration, lasts - at) });
  }
  return scheduled;
}

/** Moments with gaps from nothing to twice the mean. */
function timesOf(random: Random, lasts: number, mean: number): number[] {
  const times: number[] = [];
  for (let at = random.next() * mean; at < lasts; at += random.next() * 2 * mean) times.push(Math.round(at));
  return times;
}
