/** Key and team that a body is counted for. */
export type BodyHolder = { readonly keyId: string; readonly teamId: string };

/** Owner of the bound that a body would break. */
export type BodyBound = "key" | "team" | "process";

/** Facts about a body that a memory budget reads. */
type BudgetedBody = { readonly holder: BodyHolder; readonly budget: BodyBudget | undefined; readonly bytes: number };

/** Parts of a memory budget that a key and a team may fill. */
const KEY_PART = 1 / 8;
const TEAM_PART = 1 / 4;

/**
 * Memory budget for bodies, of which no key and no team fills more than its part; but a body that is the only one of
 * its key or its team here may be larger than that. What each has is counted only while all together have more than one
 * key may: below that, a body costs a comparison and an addition.
 */
export class BodyBudget {
  /** Bytes of the budget. */
  readonly limit: number;
  readonly #bodies: Iterable<BudgetedBody>;
  #held = 0;
  #counts: Counts | undefined;

  /** @param bodies all of them, as they are at any time: those in this budget and others */
  constructor(limit: number, bodies: Iterable<BudgetedBody>) {
    this.limit = limit;
    this.#bodies = bodies;
  }

  /** Bytes that are taken. */
  get held(): number {
    return this.#held;
  }

  /**
   * Returns the owner of the bound that would break if a body grew here; undefined for none.
   *
   * @param from the bytes that it has here: 0 if it has none yet
   * @param to the bytes that it would have here
   */
  boundOf(holder: BodyHolder, from: number, to: number): BodyBound | undefined {
    const all = this.#held - from + to;
    if (all <= this.limit * KEY_PART) return undefined;
    this.#counts ??= this.#countAll();
    const ofKey = (this.#counts.keys.get(holder.keyId) ?? 0) - from;
    if (ofKey > 0 && ofKey + to > this.limit * KEY_PART) return "key";
    const ofTeam = (this.#counts.teams.get(holder.teamId) ?? 0) - from;
    if (ofTeam > 0 && ofTeam + to > this.limit * TEAM_PART) return "team";
    return all > this.limit ? "process" : undefined;
  }

  /** Notes that a holder has `bytes` more here, or fewer if the number is negative. */
  change(holder: BodyHolder, bytes: number): void {
    this.#held += bytes;
    if (this.#counts === undefined) return;
    // Half of what it takes to count: a budget about as full as that is not counted again and again.
    if (this.#held <= (this.limit * KEY_PART) / 2) this.#counts = undefined;
    else count(this.#counts, holder, bytes);
  }

  #countAll(): Counts {
    const counts: Counts = { keys: new Map(), teams: new Map() };
    for (const { budget, holder, bytes } of this.#bodies) if (budget === this) count(counts, holder, bytes);
    return counts;
  }
}

/** Bytes by the ids of the keys and the teams that have some. */
type Counts = { readonly keys: Map<string, number>; readonly teams: Map<string, number> };

function count({ keys, teams }: Counts, { keyId, teamId }: BodyHolder, bytes: number): void {
  add(keys, keyId, bytes);
  add(teams, teamId, bytes);
}

function add(counts: Map<string, number>, id: string, bytes: number): void {
  const sum = (counts.get(id) ?? 0) + bytes;
  if (sum > 0) counts.set(id, sum);
  else counts.delete(id);
}
