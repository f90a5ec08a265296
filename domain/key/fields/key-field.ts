import type { Spec } from "../../kinds/kinds.ts";
import type { DeclaredKey, NamedRef } from "../declaration/declared-key.ts";
import type { KeyPolicy, PlainFieldName, ResolvedFieldName } from "../declaration/key-policy.ts";
import type { ResolvedReferences } from "../declaration/resolved-references.ts";

export type KeySpec = Spec<"PlatformKey">;

/** Names for the ids of references; undefined if an id cannot be found. */
export type FieldNames = {
  readonly gateway: (id: string) => NamedRef | undefined;
  readonly library: (id: string) => NamedRef | undefined;
};

/** Behaviour of one field of a key that can change without a new secret: its path, comparison, text and spec. */
export type KeyField<Value> = {
  /** Path of the field in a spec: plans, events and forms name it so. */
  readonly path: `spec.${keyof KeySpec & string}${"" | `.${string}`}`;
  /** Label of the field in a plan. */
  readonly label: string;
  /** Value of a key that declares nothing for the field. */
  readonly none: Value;
  /** Writes the value as a spec; empty if the value need not be declared. */
  readonly write: (value: Value, names: FieldNames) => Partial<KeySpec>;
  readonly show: (value: Value) => string;
  /** True if a key may do no more by the new value than before. Required of every field: a missing one would pass. */
  readonly isNoWider: (after: Value, before: Value) => boolean;
  /** Returns the value in a canonical order; left out if the order means something, or there is none. */
  readonly sorted?: (value: Value) => Value;
};

/** A field that is declared in the stored form. */
export type PlainField<Value> = KeyField<Value> & {
  /** Returns the value that a spec declares, for a key of this name. */
  readonly declare: (spec: KeySpec, name: string) => Value;
};

/** A field whose declared form differs from the stored form, or that is declared by names instead of ids. */
type ResolvedField<Value> = KeyField<Value> & {
  readonly resolve: (declared: Pick<DeclaredKey, "state">, references: ResolvedReferences) => Value;
};

export type PlainFields = { readonly [F in PlainFieldName]: PlainField<KeyPolicy[F]> };
export type ResolvedFields = { readonly [F in ResolvedFieldName]: ResolvedField<KeyPolicy[F]> };
/** Rows of all fields, with the members that they have in common. */
export type PolicyFields = { readonly [F in keyof KeyPolicy]: KeyField<KeyPolicy[F]> };
