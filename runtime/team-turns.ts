import { SlowOwners } from "./slow-owners.ts";
import type { TurnBounds } from "./turn-bounds.ts";

type Teams = {
  /**
   * Maximum number of turns in progress, that is, of pieces of work. One team may have half of them, and so may all
   * slow teams together.
   */
  readonly most: number;
  /** Milliseconds after which a turn is slow. Its team is slow until one of its turns is not. */
  readonly slowMs: number;
};

/**
 * Shares the capacity of one process among teams. A team whose model never answers delays only its own work, however
 * many libraries it has (threats b137). So do several such teams, once each has had a slow turn.
 */
export class TeamTurns {
  readonly #half: number;
  readonly #monotonic: () => number;
  /** Turns in progress. */
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
   * Claims a turn and runs it.
   *
   * @param claim only one call of it is in progress at a time; resolves to undefined if there is no turn
   * @returns true if there was a turn
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
