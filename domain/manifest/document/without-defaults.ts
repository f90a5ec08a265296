import { isDeepStrictEqual } from "node:util";
import type { Schema } from "../../kinds/schema.ts";
import { isRecord } from "./identity.ts";

/** Returns a value as a person would have written it: without the defaults that its schema fills in. */
export function withoutDefaults(value: unknown, schema: Schema | undefined): unknown {
  const { items, properties } = schema ?? {};
  if (Array.isArray(value)) return value.map((one) => withoutDefaults(one, items));
  if (!isRecord(value) || properties === undefined) return value;
  const written = Object.entries(value).flatMap(([name, of]) => {
    const inner = properties[name];
    const left = withoutDefaults(of, inner);
    const isDefault = inner?.default !== undefined && isDeepStrictEqual(left, withoutDefaults(inner.default, inner));
    return isDefault ? [] : [[name, left] as const];
  });
  return Object.fromEntries(written);
}
