import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { SCOPES } from "../../../../domain/access/scopes.ts";
import { API_CLUSTER } from "../../../../domain/api-cluster.ts";
import type { Store } from "../../../../store/database/store.ts";
import { countKeys } from "../../../../store/keys/search/key-count.ts";
import { LISTED_STATES, type ListedKey, listedState } from "../../../../store/keys/search/key-lists.ts";
import { KEY_ORDERS, type KeyOrder, type KeyPosition } from "../../../../store/keys/search/key-orders.ts";
import {
  findKeys,
  type KeySearch,
  type KeySearchBounds,
  searchKeys,
} from "../../../../store/keys/search/key-search.ts";
import { recordUsage } from "../../../../store/keys/uses/usage.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { examples } from "../../../env/nightly.ts";

const NOW = Date.UTC(2026, 10, 14, 12);
const KEYS = 250;
const SEARCHES = examples(150);
const TEAMS = ["team_0", "team_1", "team_2", "team_3"];
const NAMES = ["", "a", "b", "ab", "ab1", "a-b", "b-1", "zzz", "-", "abab", "%", "The", "tH", "HE B", "é 1"];
const DISPLAY_NAMES = ["", "The b1", "the Abab", "Éa-b", "Thé 1"];
const OWNERS = [undefined, undefined, "The b1", "ab@Thé 1"];
/** Ids of gateways and libraries; of none. */
const BOUND_SETS = [undefined, undefined, undefined, ["gw_0"], ["lib_1"], ["gw_1", "lib_0", "none"], []];
const TEAM_SETS = [undefined, [], ["team_1"], ["team_1", "team_3"], TEAMS, ["none", "team_2"]];
/** So narrow that a page is of each kind: full, partial, by an index, and after many steps. */
const BOUNDS: readonly (KeySearchBounds | undefined)[] = [
  undefined,
  { first: 7, found: 5, namespaces: 1, step: 6, steps: 2 },
  { first: 3, found: 50, namespaces: 100, step: 30, steps: 1 },
  { first: 1, found: 100, namespaces: 100, step: 25, steps: 3 },
];
const IN_ORDER: Readonly<Record<KeyOrder, string>> = {
  name: "k.name, k.id",
  newest: "k.created_at desc, k.id desc",
  oldest: "k.created_at, k.id",
  "used-last": "used.at desc, k.id desc",
  "unused-longest": "used.at, k.id",
  "ends-soonest": "ends.at, k.id",
};

describeNightlyOnEachEngine("A search of keys", (opened) => {
  const random = randomFrom(7);
  beforeAll(() => fill(opened(), random));

  test("finds, page by page, what looking at every key would find, in that order", async () => {
    const { db } = opened();
    const ids = (await db.selectFrom("keys").select("id").execute()).map(({ id }) => id);
    const keys = new Map((await findKeys(db, ids)).map((key) => [key.id, key]));
    const bindings = await bindingsOf(opened());
    const orders = new Map<KeyOrder, ListedKey[]>();
    for (const order of KEY_ORDERS) orders.set(order, await everyKey(opened(), order, keys));
    for (let i = 0; i < SEARCHES; i++) {
      const is = random.pick([undefined, ...LISTED_STATES]);
      const trait = random.pick([undefined, undefined, "declared", "by-hand"] as const);
      const search: KeySearch = {
        ...{ name: random.pick(NAMES), teamIds: random.pick(TEAM_SETS), order: random.pick(KEY_ORDERS) },
        ...{ scope: random.pick([undefined, undefined, ...SCOPES]), trait: trait && { is: trait, at: NOW } },
        ...{ state: is && { is, at: NOW }, after: undefined, limit: random.pick([1, 2, 5, 50]) },
        ...{ boundTo: random.pick(BOUND_SETS), isBackward: random.pick([false, true]) },
      };
      const bounds = random.pick(BOUNDS);
      const { boundTo } = search;
      const isBound = ({ id }: ListedKey) =>
        boundTo === undefined || boundTo.some((one) => bindings.has(`${id} ${one}`));
      const all = (orders.get(search.order) ?? []).filter((key) => isLike(key, search) && isBound(key));
      const wanted = all.map(({ id }) => id);
      expect({ search, bounds, ids: await everyPage(opened(), search, bounds) }).toEqual({
        search,
        bounds,
        ids: wanted,
      });
      const { count, is: known } = await countKeys(db, search, bounds);
      if (known === "at least") expect(count).toBeLessThanOrEqual(wanted.length);
      else expect([known, count]).toEqual(["exact", wanted.length]);
    }
  });
});

function isLike(key: ListedKey, { name, teamIds, state, scope, trait }: KeySearch): boolean {
  const text = name.toLowerCase();
  const has = (one: string) => (text.length > 2 ? one.includes(text) : one.startsWith(text));
  const { displayName, owner } = key.policy;
  const isNamed = has(key.name) || has(displayName.toLowerCase()) || (owner !== null && has(owner.toLowerCase()));
  const isOfTrait = trait === undefined || (key.cluster === API_CLUSTER) === (trait.is === "by-hand");
  const hasScope = scope === undefined || key.policy.scopes.includes(scope);
  return (
    isNamed &&
    isOfTrait &&
    hasScope &&
    (teamIds?.includes(key.teamId) ?? true) &&
    (state === undefined || listedState(key, NOW) === state.is)
  );
}

