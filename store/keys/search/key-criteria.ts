import { type RawBuilder, sql } from "kysely";
import type { Scope } from "../../../domain/access/scopes.ts";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { toDate } from "../../database/times.ts";
import { isInState, type ListedState } from "./key-lists.ts";

/** Traits that keys are searched by, besides their state. Each is one condition on a row. */
export const KEY_TRAITS = ["declared", "by-hand", "leaked", "unused", "long-unused", "endless"] as const;
export type KeyTrait = (typeof KEY_TRAITS)[number];

const DAY_MS = 24 * 60 * 60_000;
/** Milliseconds without a call after which a key is unused, if it is older than that. */
const UNUSED_MS = { unused: 30 * DAY_MS, "long-unused": 90 * DAY_MS } as const;

/** Scopes of which a key needs at least one to call a model. */
const MODEL_SCOPES: readonly Scope[] = ["gateway:generate", "gateway:embed"];

/** Criteria of a key search. */
export type KeyCriteria = {
  /**
   * Part of the name, the display name or what the key states for people, in small or capital letters. One or two
   * characters match at the beginning only. Empty for every name.
   */
  readonly name: string;
  /** State that a key is in at that moment, in milliseconds since the epoch. */
  readonly state: { readonly is: ListedState; readonly at: number } | undefined;
  /** Scope that a key has; every key matches if it is left out. */
  readonly scope?: Scope | undefined;
  /** Model that a key may name at a gateway; every key matches if it is left out. */
  readonly model?: string | undefined;
  /** Trait that a key has at that moment, in milliseconds since the epoch. */
  readonly trait?: { readonly is: KeyTrait; readonly at: number } | undefined;
  /** Ids of gateways and libraries of which a key is bound to at least one; every key matches if it is left out. */
  readonly boundTo?: readonly string[] | undefined;
  /** Teams whose keys match; undefined for every team. */
  readonly teamIds: readonly string[] | undefined;
};

/** True if the criteria ask nothing of a key but its team. */
export function isAnyKey({ name, state, scope, model, trait, boundTo }: KeyCriteria): boolean {
  return name === "" && [state, scope, model, trait, boundTo].every((filter) => filter === undefined);
}

/** Returns the SQL condition that a row `k` of `keys` meets the criteria, except for its team. */
export function isWanted({ name, state, scope, model, trait, boundTo }: KeyCriteria): RawBuilder<unknown> {
  const conditions = [isNamed(name)];
  if (state !== undefined) conditions.push(isInState(state.is, toDate(state.at)));
  if (scope !== undefined) conditions.push(sql`${scope} = any(k.scopes)`);
  if (model !== undefined) conditions.push(mayNameModel(model));
  if (trait !== undefined) conditions.push(hasTrait(trait.is, trait.at));
  if (boundTo !== undefined) conditions.push(isBoundTo(boundTo));
  return sql.join(conditions, sql` and `);
}

/**
 * Returns the SQL condition that a name or a stated fact of a row `k` of `keys` contains this text, or begins with it
 * if the text has one or two characters.
 */
function isNamed(text: string): RawBuilder<unknown> {
  if (text === "") return sql`true`;
  const has = (name: RawBuilder<unknown>) =>
    [...text].length > 2 ? sql`position(${text} in ${name}) > 0` : sql`starts_with(${name}, ${text})`;
  return sql`(${has(sql`k.name`)} or (k.display_name <> k.name and ${has(sql`lower(k.display_name)`)})
    or (k.facts <> '{}' and ${has(sql`fact_text(k.facts)`)}))`;
}

function isBoundTo(ids: readonly string[]): RawBuilder<unknown> {
  return sql`(k.gateway_id = any(${ids}::text[])
    or exists (select from key_libraries l where l.key_id = k.id and l.library_id = any(${ids}::text[])))`;
}

/** Returns the SQL condition that a key may call a model. A key without a list may name any model. */
function mayNameModel(model: string): RawBuilder<unknown> {
  return sql`(k.scopes && ${MODEL_SCOPES}::text[] and (k.allowed_models is null or ${model} = any(k.allowed_models)))`;
}

/** Returns the SQL condition that a row `k` of `keys` has a trait at a moment, in milliseconds since the epoch. */
function hasTrait(trait: KeyTrait, at: number): RawBuilder<unknown> {
  switch (trait) {
    case "declared":
      return sql`k.cluster <> ${API_CLUSTER}`;
    case "by-hand":
      return sql`k.cluster = ${API_CLUSTER}`;
    case "leaked":
      return sql`exists (select from key_leaks l where l.key_id = k.id)`;
    case "unused":
    case "long-unused": {
      const since = toDate(at - UNUSED_MS[trait]);
      return sql`k.created_at < ${since}
        and exists (select from key_last_uses u where u.key_id = k.id and u.used_at < ${since})`;
    }
    case "endless":
      return sql`k.ends_at = 'infinity'`;
  }
}
