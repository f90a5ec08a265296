import { type Complaint, formatPath } from "./fault.ts";
import { SCHEMAS } from "./generated/schemas.ts";
import type { Kind, Spec } from "./kinds.ts";
import { checkRules } from "./rules.ts";
import { checkSchema } from "./schema-check.ts";

/** What is wrong with a field, and what to write instead. */
export type FieldFault = { readonly path: string; readonly message: string };

/** A spec with its schema's defaults filled in, or what is wrong with it. */
export type CheckedSpec<K extends Kind> = { readonly spec: Spec<K> } | { readonly faults: readonly FieldFault[] };

/** Of many faults the first ones say enough. */
const MAX_FAULTS = 20;

/**
 * Checks a spec that comes without a manifest around it, as admission would: schema, CEL rules, unknown fields refused.
 *
 * @param name of the object
 * @param old what is stored of it, where there is something: the transition rules are checked with it
 */
export function checkSpec<K extends Kind>(
  kind: K,
  name: string,
  spec: unknown,
  old?: { readonly spec: unknown; readonly status: unknown },
): CheckedSpec<K> {
  const self: Record<string, unknown> = structuredClone({ metadata: { name }, spec });
  const complaints: Complaint[] = checkSchema(kind, self);
  const oldSelf = old && { metadata: self.metadata, ...old };
  complaints.push(...checkRules(SCHEMAS[kind], self, oldSelf, complaints));
  const faults = complaints.filter(({ severity }) => severity !== "warning").map(fieldFault);
  // What the schema has checked becomes its type here.
  return faults.length > 0 ? { faults: faults.slice(0, MAX_FAULTS) } : { spec: self.spec as Spec<K> };
}

/** A complaint as those outside of any file are told of it. */
export function fieldFault({ path, message }: Complaint): FieldFault {
  return { path: formatPath(path), message };
}
