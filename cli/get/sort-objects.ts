/** Order of `--sort-by`: by a field of what `-o json` prints, as in kubectl. */
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { UsageError } from "../command/usage-error.ts";
import type { ListedObject } from "../source/source.ts";

/** Path of a field: names, and positions in lists. */
export type FieldPath = readonly string[];

/**
 * Parses a JSONPath of one field: `.metadata.name`, `{.status.versions[0].mintedAt}`,
 * `.metadata.labels.example\.com/app`.
 *
 * @throws UsageError for anything else
 */
export function parseFieldPath(text: string): FieldPath {
  const inner = /^\{(.*)\}$/.exec(text)?.[1] ?? text;
  const path = inner.startsWith(".") || inner.startsWith("[") ? inner : `.${inner}`;
  const steps = [...path.matchAll(/\.((?:\\.|[^.[\]{}\\])+)|\[(\d+)\]|\['([^']+)'\]/gy)];
  if (steps.length === 0 || steps.map(([step]) => step).join("") !== path) {
    throw new UsageError(`--sort-by ${text}: write the path of a field in -o json, such as .metadata.name`);
  }
  return steps.map(([, name, position, quoted]) => quoted ?? position ?? (name ?? "").replaceAll(/\\(.)/g, "$1"));
}

/** Comparison in which digits count as numbers, so that key-2 comes before key-10. */
const { compare } = new Intl.Collator("en", { numeric: true });

/**
 * Sorts objects by a field; objects without the field come first.
 *
 * @throws UsageError if none of them has it
 */
export function sortedBy<T extends Pick<ListedObject, "json">>(path: FieldPath, objects: readonly T[]): T[] {
  const found = objects.map((object) => ({ object, value: valueAt(object.json, path) }));
  if (found.length > 0 && found.every(({ value }) => value === undefined)) {
    throw new UsageError(`--sort-by: none of them has ${path.join(".")}: see what -o json shows`);
  }
  return found.toSorted((a, b) => compareValues(a.value, b.value)).map(({ object }) => object);
}

function valueAt(json: unknown, path: FieldPath): string | number | undefined {
  const value = path.reduce<unknown>((at, step) => (isField(at, step) ? Object(at)[step] : undefined), json);
  if (value === undefined || value === null) return undefined;
  return typeof value === "number" ? value : typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * True if the value has a field of its own by that name. Inherited members, such as `constructor`, are not fields, nor
 * is the length of a list.
 */
function isField(at: unknown, step: string): boolean {
  return Array.isArray(at) ? /^\d+$/.test(step) : isRecord(at) && Object.hasOwn(at, step);
}

function compareValues(a: string | number | undefined, b: string | number | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  return typeof a === "number" && typeof b === "number" ? a - b : compare(String(a), String(b));
}
