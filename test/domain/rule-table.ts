/**
 * The rules of a decision as data: from a base, one change, and what comes of it. The tests run each row, and
 * `scripts/generate.ts` renders all of them as docs/reference/key-rules.md.
 */

/** The moment at which all rows of the tables are decided, in milliseconds since the epoch. */
export const NOW = Date.UTC(2026, 10, 20, 12);
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** What is different of a value, at any depth. Lists are replaced as a whole. */
export type Change<T> = T extends readonly unknown[] | string | number | boolean | null | undefined
  ? T
  : { readonly [Field in keyof T]?: Change<T[Field]> };

/** One rule, in words and as data. */
export type RuleRow<Base extends string, State, Outcome> = {
  readonly rule: string;
  readonly from: Base;
  readonly change: Change<State>;
  readonly outcome: Outcome;
};

/** The rules of one decision, and the file that makes it. */
export type RuleTable<Base extends string, State, Outcome> = {
  readonly decision: string;
  readonly says: string;
  readonly source: string;
  readonly rows: readonly RuleRow<Base, State, Outcome>[];
};

/** Tables that begin at the same bases. */
export type RuleSet<Base extends string, State, Outcome> = {
  readonly title: string;
  readonly bases: Readonly<Record<Base, { readonly is: string; readonly state: State }>>;
  readonly tables: readonly RuleTable<Base, State, Outcome>[];
};

/** The base with the change: what the change does not name is as it was. */
export function changed<T>(base: T, change: Change<T>): T {
  return merged(base, change) as T;
}

function merged(base: unknown, change: unknown): unknown {
  if (!isRecord(base) || !isRecord(change)) return change;
  const fields = Object.entries(change).map(([field, value]) => [field, merged(base[field], value)]);
  return { ...base, ...Object.fromEntries(fields) };
}

/** The state that a row is about. */
export function stateOf<Base extends string, State, Outcome>(
  { bases }: RuleSet<Base, State, Outcome>,
  { from, change }: RuleRow<Base, State, Outcome>,
): State {
  return changed(bases[from].state, change);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
