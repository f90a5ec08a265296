/** Difference between what a stack has and what its program wants. */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { UNKNOWN } from "./values.ts";

export type Difference = {
  /** Path in Pulumi's notation: `upstreams[0].baseURL`. */
  readonly path: string;
  readonly what: "add" | "delete" | "update";
};

/** Returns every difference between two values, by the deepest path to it. */
export function differences(old: unknown, next: unknown, path = ""): Difference[] {
  if (isDeepStrictEqual(old, next)) return [];
  if (old === undefined) return [{ path, what: "add" }];
  if (next === undefined) return [{ path, what: "delete" }];
  if (Array.isArray(old) && Array.isArray(next)) {
    const longest = Math.max(old.length, next.length);
    return Array.from({ length: longest }, (_, i) => differences(old[i], next[i], `${path}[${i}]`)).flat();
  }
  if (isRecord(old) && isRecord(next) && next !== (UNKNOWN as unknown)) {
    const fields = [...new Set([...Object.keys(old), ...Object.keys(next)])];
    return fields.flatMap((field) => differences(old[field], next[field], path === "" ? field : `${path}.${field}`));
  }
  return [{ path, what: "update" }];
}

/** Returns the first property of a path. */
export function propertyOf(path: string): string {
  return path.split(/[.[]/)[0] ?? path;
}
