/** Functions that rows of fields have in common. */
import type { KeyPolicy } from "../declaration/key-policy.ts";
import type { KeySpec, PlainField } from "./key-field.ts";

/** Names of fields that a spec and a policy have as the same list. */
type ListName = {
  [F in keyof KeySpec & keyof KeyPolicy]: readonly string[] | null extends KeyPolicy[F] ? F : never;
}[keyof KeySpec & keyof KeyPolicy];

/** Builds the row of a list that bounds what a key may do: null allows anything. */
export function allowList<F extends ListName>(
  name: F,
  label: string,
  isWithin: (one: string, before: readonly string[]) => boolean,
): PlainField<readonly string[] | null> {
  return {
    ...{ path: `spec.${name}`, label, none: null },
    declare: (spec) => spec[name] ?? null,
    write: (value) => (value === null ? {} : { [name]: [...value] }),
    show: (value) => (value === null ? "any" : listText(value)),
    isNoWider: (after, before) => before === null || (after?.every((one) => isWithin(one, before)) ?? false),
    sorted: asSet,
  };
}

/** True if a list includes an item. */
export function isAmong<T>(one: T, list: readonly T[]): boolean {
  return list.includes(one);
}

/** Formats a list whose order means nothing. */
export function listText(items: readonly string[]): string {
  return items.length === 0 ? "none" : items.toSorted().join(", ");
}

/** Returns a list whose order means nothing sorted and without duplicates; null for none. */
export function asSet<T extends string>(items: readonly T[] | null): readonly T[] | null {
  return items && [...new Set(items)].sort();
}

/** True if a number is no larger than another; a missing number means no limit. */
export function isAtMost(after: number | null | undefined, before: number | null | undefined): boolean {
  return (after ?? Number.POSITIVE_INFINITY) <= (before ?? Number.POSITIVE_INFINITY);
}
