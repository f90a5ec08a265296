/** What rows of fields have in common. */
import type { KeyPolicy } from "../declaration/key-policy.ts";
import type { KeySpec, PlainField } from "./key-field.ts";

/** The fields that a spec and a policy have as the same list. */
type ListName = {
  [F in keyof KeySpec & keyof KeyPolicy]: readonly string[] | null extends KeyPolicy[F] ? F : never;
}[keyof KeySpec & keyof KeyPolicy];

/** A list that bounds what a key may do: null allows anything. */
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
    isKept: (after, before) => before === null || (after?.every((one) => isWithin(one, before)) ?? false),
    sorted: asSet,
  };
}

/** Whether a list has one. */
export function isAmong<T>(one: T, list: readonly T[]): boolean {
  return list.includes(one);
}

/** A list whose order means nothing, as text. */
export function listText(items: readonly string[]): string {
  return items.length === 0 ? "none" : items.toSorted().join(", ");
}

/** A list whose order means nothing, in one order and each of its items once; null for none. */
export function asSet<T extends string>(items: readonly T[] | null): readonly T[] | null {
  return items && [...new Set(items)].sort();
}

/** Whether a number is no larger than another: without one there is no bound. */
export function isAtMost(after: number | null | undefined, before: number | null | undefined): boolean {
  return (after ?? Number.POSITIVE_INFINITY) <= (before ?? Number.POSITIVE_INFINITY);
}
