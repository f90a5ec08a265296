import { type RawBuilder, sql } from "kysely";
import type { Scope } from "../../../domain/access/scopes.ts";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import {
  type BoundedPage,
  findBoundedPage,
  PAGE_BOUNDS,
  type PageBounds,
  type ScannedRows,
} from "../../database/bounded-page.ts";
import type { Db, Tx } from "../../database/change.ts";
import { withOrderedPlans } from "../../database/ordered-plans.ts";
import { isOfTeam } from "../../database/rows-of-team.ts";
import { toDate } from "../../database/times.ts";
import { loadKeysById } from "../rows/key-rows.ts";
import { isInState, type ListedKey, type ListedState, withoutDigests } from "./key-lists.ts";
import { type KeyOrder, type KeyPosition, orderSql } from "./key-orders.ts";
import { type LostNamespace, lostNamespaces } from "./lost-namespaces.ts";

/** What keys are looked for by, besides their state: each is one question about a row. */
export const KEY_TRAITS = ["declared", "by-hand", "leaked", "unused", "long-unused", "endless"] as const;
export type KeyTrait = (typeof KEY_TRAITS)[number];

const DAY_MS = 24 * 60 * 60_000;
/** A key that no call has used for so long, and that is older, is unused. Milliseconds. */
const UNUSED_MS = { unused: 30 * DAY_MS, "long-unused": 90 * DAY_MS } as const;

/** The scopes of which one is needed to have a model asked. */
const MODEL_SCOPES: readonly Scope[] = ["gateway:generate", "gateway:embed"];

/** A search among the keys. */
export type KeySearch = {
  /**
   * A part of the name or the display name, in any letters, small or capital; one or two characters are looked for at its
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
  readonly order: KeyOrder;
  /** Where the page before ended; or the one behind it began, where the list is read backward. */
  readonly after: KeyPosition | undefined;
  /** Whether the keys before that are wanted: the nearest of them, in the list's order. */
  readonly isBackward?: boolean;
  readonly limit: number;
};

/** A page of keys with their positions, and where the next one begins; or the one before, read backward. */
export type FoundKeys = BoundedPage<KeyPosition> & { readonly keys: readonly ListedKey[] };

/** How much work one page may be, however many keys there are. */
export type KeySearchBounds = PageBounds & {
  /** Namespaces that are looked at for those that their teams have lost. */
  readonly places: number;
};
const BOUNDS: KeySearchBounds = { ...PAGE_BOUNDS, places: 2_000 };
/** Keys of each of several teams that are looked at at a time. */
const LEAST_OF_A_TEAM = 20;

/** Finds a page of keys in an order. */
export async function searchKeys(db: Db, search: KeySearch, bounds: KeySearchBounds = BOUNDS): Promise<FoundKeys> {
  const found = await findPositions(db, search, bounds);
  const positions = search.isBackward ? found.positions.toReversed() : found.positions;
  const ids = positions.map(({ id }) => id);
  return { ...found, positions, keys: await findKeys(db, ids) };
}

/** Finds where the keys of a page are, in the order in which they are read. */
export async function findPositions(
  db: Db,
  asked: KeySearch,
  bounds: KeySearchBounds = BOUNDS,
): Promise<BoundedPage<KeyPosition>> {
  const search = { ...asked, name: await inSmallLetters(db, asked.name) };
  return findBoundedPage(search.limit, bounds, {
    walk: (within) => walk(db, search, within),
    askIndex: () => askIndex(db, search, bounds),
  });
}

/** A text as the database's `lower` has it, which depends on its locale beyond ASCII. */
async function inSmallLetters(db: Db, text: string): Promise<string> {
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  const { rows } = await sql<{ text: string }>`select lower(${text}) as text`.execute(db);
  return rows[0]?.text ?? text;
}

/** More than there are of one name. */
const MOST_BINDINGS = 10_000;

/**
 * The gateways and libraries that a text names, by their name or their id.
 *
 * @param teamIds whose they are; undefined for every team's
 */
export async function findBindings(db: Db, text: string, teamIds: readonly string[] | undefined): Promise<string[]> {
  const named = sql`(id = ${text} or name = ${text})
    ${teamIds === undefined ? sql`` : sql`and team_id = any(${teamIds}::text[])`}`;
  // What subjects have is behind all libraries in the order of the ids, and is not read through.
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<{ id: string }>`select id from gateways where ${named}
      union select id from libraries where id < 'part_' and ${named} limit ${MOST_BINDINGS}`.execute(tx),
  );
  return rows.map(({ id }) => id);
}