/** All keys in an order, by what their rows say and no column that is kept for lists. */
async function everyKey({ db }: Store, order: KeyOrder, keys: ReadonlyMap<string, ListedKey>): Promise<ListedKey[]> {
  const { rows } = await sql<{ id: string }>`select k.id from keys k
    cross join lateral (select least(coalesce(k.expires_at, 'infinity'), coalesce((select expires_at from key_versions
      where key_id = k.id and state = 'active'), 'infinity')) as at) ends
    cross join lateral (select coalesce(date_bin('5 minutes', max(last_used_at), timestamptz 'epoch'), '-infinity') as at
      from key_usage where key_id = k.id) used
    order by ${sql.raw(IN_ORDER[order])}`.execute(db);
  return rows.flatMap(({ id }) => keys.get(id) ?? []);
}

/** Which key is bound to what, as `key_a gw_0`. */
async function bindingsOf({ db }: Store): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{
    pair: string;
  }>`select id || ' ' || gateway_id as pair from keys where gateway_id is not null
    union select key_id || ' ' || library_id from key_libraries`.execute(db);
  return new Set(rows.map(({ pair }) => pair));
}

async function everyPage({ db }: Store, search: KeySearch, bounds: KeySearchBounds | undefined): Promise<string[]> {
  const seen: string[] = [];
  let after: KeyPosition | undefined;
  do {
    const { keys, next, isPartial } = await searchKeys(db, { ...search, after }, bounds);
    if (next !== null && !isPartial) expect(keys).toHaveLength(search.limit);
    const ids = keys.map(({ id }) => id);
    if (search.isBackward) seen.unshift(...ids);
    else seen.push(...ids);
    expect(seen.length).toBeLessThanOrEqual(KEYS);
    after = next ?? undefined;
  } while (after !== undefined);
  return seen;
}

/** Keys whose names, times and states are often the same, changed after they were made, and used. */
async function fill(store: Store, { below, pick }: Random): Promise<void> {
  const { db } = store;
  for (const id of TEAMS)
    await sql`insert into teams (id, cluster, name, display_name, state, generation)
      values (${id}, 'c', ${id}, '', 'active', 1)`.execute(db);
  await sql`insert into team_namespaces (cluster, namespace, team_id) values ('c', 'held', 'team_0')`.execute(db);
  for (const id of ["gw_0", "gw_1"])
    await sql`insert into gateways (id, cluster, namespace, name, team_id, public_id, routes_only, routes, state)
      values (${id}, 'c', '', ${id}, 'team_0', ${id}, false, '[]', 'active')`.execute(db);
  const ends = [-1, 0, 1, 86_400_000, Date.UTC(9999, 11, 31, 23, 59, 59, 999) - NOW].map((ms) => new Date(NOW + ms));
  const end = () => pick([null, ...ends]);
  for (let i = 0; i < KEYS; i++) {
    const id = `key_${[...String((i * 7_919) % 1_000)].map((digit) => "abcdefghij".charAt(Number(digit))).join("")}`;
    const name = Array.from({ length: 1 + below(6) }, () => pick(["a", "b", "-", "1", "ab"])).join("");
    const created = pick(["2026-01-01T00:00:00Z", `2026-01-01T00:00:00.${String(below(1e6)).padStart(6, "0")}Z`]);
    await sql`insert into keys (id, cluster, namespace, name, team_id, source, state, display_name, scopes,
        gateway_bound, gateway_id, library_mode, generation, created_at, expires_at, facts)
      values (${id}, 'c', ${pick(["", "held", "lost"])}, ${name}, ${pick(TEAMS)}, 'Generate',
        ${pick(["active", "active", "suspended", "revoked", "of-a-later-build"])}, ${pick([name, ...DISPLAY_NAMES])}, '{}', true, ${pick([null, null, "gw_0", "gw_1"])}, 'all', 1,
        ${created}::timestamptz, ${end()}::timestamptz, ${JSON.stringify({ owner: pick(OWNERS) })}::jsonb)`.execute(db);
    for (const library of pick([[], [], ["lib_0"], ["lib_0", "lib_1"]]))
      await sql`insert into key_libraries (key_id, library_id) values (${id}, ${library})`.execute(db);
    for (const state of pick([[], ["active"], ["reserved"], ["retired", "active"]]))
      await sql`insert into key_versions (key_id, number, digest, prefix, state, source_kind, minted_at, expires_at)
        values (${id}, ${state === "retired" ? 1 : 2}, ${Buffer.from(`${id}${state}`.padEnd(32, "."))}, '', ${state},
          'minted', now(), ${end()}::timestamptz)`.execute(db);
    if (below(3) === 0) await sql`update keys set expires_at = ${end()}::timestamptz where id = ${id}`.execute(db);
    if (below(3) === 0)
      await sql`update key_versions set expires_at = ${end()}::timestamptz where key_id = ${id}`.execute(db);
    if (below(3) === 0)
      await sql`update key_versions set state = case state when 'reserved' then 'active' else 'retired' end
        where key_id = ${id}`.execute(db);
    if (below(9) === 0) await sql`update keys set team_id = ${pick(TEAMS)} where id = ${id}`.execute(db);
    if (below(2) === 0)
      await recordUsage(store, [{ keyId: id, version: 1, at: NOW - below(3) * 300_000 - below(1_000) }]);
  }
}

type Random = ReturnType<typeof randomFrom>;

function randomFrom(seed: number) {
  let state = seed;
  const below = (bound: number) => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  return {
    below,
    pick<T>(among: readonly T[]): T {
      const [one] = among.slice(below(among.length));
      return one as T;
    },
  };
}
