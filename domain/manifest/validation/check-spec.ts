import { SCHEMAS } from "../../kinds/generated/schemas.ts";
import type { Kind, Spec } from "../../kinds/kinds.ts";
import { type Complaint, formatPath } from "../document/diagnostic.ts";
import { checkRules } from "./rules.ts";
import { checkSchema } from "./schema-check.ts";

/** What is wrong with a field, and what to write instead. */
export type FieldDiagnostic = { readonly path: string; readonly message: string };

/** A spec with its schema's defaults filled in, or what is wrong with it. */
type CheckedSpec<K extends Kind> = { readonly spec: Spec<K> } | { readonly diagnostics: readonly FieldDiagnostic[] };

/** Of many faults the first ones say enough. */
const MAX_DIAGNOSTICS = 20;

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
  const diagnostics = complaints.filter(({ severity }) => severity !== "warning").map(toFieldDiagnostic);
  // What the schema has checked becomes its type here.
  return diagnostics.length > 0
    ? { diagnostics: diagnostics.slice(0, MAX_DIAGNOSTICS) }
    : { spec: self.spec as Spec<K> };
}

/** A complaint as it is reported where there is no file. */
export function toFieldDiagnostic({ path, message }: Complaint): FieldDiagnostic {
  return { path: formatPath(path), message };
}
