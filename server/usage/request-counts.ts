import type { KeyRecord } from "../../domain/access/key-record.ts";
import { OPERATIONS, type OperationName } from "../../domain/access/operations.ts";
import { REQUEST_SCOPES, REQUEST_SLOT_MS, requestScope } from "../../domain/access/request-scope.ts";
import { addRequestCounts } from "../../store/keys/uses/request-counts.ts";
import { KeyRow } from "../key-index/key-row.ts";
import type { Countable } from "./count-buffer.ts";

/** Number of requests of a key of this team. */
export type RequestsOfTeam = { readonly teamId: string; readonly count: number };
/** Requests by a name that {@link readRequestCountName} reads. */
export type RequestCounts = Map<string, RequestsOfTeam>;

/**
 * Way in which counts of requests wait, some 40 MB at most, as many as 100,000 keys have in ten minutes, and are
 * written.
 */
export const REQUESTS: Countable<RequestsOfTeam> = {
  what: "requests",
  maxWaiting: 250_000,
  sizeOf: ({ count }) => count,
  teamOf: ({ teamId }) => teamId,
  add: (known, { teamId, count }) => ({ teamId, count: known.count + count }),
  write: (store, counts, onBegun) =>
    addRequestCounts(
      store,
      [...counts].map(([name, { count }]) => ({ ...readRequestCountName(name), count })),
      onBegun,
    ),
};

/** Pairs of a key and a scope at most: more than one thread lets through between two drains. */
const MAX_PAIRS = 1 << 18;
/** Pairs that are kept from one drain to the next, so that most need not be named anew: some 2 MB. */
const KEPT_PAIRS = 1 << 14;

/** A key and a scope within the slot, by the name that they are counted under: their requests since the last drain. */
type Pair = { readonly name: string; readonly teamId: string; count: number };

/** Position of each operation among the counts of its key; -1 for an operation that is not counted. */
const SCOPE_POSITIONS = Object.fromEntries(
  Object.keys(OPERATIONS).map((name) => {
    const counted = requestScope(name as OperationName);
    return [name, counted === undefined ? -1 : REQUEST_SCOPES.indexOf(counted)];
  }),
) as Readonly<Record<OperationName, number>>;

/**
 * Counts the requests of this thread by key, scope and five minutes. A request costs one look-up by its key's row: its
 * key is written out and named once in the five minutes, as long as few keys are in use.
 */
export class RequestCounter {
  /** Pairs by the row of the key and the position of its scope, for one table of rows and one slot. */
  readonly #pairs = new Map<number, Pair>();
  /** Pairs that have requests. */
  #used: Pair[] = [];
  #generation = -1;
  #slot = Number.NaN;
  #drained: RequestCounts = new Map();

  /**
   * Counts a request that was let through. Requests with a placeholder key are not counted.
   *
   * @param at milliseconds since the epoch, by the database's clock
   */
  count(key: KeyRecord, operation: OperationName, at: number): void {
    const position = SCOPE_POSITIONS[operation];
    if (!(key instanceof KeyRow) || position === -1) return;
    const isSame = key.generation === this.#generation && at >= this.#slot && at < this.#slot + REQUEST_SLOT_MS;
    if (!isSame) this.#begin(key.generation, at);
    const pair = key.row * REQUEST_SCOPES.length + position;
    const known = this.#pairs.get(pair) ?? this.#begun(pair, key, position);
    if (known !== undefined && known.count++ === 0) this.#used.push(known);
  }

  /** Takes what was counted since the last time. */
  drain(): RequestCounts {
    this.#writeDown();
    if (this.#pairs.size > KEPT_PAIRS) this.#pairs.clear();
    const drained = this.#drained;
    this.#drained = new Map();
    return drained;
  }

  #begin(generation: number, at: number): void {
    this.#writeDown();
    this.#pairs.clear();
    this.#generation = generation;
    this.#slot = Math.floor(at / REQUEST_SLOT_MS) * REQUEST_SLOT_MS;
  }

  /** Begins a pair; undefined if there is no space for one more. */
  #begun(pair: number, { keyId, teamId }: KeyRow, position: number): Pair | undefined {
    if (this.#pairs.size >= MAX_PAIRS) return undefined;
    const begun: Pair = { name: requestCountName(keyId, position, this.#slot), teamId, count: 0 };
    this.#pairs.set(pair, begun);
    return begun;
  }

  #writeDown(): void {
    for (const pair of this.#used) {
      const { name, teamId, count } = pair;
      this.#drained.set(name, { teamId, count: (this.#drained.get(name)?.count ?? 0) + count });
      pair.count = 0;
    }
    this.#used = [];
  }
}

function requestCountName(keyId: string, position: number, slot: number): string {
  return `${keyId} ${REQUEST_SCOPES[position]} ${slot}`;
}

/** Returns the parts of a name in {@link RequestCounts}. */
function readRequestCountName(name: string): { keyId: string; scope: string; slot: number } {
  const [keyId = "", scope = "", slot = ""] = name.split(" ");
  return { keyId, scope, slot: Number(slot) };
}
