/**
 * Counts that wait, so many at most. Where there is no room, the team that has the most gives one up: no other loses any,
 * however many one team adds (threats b213).
 */
export class WaitingCounts<C> {
  readonly #most: number;
  readonly #sum: (known: C, more: C) => C;
  /** By the team and their names, first those of the team that were taken longest ago. */
  readonly #teams = new Map<string, Map<string, C>>();
  /** Where a team gives up its next since any were taken last: a map is looked through from its first, gone or not. */
  readonly #next = new Map<string, MapIterator<[string, C]>>();
  /** The teams that have as many, by how many that is. */
  readonly #bySize = new Map<number, Set<string>>();
  /** How many the team has that has the most. */
  #largest = 0;
  #size = 0;

  constructor(most: number, sum: (known: C, more: C) => C) {
    this.#most = most;
    this.#sum = sum;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns the count that there is no room for: this one, or one of another team */
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

  /** Takes so many at most, of each name one: a key that was taken over has counts of two teams by one name. */
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

  /** Notes what a team has now. @param before how many it had */
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
