import type { Kind, Spec } from "../../../../domain/kinds/kinds.ts";
import { checkSpec } from "../../../../domain/manifest/validation/check-spec.ts";

/** A spec with its schema's defaults; fails the test where it is not valid. */
export function checkedSpec<K extends Kind>(kind: K, spec: object): Spec<K> {
  const checked = checkSpec(kind, "one", spec);
  if ("diagnostics" in checked) throw new Error(JSON.stringify(checked.diagnostics));
  return checked.spec;
}
