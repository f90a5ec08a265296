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

/** The PlatformKey that a form which is being filled in comes to. */
export type FormManifest = {
  /** As it was typed so far, where it would be refused. */
  readonly yaml: string;
  readonly errors: FormErrors;
  /** What the form begins without and needs, in words. */
  readonly lacks: readonly string[];
  /** What is to be declared before it, as `MemoryLibrary handbook`. */
  readonly undeclared: readonly string[];
  /** Undefined where the team holds none in a cluster, and where nothing is judged to the end. */
  readonly namespace: string | undefined;
  /** The PlatformKey that has the name there, as `namespace/name`: the manifest would change that one. */
  readonly declared: string | undefined;
};

/**
 * Judges what was typed as making the key would, and makes nothing.
 *
 * @throws what is wrong and cannot be corrected in the form, such as Problem `forbidden`
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

/** A key that was pasted into a field is not repeated. */
function yamlOf(manifest: object): string {
  return redactKeys(writeYaml(manifest));
}

/** A name that is still to be typed is no fault. */
function withoutLacking({ fields, whole }: FormErrors, { name }: KeyFields): FormErrors {
  const faults = [...fields].filter(([field]) => field !== "name" || name !== "");
  return { fields: new Map(faults), whole: faults.length === 0 && fields.size > 0 ? "" : whole };
}
