import type { Spec } from "../../kinds/kinds.ts";
import type { DeclaredKey, NamedRef } from "../declaration/declared-key.ts";
import type { KeyPolicy, PlainFieldName, ResolvedFieldName } from "../declaration/key-policy.ts";
import type { ResolvedReferences } from "../declaration/resolved-references.ts";

export type KeySpec = Spec<"PlatformKey">;

/** How ids of references are written: as names, undefined for one that cannot be found. */
export type FieldNames = {
  readonly gateway: (id: string) => NamedRef | undefined;
  readonly library: (id: string) => NamedRef | undefined;
};

/** All that is to be said of one field of a key that can change without a new secret. */
export type KeyField<Value> = {
  /** Where a spec says it: plans, events and forms name it so. */
  readonly path: `spec.${keyof KeySpec & string}${"" | `.${string}`}`;
  /** What a plan calls it. */
  readonly label: string;
  /** What a key has that says nothing of it. */
  readonly none: Value;
  /** As a spec says it; empty for what need not be said. */
  readonly write: (value: Value, names: FieldNames) => Partial<KeySpec>;
  readonly show: (value: Value) => string;
  /** Whether a key may do no more by it than before. Every field has to say so: what is not asked would pass. */
  readonly isKept: (after: Value, before: Value) => boolean;
  /** In one order; left out if the order means something, or there is none. */
  readonly sorted?: (value: Value) => Value;
};

/** A field that a declaration says as the store has it. */
export type PlainField<Value> = KeyField<Value> & {
  /** What a spec comes to, of a key of this name. */
  readonly declare: (spec: KeySpec, name: string) => Value;
};

/** A field that a declaration says in another form than the store, or by names in the place of ids. */
type ResolvedField<Value> = KeyField<Value> & {
  readonly resolve: (declared: Pick<DeclaredKey, "state">, references: ResolvedReferences) => Value;
};

export type PlainFields = { readonly [F in PlainFieldName]: PlainField<KeyPolicy[F]> };
export type ResolvedFields = { readonly [F in ResolvedFieldName]: ResolvedField<KeyPolicy[F]> };
/** All of them, as far as they are the same. */
export type PolicyFields = { readonly [F in keyof KeyPolicy]: KeyField<KeyPolicy[F]> };
