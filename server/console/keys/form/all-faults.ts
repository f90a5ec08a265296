import { defined } from "../../../../domain/defined.ts";
import type { Db } from "../../../../store/database/change.ts";
import { findApiManagedKey } from "../../../../store/keys/rows/api-managed-keys.ts";
import type { Problem } from "../../../http/problems/problem.ts";
import { readKey, resolvePolicy } from "../../../management/keys/request/read-key.ts";
import { nameTaken, teamFor } from "../../../management/objects/placement.ts";
import type { Rights } from "../../../management/rights.ts";
import { BESIDE_FIELDS, formErrorsOf, inFormWords } from "./form-errors.ts";
import { type KeyFields, specOfFields } from "./key-fields.ts";
import type { FormErrors } from "./key-form.ts";

/** Key as a form asks for it. */
type AskedKey = {
  readonly fields: KeyFields;
  readonly rights: Rights;
  /** Namespace in which the references of the key are looked up; empty for a key that is to be made. */
  readonly namespace: string;
};

/**
 * Returns the refusal of the form of a new key, and all other faults in it. The API reports the faults of the team, of
 * the fields and of their references one kind after the other, as each check needs the one before.
 *
 * @throws the given error if it cannot be corrected in the form
 */
export async function faultsOfNewKey(
  db: Db,
  error: unknown,
  asked: AskedKey,
): Promise<{ readonly shown: Problem; readonly errors: FormErrors }> {
  const { shown, errors } = formErrorsOf(error);
  const { name } = asked.fields;
  const spec = specOfFields(asked.fields);
  const ofFields = await faultsOf(() => readKey({ name, namespace: "", spec }));
  const ofName = ofFields.has("name") ? NONE : await faultsOf(() => requireFreeName(db, asked));
  const all = merged(errors, [ofFields, ofName, ...(await faultsOfReferences(db, asked))]);
  return { shown, errors: inFormWords(all, asked.fields) };
}

/**
 * Returns the refusal of a form that edits a key, and all other faults in it. The key's own name and team stay. @throws
 * the given error if it cannot be corrected in the form
 */
export async function faultsOfEdit(
  db: Db,
  error: unknown,
  asked: AskedKey,
): Promise<{ readonly shown: Problem; readonly errors: FormErrors }> {
  const { shown, errors } = formErrorsOf(error);
  const all = shown.code === "invalid" ? merged(errors, await faultsOfReferences(db, asked)) : errors;
  return { shown, errors: inFormWords(all, { ...asked.fields, lifetime: "date" }) };
}

type Faults = FormErrors["fields"];
const NONE: Faults = new Map();

/** Returns the faults that a check finds. None if the check cannot be made, such as without a team. */
async function faultsOf(judge: () => unknown): Promise<Faults> {
  try {
    await judge();
    return NONE;
  } catch (error) {
    return formErrorsOf(error).errors.fields;
  }
}

/** Merges faults; of a field that has several, `fields` decides. */
function merged({ fields, whole }: FormErrors, others: readonly Faults[]): FormErrors {
  const all = new Map([...others.flatMap((one) => [...one]), ...fields]);
  if (all.size === fields.size || whole.includes(BESIDE_FIELDS)) return { fields: all, whole };
  return { fields: all, whole: fields.size === 0 ? `${whole} ${BESIDE_FIELDS}` : BESIDE_FIELDS };
}

async function requireFreeName(db: Db, { fields: { name, team }, rights }: AskedKey): Promise<void> {
  const { id: teamId } = await teamFor(db, rights, team, "make keys");
  const key = { teamId, namespace: "", name };
  const taken = await db.transaction().execute((tx) => findApiManagedKey(tx, key));
  if (taken !== undefined) throw nameTaken("key", taken);
}

/** Returns the faults of each reference of a form, looked up alone, whatever else is wrong with the form. */
async function faultsOfReferences(db: Db, { fields, rights, namespace }: AskedKey): Promise<Faults[]> {
  const { gatewayRef, libraryAccess, mcpDefaultLibraryRef } = specOfFields(fields);
  const faults: Faults[] = [];
  const ofTeam = await faultsOf(async () => {
    const { id } = await teamFor(db, rights, fields.team, "make keys");
    for (const reference of [{ gatewayRef }, { libraryAccess }, { mcpDefaultLibraryRef }].map(defined)) {
      // A preset whose scopes make each of these references valid.
      const spec = { preset: "GatewayDefault", ...reference };
      faults.push(await faultsOf(() => resolvePolicy(db, id, readKey({ name: "any", namespace, spec }).declared)));
    }
  });
  return [ofTeam, ...faults];
}
