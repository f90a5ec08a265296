import { expect } from "vitest";

/** An object by its kind and name, and what is in it: what else is there is not looked at. */
export type Expected = readonly [kind: string, name: string, object: Readonly<Record<string, unknown>>];

/** Values that operators set, and what is then in the objects of the release. */
export type ValueCase = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly expected: readonly Expected[];
  /** Objects that must not be there, by kind and name. */
  readonly absent?: readonly (readonly [kind: string, name: string])[];
};

/** Cases by the promise that each makes. */
export type ValueCases = Readonly<Record<string, ValueCase>>;

export const LABELS = { "example.com/cost-centre": "platform" };

/** An object with this pod in it. */
export const podOf = (spec: unknown) => ({ spec: { template: { spec } } });

/** An array with this among others; of an object, with these members among others. */
export function holding(item: unknown): unknown {
  return expect.arrayContaining([typeof item === "object" ? expect.objectContaining(item ?? {}) : item]);
}

/** An object without these members. */
export function without(...names: readonly string[]): unknown {
  return expect.toSatisfy((object: object) => names.every((name) => !Object.hasOwn(object, name)));
}
