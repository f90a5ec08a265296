import { writeYaml } from "../../../../domain/manifest/document/write-yaml.ts";
import { redactKeys } from "../../../../domain/redact.ts";
import type { Management } from "../../../management/context.ts";
import { newKeyManifest } from "../../../management/keys/make/new-key-manifest.ts";
import { readKey } from "../../../management/keys/request/read-key.ts";
import { platformKey } from "../../../management/keys/shown/key-manifest.ts";
import type { Rights } from "../../../management/rights.ts";
import { formErrorsOf, inFormWords, NO_ERRORS } from "./form-errors.ts";
import { type KeyFields, specOfFields } from "./key-fields.ts";
import type { FormErrors } from "./key-form.ts";
import { endOfLifetime } from "./lifetimes.ts";

/** PlatformKey that a form describes while it is filled in. */
export type FormManifest = {
  /** Manifest; as typed so far if it would be refused. */
  readonly yaml: string;
  readonly errors: FormErrors;
  /** Required values that are still empty, in words. */
  readonly lacks: readonly string[];
  /** Objects that have to be declared before it, such as `MemoryLibrary handbook`. */
  readonly undeclared: readonly string[];
  /**
   * Namespace of the manifest. undefined if the team holds none in a cluster, or if the check did not reach its end.
   */
  readonly namespace: string | undefined;
  /** PlatformKey that already has the name in that namespace, as `namespace/name`: the manifest would change it. */
  readonly declared: string | undefined;
};

/**
 * Checks what was typed as making the key would, and makes nothing.
 *
 * @throws a fault that cannot be corrected in the form, such as Problem `forbidden`
 */
export async function manifestOfForm(
  { store }: Pick<Management, "store">,
  rights: Rights,
  fields: KeyFields,
): Promise<FormManifest> {
  const { name, team, lifetime } = fields;
  const spec = { ...specOfFields(fields), ...(await endOfLifetime(store.db, lifetime)) };
  const lacks = [...(name === "" ? ["a name"] : []), ...(team === "" ? ["a team"] : [])];
  const asTyped = {
    ...{ yaml: yamlOf(platformKey({ name }, spec)), errors: NO_ERRORS, lacks },
    ...{ undeclared: [], namespace: undefined, declared: undefined },
  };
  try {
    const asked = { name, namespace: "", team, spec };
    if (team === "") {
      readKey(asked);
      return asTyped;
    }
    const planned = await store.db.transaction().execute((tx) => newKeyManifest(tx, rights, asked));
    const { manifest, ...placed } = planned;
    return { ...asTyped, yaml: yamlOf(manifest), ...placed };
  } catch (error) {
    return { ...asTyped, errors: withoutLacking(inFormWords(formErrorsOf(error).errors, fields), fields) };
  }
}

/** Writes a manifest as YAML, without a key that was pasted into a field. */
function yamlOf(manifest: object): string {
  return redactKeys(writeYaml(manifest));
}

/** Drops the fault of a name that is not typed yet. */
function withoutLacking({ fields, whole }: FormErrors, { name }: KeyFields): FormErrors {
  const faults = [...fields].filter(([field]) => field !== "name" || name !== "");
  return { fields: new Map(faults), whole: faults.length === 0 && fields.size > 0 ? "" : whole };
}
