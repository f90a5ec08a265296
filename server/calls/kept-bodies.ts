import { type BodyBound, BodyBudget, type BodyHolder } from "./body-budget.ts";

/** Bytes up to which a body may take the reserve, beside the memory budget of all. */
const SMALL_BODY = 64 << 10;
/** Part of the memory for bodies that is the reserve. */
const RESERVE_PART = 1 / 4;

/** A request's body as far as it has come, kept until its call has ended. Only {@link KeptBodies} sets its fields. */
export abstract class KeptBody {
  abstract readonly holder: BodyHolder;
  /** True if more of it is to come. */
  abstract readonly isAwaited: boolean;
  bytes = 0;
  /** Memory budget that its bytes take; undefined while there are none. */
  budget: BodyBudget | undefined = undefined;
  /** Position on the list of all bodies. */
  bodyPosition = 0;
  /** Number that counts up: what came later has the greater one. */
  lastCame = 0;

  /** Takes it out for good, and ends its call with an answer: another body needs the memory. */
  abstract evict(): void;
}

/**
 * Bodies that are kept in a thread's memory. The first 64 KiB of a body have a reserve of their own and, if its key or
 * team fills its part of that, the memory budget of all; what is larger has the budget of all alone. If a budget is
 * full, the body makes way whose next byte has been waited for the longest: a body that is whole, and worked on, does
 * not.
 */
export class KeptBodies {
  readonly #bodies: KeptBody[] = [];
  readonly #reserve: BodyBudget;
  readonly #commonBudget: BodyBudget;
  #came = 0;
  #refused = 0;

  /** @param limit bytes of all that is kept */
  constructor(limit: number) {
    this.#reserve = new BodyBudget(limit * RESERVE_PART, this.#bodies);
    this.#commonBudget = new BodyBudget(limit - limit * RESERVE_PART, this.#bodies);
  }

  /** Bytes that are kept. */
  get held(): number {
    return this.#reserve.held + this.#commonBudget.held;
  }

  /** Number of bodies that found no space, or had to make way. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Notes that so many bytes more of a body are kept.
   *
   * @returns the owner of the bound that they would break, and then they are not to be kept; undefined for none
   */
  keep(body: KeptBody, bytes: number): BodyBound | undefined {
    const to = body.bytes + bytes;
    const mayReserve = to <= SMALL_BODY && body.budget !== this.#commonBudget;
    if (mayReserve && boundIn(this.#reserve, body, to) === undefined) return this.#put(body, this.#reserve, to);
    if (boundIn(this.#commonBudget, body, to) === undefined) return this.#put(body, this.#commonBudget, to);
    if (mayReserve && this.#clear(this.#reserve, body, to) === undefined) return this.#put(body, this.#reserve, to);
    const bound = this.#clear(this.#commonBudget, body, to);
    if (bound === undefined) return this.#put(body, this.#commonBudget, to);
    this.#refused++;
    return bound;
  }

  /** Takes a body out, once. */
  release(body: KeptBody): void {
    const { budget, bodyPosition } = body;
    if (budget === undefined) return;
    budget.change(body.holder, -body.bytes);
    body.budget = undefined;
    body.bytes = 0;
    const last = this.#bodies.pop();
    if (last !== undefined && last !== body) {
      this.#bodies[bodyPosition] = last;
      last.bodyPosition = bodyPosition;
    }
  }

  #put(body: KeptBody, budget: BodyBudget, to: number): undefined {
    if (body.budget === undefined) body.bodyPosition = this.#bodies.push(body) - 1;
    if (body.budget !== budget) {
      body.budget?.change(body.holder, -body.bytes);
      body.budget = budget;
      body.bytes = 0;
    }
    budget.change(body.holder, to - body.bytes);
    body.bytes = to;
    body.lastCame = ++this.#came;
  }

  /** Has others make way if a budget is full; returns the owner of the bound that is still in the way then. */
  #clear(budget: BodyBudget, body: KeptBody, to: number): BodyBound | undefined {
    let bound = boundIn(budget, body, to);
    while (bound === "process" && to <= budget.limit) {
      const idle = this.#longestAwaited(budget, body);
      if (idle === undefined) break;
      this.#refused++;
      idle.evict();
      bound = boundIn(budget, body, to);
    }
    return bound;
  }

  #longestAwaited(budget: BodyBudget, but: KeptBody): KeptBody | undefined {
    let found: KeptBody | undefined;
    for (const body of this.#bodies) {
      if (body.budget !== budget || body === but || !body.isAwaited) continue;
      if (found === undefined || body.lastCame < found.lastCame) found = body;
    }
    return found;
  }
}

/** Returns the owner of the bound that would break if a body had `to` bytes in this budget. */
function boundIn(budget: BodyBudget, body: KeptBody, to: number): BodyBound | undefined {
  return budget.boundOf(body.holder, body.budget === budget ? body.bytes : 0, to);
}
