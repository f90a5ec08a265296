/**
 * Values of several teams, a bounded number in all. If it is full, the team that has the most loses its oldest: a team
 * that asks much evicts its own (threats b138).
 */
export class SharedCache<V> {
  readonly #most: number;
  readonly #teams = new Map<string, Map<string, V>>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(teamId: string, key: string): V | undefined {
    return this.#teams.get(teamId)?.get(key);
  }

  set(teamId: string, key: string, value: V): void {
    const values = this.#teams.get(teamId) ?? new Map<string, V>();
    this.#teams.set(teamId, values);
    if (!values.delete(key)) this.#size++;
    values.set(key, value);
    if (this.#size > this.#most) this.#dropOne();
  }

  /**
   * Drops the oldest value of the team that has the most. Each team is looked at: what is kept here took a call of a
   * model.
   */
  #dropOne(): void {
    let largest: { readonly teamId: string; readonly values: Map<string, V> } | undefined;
    for (const [teamId, values] of this.#teams) {
      if (largest === undefined || values.size > largest.values.size) largest = { teamId, values };
    }
    const [oldest] = largest?.values.keys() ?? [];
    if (largest === undefined || oldest === undefined) return;
    largest.values.delete(oldest);
    this.#size--;
    if (largest.values.size === 0) this.#teams.delete(largest.teamId);
  }
}
