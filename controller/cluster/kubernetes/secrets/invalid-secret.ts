/**
 * Names the fields of a Secret to be written that the API server finds invalid, because of what others have left in it.
 */
import type { ApiError } from "../api/api-error.ts";

/** Fields of a Secret. Names within a field are not shown: others choose them, and they may be part of a key. */
const FIELDS = [
  ...["data", "immutable", "type"],
  ...["annotations", "finalizers", "labels", "ownerReferences"].map((field) => `metadata.${field}`),
];

/**
 * Names the fields for which the API server's own validation refuses a Secret, which then is as it was.
 *
 * @returns undefined for an answer that is not of its validation
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

/** True if a path, such as `data[username]`, leads to a field or into it. */
function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`);
}