/** The keys with these ids, in this order; one that is no more is left out. */
export async function findKeys(db: Db, ids: readonly string[]): Promise<ListedKey[]> {
  const keys = await loadKeysById(db, ids);
  const byId = new Map(keys.map((key) => [key.id, withoutDigests(key)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/**
 * The keys that a text identifies exactly: by an id, or by the first characters of one of their secrets.
 *
 * @returns their ids, of ten keys at most
 */
export async function identifyKeys(db: Db, text: string, teamIds: readonly string[] | undefined): Promise<string[]> {
  // Each of the two by its index: asked for by one condition, they are looked for among all keys.
  const { rows } = await sql<{ id: string }>`
    with found as materialized (
      (select id from keys where id = lower(${text}))
      union (select key_id from key_versions where prefix = ${text}) limit 100
    )
    select k.id from found join keys k on k.id = found.id
    ${teamIds === undefined ? sql`` : sql`where k.team_id = any(${teamIds}::text[])`}
    order by k.id limit 10`.execute(db);
  return rows.map(({ id }) => id);
}

/** @returns undefined where nothing is asked for that few keys have, or where too many have it */
async function askIndex(
  db: Db,
  search: KeySearch,
  bounds: KeySearchBounds,
): Promise<ScannedRows<KeyPosition> | undefined> {
  const { order, after, limit } = search;
  const { found } = bounds;
  const candidates = await candidatesOf(db, search, bounds);
  if (candidates === undefined) return undefined;
  const { joinToKey, id, column, place, direction, isAfter } = orderSql(order, search.isBackward ?? false);
  const from = after === undefined ? sql`true` : isAfter(after);
  const rows = await withOrderedPlans(db, async (tx) => {
    // The rows that were found are few, and come in no order; by the list's own every key might be read for a page.
    await sql`select set_config('enable_sort', 'on', true)`.execute(tx);
    const { rows } = await sql<{ count: number; id: string | null; place: string }>`
      with candidates as materialized (
        select k.* from (${candidates}) k limit ${found + 1}
      ), placed as materialized (
        select ${id} as id, ${place} as place, ${column} as ordered
        from candidates k ${joinToKey} where ${isWanted(search)} and ${from}
      )
      select (select count(*)::integer from candidates) as count, page.id, page.place
      from (select) one left join lateral (
        select id, place from placed order by ordered ${direction}, id ${direction} limit ${limit + 1}
      ) page on true`.execute(tx);
    return rows;
  });
  if (rows.some(({ count }) => count > found)) return undefined;
  return { positions: rows.flatMap(({ id, place }) => (id === null ? [] : { id, place })), next: null };
}

/** The keys that may be wanted, as an index has it; undefined where most keys may be. */
async function candidatesOf(
  db: Db,
  { name, state, trait, boundTo, teamIds }: KeySearch,
  { found, places }: KeySearchBounds,
): Promise<RawBuilder<unknown> | undefined> {
  const ofTeams = teamIds === undefined ? sql`true` : sql`k.team_id = any(${teamIds}::text[])`;
  if (trait?.is === "leaked") {
    return sql`select k.* from (select distinct key_id from key_leaks) l join keys k on k.id = l.key_id where ${ofTeams}`;
  }
  if (boundTo !== undefined) {
    return sql`select k.* from keys k where ${ofTeams} and k.gateway_id = any(${boundTo}::text[])
      union all select k.* from (select distinct key_id from key_libraries where library_id = any(${boundTo}::text[])) l
        join keys k on k.id = l.key_id where ${ofTeams} and (k.gateway_id is null or k.gateway_id <> all(${boundTo}::text[]))`;
  }
  if (name === "" && state?.is === "expired") {
    return sql`select k.* from keys k where ${ofTeams} and k.ends_at <= ${toDate(state.at)}`;
  }
  if (name === "" && state?.is === "suspended") {
    const lost = await lostNamespaces(db, teamIds, places);
    const column = (name: keyof LostNamespace) => sql`${lost?.map((place) => place[name])}::text[]`;
    // With its own bound, a join to no place reads no key: the planner would read every key of a place first.
    return (
      lost &&
      sql`select k.* from keys k where ${ofTeams} and k.state = 'suspended'
        union all select k.* from unnest(${column("teamId")}, ${column("cluster")}, ${column("namespace")})
          as lost (team_id, cluster, namespace) cross join lateral (
            select * from keys
            where (team_id, cluster, namespace) = (lost.team_id, lost.cluster, lost.namespace) and state = 'active'
            limit ${found + 1}
          ) k`
    );
  }
  if (name === "" && state?.is !== "revoked") return undefined;
  const terms = [...termsOf(name), ...(state === undefined ? [] : [state.is === "revoked" ? "ended" : "living"])];
  const teams = teamIds?.map((team) => `team ${team}`);
  const has = (of: RawBuilder<unknown>) =>
    teams === undefined ? sql`${of} @> ${terms}::text[]` : sql`${of} @> ${terms}::text[] and ${of} && ${teams}::text[]`;
  const byName = sql`select k.* from keys k where ${has(NAME_TERMS)}`;
  if (name === "") return byName;
  return sql`${byName} union all select k.* from keys k
    where k.display_name <> k.name and ${has(DISPLAY_NAME_TERMS)} and not (${NAME_TERMS} @> ${terms}::text[])`;
}

const NAME_TERMS = sql`key_terms(k.team_id, k.state, k.name)`;
/** Of names for people that are other than the name (migration 053). */
const DISPLAY_NAME_TERMS = sql`key_terms(k.team_id, k.state, lower(k.display_name))`;

async function walk(
  db: Db,
  search: KeySearch,
  { step, steps }: Pick<PageBounds, "step" | "steps">,
): Promise<ScannedRows<KeyPosition>> {
  const { limit, teamIds } = search;
  const positions: KeyPosition[] = [];
  // Where every key is wanted, no more are looked at than are shown.
  const isEvery = isAnyKey(search);
  const length = isEvery ? limit + 1 : Math.max(Math.ceil(step / (teamIds?.length || 1)), LEAST_OF_A_TEAM);
  let after = search.after;
  for (let i = 0; i < steps; i++) {
    const looked = await withOrderedPlans(db, (tx) => walkOn(tx, { ...search, after }, length));
    positions.push(...looked.filter(({ wanted }) => wanted));
    const last = looked.at(-1);
    if (last === undefined || !last.goesOn) return { positions, next: null };
    if (positions.length > limit) return { positions, next: last };
    after = last;
  }
  return { positions, next: after ?? null };
}

/** Whether nothing is asked of a key but its team. */
export function isAnyKey({ name, state, scope, model, trait, boundTo }: KeySearch): boolean {
  return name === "" && [state, scope, model, trait, boundTo].every((filter) => filter === undefined);
}

/** A key that was looked at, whether it is wanted, and whether any may be behind those that were looked at with it. */
type LookedKey = KeyPosition & { readonly wanted: boolean; readonly goesOn: boolean };

/**
 * The next keys of a list.
 *
 * @param length so many of each team are read, and those given that come before anything that was not read
 */
async function walkOn(tx: Tx, search: KeySearch, length: number): Promise<LookedKey[]> {
  const { teamIds, order, after, isBackward = false } = search;
  const { table, id, column, place, direction, upTo, isAfter } = orderSql(order, isBackward);
  const from = after === undefined ? sql`true` : isAfter(after);
  const ofTeam = teamIds === undefined ? sql`` : sql`r.team_id ${direction},`;
  const inOrder = sql`order by ${ofTeam} ${column} ${direction}, ${id} ${direction}`;
  const columns = sql`${id} as key_id, ${column} as ordered, ${place} as place, row_number() over (${inOrder}) as nth`;
  const looked =
    teamIds === undefined
      ? sql`select ${columns} from ${table} r where ${from} ${inOrder} limit ${length}`
      : sql`select one.* from unnest(${teamIds}::text[]) team cross join lateral (
          select ${columns} from ${table} r where ${isOfTeam(sql`team`)} and ${from} ${inOrder} limit ${length}) one`;
  const { rows } = await sql<LookedKey>`
    with looked as materialized (${looked}), last_read as (
      select ordered, key_id from looked where nth = ${length}
      order by ordered ${direction}, key_id ${direction} limit 1
    ), known as materialized (
      select l.*, last_read.key_id is not null as goes_on from looked l left join last_read on true
      where last_read.key_id is null or (l.ordered, l.key_id) ${upTo} (last_read.ordered, last_read.key_id)
    )
    select k.id, l.place, ${isWanted(search)} as wanted, l.goes_on as "goesOn"
    from known l join keys k on k.id = l.key_id
    order by l.ordered ${direction}, l.key_id ${direction}`.execute(tx);
  return rows;
}

function isWanted({ name, state, scope, model, trait, boundTo }: KeySearch): RawBuilder<unknown> {
  const conditions = [isNamed(name)];
  if (state !== undefined) conditions.push(isInState(state.is, toDate(state.at)));
  if (scope !== undefined) conditions.push(sql`${scope} = any(k.scopes)`);
  if (model !== undefined) conditions.push(mayNameModel(model));
  if (trait !== undefined) conditions.push(hasTrait(trait.is, trait.at));
  if (boundTo !== undefined) conditions.push(isBoundTo(boundTo));
  return sql.join(conditions, sql` and `);
}

/** Whether a row `k` of `keys` has this text in its name or its display name, or begins with it where it is short. */
function isNamed(text: string): RawBuilder<unknown> {
  if (text === "") return sql`true`;
  const has = (name: RawBuilder<unknown>) =>
    [...text].length > 2 ? sql`position(${text} in ${name}) > 0` : sql`starts_with(${name}, ${text})`;
  return sql`(${has(sql`k.name`)} or (k.display_name <> k.name and ${has(sql`lower(k.display_name)`)}))`;
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

/** What the index of terms has of a name with this part (migration 020). */
function termsOf(part: string): string[] {
  if (part === "") return [];
  const characters = [...part];
  if (characters.length < 3) return [`^${part}`];
  return characters.slice(2).map((_, i) => characters.slice(i, i + 3).join(""));
}
