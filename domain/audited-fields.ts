import { isDeepStrictEqual } from "node:util";
import { redactKeys } from "./redact.ts";

/** Recorded values of an object, by field: nothing that is a secret or derived from one. */
export type AuditedFields = Readonly<Record<string, unknown>>;

/** Change of a field: its value before and after; null if the object or the field did not exist. */
type FieldChange = { readonly before: unknown; readonly after: unknown };

/**
 * Returns the changes of an object, field by field. Anything in a text that looks like a key is left out.
 *
 * @param before undefined for an object that has just been made
 * @param after undefined for an object that is gone
 */
export function changedFields(
  before: AuditedFields | undefined,
  after: AuditedFields | undefined,
): Readonly<Record<string, FieldChange>> {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changes: Record<string, FieldChange> = {};
  for (const field of fields) {
    const change = { before: before?.[field] ?? null, after: after?.[field] ?? null };
    if (isDeepStrictEqual(change.before, change.after)) continue;
    changes[field] = { before: cleaned(change.before), after: cleaned(change.after) };
  }
  return changes;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return redactKeys(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cleaned(inner)]));
}
