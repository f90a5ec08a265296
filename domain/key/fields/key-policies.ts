/** Policies of keys by the rows of their fields: made from a declaration, compared, and written. */
import { isDeepStrictEqual } from "node:util";
import type { ApiManagedKeySpec } from "../declaration/api-managed-key.ts";
import type { DeclaredKey } from "../declaration/declared-key.ts";
import type { KeyPolicy, PlainFieldName } from "../declaration/key-policy.ts";
import type { ResolvedReferences } from "../declaration/resolved-references.ts";
import type { FieldNames, KeyField, KeySpec, PolicyFields } from "./key-field.ts";
import { KEY_FIELDS, PLAIN_FIELDS, RESOLVED_FIELDS } from "./key-fields.ts";

type FieldName = keyof KeyPolicy;

/** Field names in the order in which they are shown. Cast: TypeScript types the keys of an object as any string. */
const NAMES = Object.keys(KEY_FIELDS) as FieldName[];
const PLAIN_NAMES = NAMES.filter((name) => isPlain(name));
const RESOLVED_NAMES = NAMES.filter((name) => !isPlain(name));

/** True if a field is declared in the stored form. */
function isPlain(name: FieldName): name is PlainFieldName {
  return "declare" in KEY_FIELDS[name];
}

/** Policy of a key that declares nothing. */
export const NO_POLICY: KeyPolicy = buildPolicy((name) => KEY_FIELDS[name].none);

/** Builds a policy from the value that `of` returns for each field. */
export function buildPolicy(of: <F extends FieldName>(name: F) => KeyPolicy[F]): KeyPolicy {
  return build(NAMES, of);
}

/** Parses the fields of a valid spec that are stored as they are declared, for a key of this name. */
export function declareFields(spec: KeySpec, name: string): Pick<KeyPolicy, PlainFieldName> {
  return build(PLAIN_NAMES, (field) => PLAIN_FIELDS[field].declare(spec, name));
}

/** Returns the policy that the store should hold for a declared key. */
export function policyOf(
  declared: Pick<DeclaredKey, PlainFieldName | "state">,
  references: ResolvedReferences,
): KeyPolicy {
  return {
    ...build(PLAIN_NAMES, (field) => declared[field]),
    ...build(RESOLVED_NAMES, (field) => RESOLVED_FIELDS[field].resolve(declared, references)),
  };
}

/** Compares policies by content; the order of lists that are sets does not matter. */
export function samePolicy(a: KeyPolicy, b: KeyPolicy): boolean {
  return NAMES.every((name) => isUnchanged(name, a, b));
}

function isUnchanged<F extends FieldName>(name: F, a: KeyPolicy, b: KeyPolicy): boolean {
  if (a[name] === b[name]) return true;
  const { sorted = asIs }: PolicyFields[F] = KEY_FIELDS[name];
  return isDeepStrictEqual(sorted(a[name]), sorted(b[name]));
}

function asIs<T>(value: T): T {
  return value;
}

/** True if a key may do no more by one policy than by another; suspension is not compared. */
export function isNoWider(after: KeyPolicy, before: KeyPolicy): boolean {
  return NAMES.every((name) => isFieldKept(name, after, before));
}

function isFieldKept<F extends FieldName>(name: F, after: KeyPolicy, before: KeyPolicy): boolean {
  const field: PolicyFields[F] = KEY_FIELDS[name];
  return field.isNoWider(after[name], before[name]);
}

/** A field that differs between two policies, with both values as text. */
export type FieldDifference = Pick<KeyField<unknown>, "path" | "label"> & {
  readonly field: keyof KeyPolicy;
  readonly before: string;
  readonly after: string;
};

/** Returns the fields that differ, in the order in which they are shown. */
export function policyDifferences(before: KeyPolicy, after: KeyPolicy): FieldDifference[] {
  return NAMES.filter((name) => !isUnchanged(name, before, after)).map((name) => differenceOf(name, before, after));
}

function differenceOf<F extends FieldName>(name: F, before: KeyPolicy, after: KeyPolicy): FieldDifference {
  const { path, label, show }: PolicyFields[F] = KEY_FIELDS[name];
  return { field: name, path, label, before: show(before[name]), after: show(after[name]) };
}

/**
 * True if a field of a spec, such as `spec.rateLimit.burst`, is a policy's field of this path, a part of it or around it.
 * A preset stands for scopes.
 */
export function isOfField(field: string, path: string): boolean {
  if (field === "spec.preset") return path === "spec.scopes";
  const [outer = "", inner = ""] = field.length < path.length ? [field, path] : [path, field];
  return inner.startsWith(outer) && !/^\w/.test(inner.slice(outer.length));
}

/** Returns the spec that a policy comes from, without references that cannot be found. */
export function specOfPolicy(policy: KeyPolicy, names: FieldNames): ApiManagedKeySpec {
  const spec: Partial<KeySpec> = {};
  for (const name of NAMES) {
    const more = writeField(name, policy, names);
    Object.assign(spec, more, more.rateLimit && { rateLimit: { ...spec.rateLimit, ...more.rateLimit } });
  }
  return { ...spec, state: spec.state ?? "Active" };
}

function writeField<F extends FieldName>(name: F, policy: KeyPolicy, names: FieldNames): Partial<KeySpec> {
  const field: PolicyFields[F] = KEY_FIELDS[name];
  return field.write(policy[name], names);
}

/** Builds an object from the value of each name. Cast: each name is given the value of its own type. */
function build<K extends FieldName>(names: readonly K[], of: (name: K) => KeyPolicy[K]) {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Pick<KeyPolicy, K>;
}
