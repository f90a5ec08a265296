import fc from "fast-check";
import { LEASE_MS, LEASE_RANGE_MS } from "../../../../domain/protocol.ts";

/**
 * How the way between a process and the database is: as it should be, holding up all until it is open again, swallowing
 * all for ever, or refusing all.
 */
export type LinkState = "open" | "hole" | "void" | "cut";
/** What becomes of a commit's notification on its way to one listener. */
export type Hint = "once" | "twice" | "lost";

export type Move =
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "change" | "revoke"; readonly key: number; readonly hints: readonly Hint[] }
  | { readonly do: "hint out of nothing"; readonly replica: number }
  | { readonly do: "way"; readonly replica: number; readonly way: LinkState }
  | { readonly do: "stand still"; readonly replica: number }
  | { readonly do: "go on"; readonly replica: number; readonly wasSuspended: boolean }
  | { readonly do: "end listener"; readonly replica: number }
  | { readonly do: "restart"; readonly replica: number; readonly leaseMs: number }
  | { readonly do: "set wall clock"; readonly replica: number; readonly ms: number }
  | { readonly do: "set database clock"; readonly ms: number }
  | { readonly do: "roll back"; readonly commits: number }
  | { readonly do: "count replicas"; readonly counted: number }
  | { readonly do: "prune"; readonly keep: number }
  | { readonly do: "ask for receipts"; readonly from: number }
  | { readonly do: "open stream"; readonly replica: number; readonly key: number };

export const REPLICAS = 3;
/** What replicas are started with; the first of them are there from the start. */
export const LEASES_MS = [LEASE_MS, LEASE_RANGE_MS.most, 20_000, LEASE_RANGE_MS.least] as const;
export const KEYS = 3;
export const OBSERVERS = 2;

const replica = fc.nat(REPLICAS - 1);
const key = fc.nat(KEYS - 1);
const hints = fc.array(fc.constantFrom("once", "twice", "lost"), { minLength: REPLICAS, maxLength: REPLICAS });
const jump = fc.constantFrom(-3_600_000, 900, 7_000);

/** What may happen, about as often as it takes for the faults to meet. */
const MOVES: readonly (readonly [weight: number, fc.Arbitrary<Move>])[] = [
  [12, fc.record({ do: fc.constant("pass"), ms: fc.constantFrom(1, 50, 300, 900, 1_500) })],
  [3, fc.record({ do: fc.constant("pass"), ms: fc.constantFrom(2_500, 5_000, 7_000) })],
  [3, fc.record({ do: fc.constant("change"), key, hints })],
  [4, fc.record({ do: fc.constant("revoke"), key, hints })],
  [1, fc.record({ do: fc.constant("hint out of nothing"), replica })],
  [4, fc.record({ do: fc.constant("way"), replica, way: fc.constantFrom("open", "open", "hole", "void", "cut") })],
  [2, fc.record({ do: fc.constant("stand still"), replica })],
  [3, fc.record({ do: fc.constant("go on"), replica, wasSuspended: fc.boolean() })],
  [1, fc.record({ do: fc.constant("end listener"), replica })],
  [1, fc.record({ do: fc.constant("restart"), replica, leaseMs: fc.constantFrom(...LEASES_MS) })],
  [1, fc.record({ do: fc.constant("set wall clock"), replica, ms: jump })],
  [1, fc.record({ do: fc.constant("set database clock"), ms: jump })],
  [1, fc.record({ do: fc.constant("roll back"), commits: fc.integer({ min: 1, max: 3 }) })],
  [1, fc.record({ do: fc.constant("count replicas"), counted: fc.constantFrom(0, 100, 1_000) })],
  [1, fc.record({ do: fc.constant("prune"), keep: fc.integer({ min: 1, max: 3 }) })],
  [6, fc.record({ do: fc.constant("ask for receipts"), from: fc.nat(OBSERVERS - 1) })],
  [2, fc.record({ do: fc.constant("open stream"), replica, key })],
];

/** Long enough for leases to begin that are longer than the usual one. */
const AGEING: readonly Move[] = [
  { do: "pass", ms: LEASE_RANGE_MS.most },
  ...Array.from({ length: 8 }, (): Move => ({ do: "pass", ms: 300 })),
];

export const someMoves: fc.Arbitrary<Move[]> = fc
  .tuple(
    fc.constantFrom([], AGEING),
    fc.array(fc.oneof(...MOVES.map(([weight, arbitrary]) => ({ weight, arbitrary }))), {
      ...{ minLength: 20, maxLength: 80, size: "max" },
    }),
  )
  .map(([before, moves]) => [...before, ...moves]);
