import { type RawBuilder, sql } from "kysely";
import type { Scope } from "../../../domain/access/scopes.ts";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { toDate } from "../../database/times.ts";
import { isInState, type ListedState } from "./key-lists.ts";

/** What keys are looked for by, besides their state: each is one question about a row. */
export const KEY_TRAITS = ["declared", "by-hand", "leaked", "unused", "long-unused", "endless"] as const;
export type KeyTrait = (typeof KEY_TRAITS)[number];

const DAY_MS = 24 * 60 * 60_000;
/** A key that no call has used for so long, and that is older, is unused. Milliseconds. */
const UNUSED_MS = { unused: 30 * DAY_MS, "long-unused": 90 * DAY_MS } as const;

/** The scopes of which one is needed to have a model asked. */
const MODEL_SCOPES: readonly Scope[] = ["gateway:generate", "gateway:embed"];

/** Which keys a search wants. */
export type KeyCriteria = {
  /**
   * A part of the name, the display name or what the key states for people, in any letters, small or capital; one or two characters are looked for at its
   * beginning. Empty for every name.
   */
  readonly name: string;
  /** Those that are in this state at that moment, in milliseconds since the epoch. */
  readonly state: { readonly is: ListedState; readonly at: number } | undefined;
  /** Those with this scope; every key's where it is left out. */
  readonly scope?: Scope | undefined;
  /** Those that may name this model at a gateway; every key where it is left out. */
  readonly model?: string | undefined;
  /** Those of which this holds at that moment, in milliseconds since the epoch. */
  readonly trait?: { readonly is: KeyTrait; readonly at: number } | undefined;
  /** Those that are bound to any of these gateways and libraries by their ids; every key where it is left out. */
  readonly boundTo?: readonly string[] | undefined;
  /** Those of any of these teams; undefined for every team. */
  readonly teamIds: readonly string[] | undefined;
};

/** Whether nothing is asked of a key but its team. */
export function isAnyKey({ name, state, scope, model, trait, boundTo }: KeyCriteria): boolean {
  return name === "" && [state, scope, model, trait, boundTo].every((filter) => filter === undefined);
}

/** Whether a row `k` of `keys` is wanted, of whichever team it is. */
export function isWanted({ name, state, scope, model, trait, boundTo }: KeyCriteria): RawBuilder<unknown> {
  const conditions = [isNamed(name)];
  if (state !== undefined) conditions.push(isInState(state.is, toDate(state.at)));
  if (scope !== undefined) conditions.push(sql`${scope} = any(k.scopes)`);
  if (model !== undefined) conditions.push(mayNameModel(model));
  if (trait !== undefined) conditions.push(hasTrait(trait.is, trait.at));
  if (boundTo !== undefined) conditions.push(isBoundTo(boundTo));
  return sql.join(conditions, sql` and `);
}

/** Whether a row `k` of `keys` has this text in a name or in what it states, or one begins with it where it is short. */
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

/** Whether a key may have a model asked: one without a list may name any. */
function mayNameModel(model: string): RawBuilder<unknown> {
  return sql`(k.scopes && ${MODEL_SCOPES}::text[] and (k.allowed_models is null or ${model} = any(k.allowed_models)))`;
}

/** Whether this holds of a row `k` of `keys`, at a moment in milliseconds since the epoch. */
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
