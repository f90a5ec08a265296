import { SCHEMAS } from "../../kinds/generated/schemas.ts";
import type { Kind, Spec } from "../../kinds/kinds.ts";
import { type Complaint, formatPath } from "../document/diagnostic.ts";
import { checkRules } from "./rules.ts";
import { checkSchema } from "./schema-check.ts";

/** A fault of a field, with the instruction what to write instead. */
export type FieldDiagnostic = { readonly path: string; readonly message: string };

/** A spec with its schema's defaults filled in, or its faults. */
type CheckedSpec<K extends Kind> = { readonly spec: Spec<K> } | { readonly diagnostics: readonly FieldDiagnostic[] };

/** Maximum number of faults in an answer: the first ones are enough. */
const MAX_DIAGNOSTICS = 20;

/**
 * Checks a spec without a manifest around it, as admission would: schema, CEL rules, unknown fields refused.
 *
 * @param name of the object
 * @param old the stored object, if there is one: the transition rules are checked against it
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
  // The schema has checked the spec, so the cast is sound.
  return diagnostics.length > 0
    ? { diagnostics: diagnostics.slice(0, MAX_DIAGNOSTICS) }
    : { spec: self.spec as Spec<K> };
}

/** Returns a complaint in the form that is reported if there is no file. */
export function toFieldDiagnostic({ path, message }: Complaint): FieldDiagnostic {
  return { path: formatPath(path), message };
}
