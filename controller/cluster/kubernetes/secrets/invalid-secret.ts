/** What the API server finds invalid of a Secret that was to be written: what others have left in it does not go with it. */
import type { ApiError } from "../api/api-error.ts";

/** The fields of a Secret. What is in one is not named: it is others' choice, and may be part of a key. */
const FIELDS = [
  ...["data", "immutable", "type"],
  ...["annotations", "finalizers", "labels", "ownerReferences"].map((field) => `metadata.${field}`),
];

/**
 * Names the fields by which the API server's own validation refuses a Secret, which then is as it was.
 *
 * @returns undefined for an answer that is none of its validation
 */
export function invalidSecret({
  status,
  reason,
  fields,
}: Pick<ApiError, "status" | "reason" | "fields">): string | undefined {
  if (status !== 422 || reason !== "Invalid") return undefined;
  const named = FIELDS.filter((name) => fields.some((field) => isWithin(field, name)));
  const by = named.length > 0 ? ` by ${named.join(" and ")}` : "";
  return `the API server finds it invalid${by} with what something else has left in it`;
}

/** Whether a path, such as `data[username]`, leads to a field or into it. */
function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`);
}
