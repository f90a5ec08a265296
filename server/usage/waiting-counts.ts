/**
 * Counts that wait, up to a maximum number. At the maximum, the team that has the most gives one up: no other team
 * loses any, however many one team adds (threats b213).
 */
export class WaitingCounts<C> {
  readonly #most: number;
  readonly #sum: (known: C, more: C) => C;
  /** Counts by their team and name. The first team is the team whose counts were taken longest ago. */
  readonly #teams = new Map<string, Map<string, C>>();
  /**
   * Iterator at which a team gives up its next count, until counts are taken: a new one would look at those that are
   * gone, too.
   */
  readonly #next = new Map<string, MapIterator<[string, C]>>();
  /** Teams by their number of counts. */
  readonly #bySize = new Map<number, Set<string>>();
  /** Number of counts of the team that has the most. */
  #largest = 0;
  #size = 0;

  constructor(most: number, sum: (known: C, more: C) => C) {
    this.#most = most;
    this.#sum = sum;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns the count that there is no space for: this one, or a count of another team; undefined for none */
  add(teamId: string, name: string, count: C): C | undefined {
    const ofTeam = this.#teams.get(teamId) ?? new Map<string, C>();
    const known = ofTeam.get(name);
    if (known !== undefined) {
      ofTeam.set(name, this.#sum(known, count));
      return undefined;
    }
    const isFull = this.#size >= this.#most;
    if (isFull && ofTeam.size >= this.#largest) return count;
    const dropped = isFull ? this.#giveUp() : undefined;
    ofTeam.set(name, count);
    this.#note(teamId, ofTeam, ofTeam.size - 1);
    return dropped;
  }

  /** Takes `count` counts at most, one of each name: a key that was taken over has counts of two teams by one name. */
  take(count: number): Map<string, C> {
    const taken = new Map<string, C>();
    this.#next.clear();
    for (const [teamId, ofTeam] of this.#teams.entries().take(this.#teams.size)) {
      if (taken.size === count) break;
      const before = ofTeam.size;
      for (const [name, waiting] of ofTeam.entries().take(count - taken.size)) {
        if (taken.has(name)) continue;
        taken.set(name, waiting);
        ofTeam.delete(name);
      }
      // What is left waits behind what the others have.
      this.#teams.delete(teamId);
      this.#note(teamId, ofTeam, before);
    }
    return taken;
  }

  #giveUp(): C | undefined {
    const [giver = ""] = this.#bySize.get(this.#largest) ?? [];
    const ofGiver = this.#teams.get(giver);
    if (ofGiver === undefined) return undefined;
    const next = this.#next.get(giver) ?? ofGiver.entries();
    this.#next.set(giver, next);
    const [name, count] = next.next().value ?? [];
    if (name === undefined) return undefined;
    ofGiver.delete(name);
    this.#note(giver, ofGiver, ofGiver.size + 1);
    return count;
  }

  /**
   * Notes what a team has now.
   *
   * @param before number of counts that it had
   */
  #note(teamId: string, ofTeam: Map<string, C>, before: number): void {
    const { size } = ofTeam;
    this.#size += size - before;
    const others = this.#bySize.get(before);
    others?.delete(teamId);
    if (others?.size === 0) this.#bySize.delete(before);
    if (size === 0) {
      this.#teams.delete(teamId);
      this.#next.delete(teamId);
    } else {
      this.#teams.set(teamId, ofTeam);
      this.#bySize.set(size, (this.#bySize.get(size) ?? new Set()).add(teamId));
    }
    this.#largest = Math.max(this.#largest, size);
    while (this.#largest > 0 && !this.#bySize.has(this.#largest)) this.#largest--;
  }
}
