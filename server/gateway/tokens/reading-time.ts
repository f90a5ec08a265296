import { keepNewest } from "../../context/bounded-map.ts";

/** Teams that are remembered: a team that is not has used nothing. */
const MAX_TEAMS = 10_000;

/**
 * Time that a thread spends on each team's compressed answers: `most` at once, and `perSecond` again as time goes by. A
 * few bytes may unfold to as many as their sender likes, which cost all others who are served on the thread (threats
 * b280). All times are in milliseconds, by a clock that never jumps.
 */
export class ReadingTime {
  readonly #most: number;
  readonly #perSecond: number;
  readonly #used = new Map<string, { readonly ms: number; readonly at: number }>();

  constructor({ most, perSecond }: { readonly most: number; readonly perSecond: number }) {
    this.#most = most;
    this.#perSecond = perSecond;
  }

  /** True if a team has any time left. */
  hasAny(teamId: string, now: number): boolean {
    return this.#usedBy(teamId, now) < this.#most;
  }

  /** Takes the time that was needed, however much is left. */
  take(teamId: string, ms: number, now: number): void {
    keepNewest(this.#used, teamId, { ms: this.#usedBy(teamId, now) + ms, at: now }, MAX_TEAMS);
  }

  #usedBy(teamId: string, now: number): number {
    const { ms, at } = this.#used.get(teamId) ?? { ms: 0, at: now };
    return Math.max(0, ms - ((now - at) / 1_000) * this.#perSecond);
  }
}
