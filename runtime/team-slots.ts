import { SlowOwners } from "./slow-owners.ts";
import type { TeamBounds } from "./team-bounds.ts";

type Teams = {
  /**
   * Maximum number of leases in progress, that is, of pieces of work. One team may have half of them, and so may all
   * slow teams together.
   */
  readonly most: number;
  /** Milliseconds after which a lease is slow. Its team is slow until one of its leases is not. */
  readonly slowMs: number;
};

/**
 * Shares the capacity of one process among teams. A team whose model never answers delays only its own work, however
 * many libraries it has (threats b137). So do several such teams, once each has had a slow lease.
 */
export class TeamSlots {
  readonly #half: number;
  readonly #monotonic: () => number;
  /** Leases in progress. */
  readonly #leases = new Set<{ readonly teamId: string; readonly since: number }>();
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
   * Claims a lease and does its work.
   *
   * @param claim only one call of it is in progress at a time; resolves to undefined if there is none
   * @returns true if there was one
   */
  async takeNext<T extends { readonly teamId: string }>(
    claim: (bounds: TeamBounds) => Promise<T | undefined>,
    take: (lease: T) => Promise<void>,
  ): Promise<boolean> {
    const claiming = this.#claimed.then(() => this.#begin(claim));
    this.#claimed = claiming.catch(() => {});
    const begun = await claiming;
    if (begun === undefined) return false;
    try {
      await take(begun.lease);
    } finally {
      begun.end();
    }
    return true;
  }

  async #begin<T extends { readonly teamId: string }>(claim: (bounds: TeamBounds) => Promise<T | undefined>) {
    const lease = await claim({ except: this.#full(), after: this.#after });
    if (lease === undefined) return undefined;
    const { teamId } = lease;
    this.#after = teamId;
    const underWay = { teamId, since: this.#monotonic() };
    this.#leases.add(underWay);
    const end = () => {
      this.#leases.delete(underWay);
      this.#slow.noteEnd(teamId, underWay.since);
    };
    return { lease, end };
  }

  #full(): string[] {
    const counts = new Map<string, number>();
    const slow = this.#slow.all();
    for (const lease of this.#leases) {
      counts.set(lease.teamId, (counts.get(lease.teamId) ?? 0) + 1);
      if (this.#slow.takesLong(lease.since)) slow.add(lease.teamId);
    }
    const full = new Set([...counts].flatMap(([teamId, count]) => (count < this.#half ? [] : [teamId])));
    const ofSlow = [...slow].reduce((sum, teamId) => sum + (counts.get(teamId) ?? 0), 0);
    return [...(ofSlow < this.#half ? full : full.union(slow))];
  }
}
