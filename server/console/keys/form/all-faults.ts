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

/** A key as a form asks for it. */
type AskedKey = {
  readonly fields: KeyFields;
  readonly rights: Rights;
  /** Where what is changed is named; empty for a key that is to be made. */
  readonly namespace: string;
};

/**
 * What the form of a new key was refused for, and all else that is wrong with it: the API says the faults of the team,
 * of the fields and of what they refer to one kind after the other, as each is judged by the one before.
 *
 * @throws what was thrown, where it cannot be corrected in the form
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

/** The same of a form that edits a key, whose own name and team stay. */
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

/** What is wrong by a judgement; nothing where it cannot be made, such as without a team. */
async function faultsOf(judge: () => unknown): Promise<Faults> {
  try {
    await judge();
    return NONE;
  } catch (error) {
    return formErrorsOf(error).errors.fields;
  }
}

/** Both, and of one field what it was refused for. */
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

/** What is wrong with what a form refers to: each looked up alone, whatever else is wrong with it. */
async function faultsOfReferences(db: Db, { fields, rights, namespace }: AskedKey): Promise<Faults[]> {
  const { gatewayRef, libraryAccess, mcpDefaultLibraryRef } = specOfFields(fields);
  const faults: Faults[] = [];
  const ofTeam = await faultsOf(async () => {
    const { id } = await teamFor(db, rights, fields.team, "make keys");
    for (const reference of [{ gatewayRef }, { libraryAccess }, { mcpDefaultLibraryRef }].map(defined)) {
      // A preset by which all of them mean something.
      const spec = { preset: "GatewayDefault", ...reference };
      faults.push(await faultsOf(() => resolvePolicy(db, id, readKey({ name: "any", namespace, spec }).declared)));
    }
  });
  return [ofTeam, ...faults];
}
