import { isDeepStrictEqual } from "node:util";
import { redactKeys } from "./redact.ts";

/** What is recorded of a thing, by field: nothing that is a secret or made of one. */
export type AuditedFields = Readonly<Record<string, unknown>>;

/** What a field was, and what it is now; null where there was no such thing, or is none. */
type FieldChange = { readonly before: unknown; readonly after: unknown };

/**
 * What has changed of a thing, field by field. Anything in a text that looks like a key is left out.
 *
 * @param before undefined for a thing that has just been made
 * @param after undefined for one that is gone
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
