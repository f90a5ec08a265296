import { SlowOwners } from "./slow-owners.ts";
import type { TurnBounds } from "./turn-bounds.ts";

type Teams = {
  /** Turns that are under way at a time: of one team half of them, and of all slow teams together. */
  readonly most: number;
  /** A turn of so long is slow, as is its team until one of theirs is not. Milliseconds. */
  readonly slowMs: number;
};

/**
 * Shares the turns of one process among teams: one whose model never answers, with however many libraries, holds up its
 * own alone (threats b137). So do several of them, once each has had a turn that was slow.
 */
export class TeamTurns {
  readonly #half: number;
  readonly #monotonic: () => number;
  /** Those under way. */
  readonly #turns = new Set<{ readonly teamId: string; readonly since: number }>();
  readonly #slow: SlowOwners;
  #after = "";
  #claimed: Promise<unknown> = Promise.resolve();

  /** @param monotonic milliseconds on a clock that never jumps */
  constructor({ most, slowMs }: Teams, monotonic: () => number) {
    this.#half = Math.max(1, Math.floor(most / 2));
    this.#slow = new SlowOwners(slowMs, monotonic);
    this.#monotonic = monotonic;
  }

  /**
   * Claims a turn and takes it.
   *
   * @param claim is asked once at a time; resolves to undefined where there is none
   * @returns whether there was one
   */
  async takeNext<T extends { readonly teamId: string }>(
    claim: (bounds: TurnBounds) => Promise<T | undefined>,
    take: (turn: T) => Promise<void>,
  ): Promise<boolean> {
    const claiming = this.#claimed.then(() => this.#begin(claim));
    this.#claimed = claiming.catch(() => {});
    const begun = await claiming;
    if (begun === undefined) return false;
    try {
      await take(begun.turn);
    } finally {
      begun.end();
    }
    return true;
  }

  async #begin<T extends { readonly teamId: string }>(claim: (bounds: TurnBounds) => Promise<T | undefined>) {
    const turn = await claim({ except: this.#full(), after: this.#after });
    if (turn === undefined) return undefined;
    const { teamId } = turn;
    this.#after = teamId;
    const underWay = { teamId, since: this.#monotonic() };
    this.#turns.add(underWay);
    const end = () => {
      this.#turns.delete(underWay);
      this.#slow.noteEnd(teamId, underWay.since);
    };
    return { turn, end };
  }

  #full(): string[] {
    const counts = new Map<string, number>();
    const slow = this.#slow.all();
    for (const turn of this.#turns) {
      counts.set(turn.teamId, (counts.get(turn.teamId) ?? 0) + 1);
      if (this.#slow.takesLong(turn.since)) slow.add(turn.teamId);
    }
    const full = new Set([...counts].flatMap(([teamId, count]) => (count < this.#half ? [] : [teamId])));
    const ofSlow = [...slow].reduce((sum, teamId) => sum + (counts.get(teamId) ?? 0), 0);
    return [...(ofSlow < this.#half ? full : full.union(slow))];
  }
}
