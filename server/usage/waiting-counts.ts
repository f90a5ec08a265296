/** Counts of one team by their names. */
type OfTeam<C> = Map<string, C>;

/**
 * Counts that wait, so many at most. Where there is no room, a team that has more than its even part gives one up: no
 * other loses any, however many one team adds (threats b213).
 */
export class WaitingCounts<C> {
  readonly #most: number;
  readonly #sum: (known: C, more: C) => C;
  readonly #teams = new Map<string, OfTeam<C>>();
  #size = 0;
  /** The team that had the most when that was last looked for, or has had more since. */
  #fullest: OfTeam<C> = new Map();

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
    const giver = this.#size < this.#most ? undefined : this.#giverFor(ofTeam);
    if (giver === ofTeam) return count;
    const dropped = giver && this.#giveUp(giver);
    this.#teams.set(teamId, ofTeam.set(name, count));
    this.#size++;
    if (ofTeam.size > this.#fullest.size) this.#fullest = ofTeam;
    return dropped;
  }

  /** Takes so many at most, of each name one: a key that was taken over has counts of two teams by one name. */
  take(count: number): Map<string, C> {
    const taken = new Map<string, C>();
    for (const [teamId, ofTeam] of this.#teams) {
      for (const [name, waiting] of ofTeam.entries().take(count - taken.size)) {
        if (taken.has(name)) continue;
        taken.set(name, waiting);
        ofTeam.delete(name);
      }
      if (ofTeam.size === 0) this.#teams.delete(teamId);
      if (taken.size === count) break;
    }
    this.#size -= taken.size;
    return taken;
  }

  /** The team that gives one up for a count of a team: that team itself where none has more. */
  #giverFor(ofTeam: OfTeam<C>): OfTeam<C> {
    // A team with no more than its even part gives nothing up.
    if (this.#fullest.size * this.#teams.size <= this.#size) this.#findFullest();
    return ofTeam.size < this.#fullest.size ? this.#fullest : ofTeam;
  }

  #giveUp(giver: OfTeam<C>): C | undefined {
    const [name, count] = giver.entries().next().value ?? [];
    if (name !== undefined && giver.delete(name)) this.#size--;
    return count;
  }

  #findFullest(): void {
    for (const ofTeam of this.#teams.values()) if (ofTeam.size > this.#fullest.size) this.#fullest = ofTeam;
  }
}
