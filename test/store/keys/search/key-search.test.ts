import { type Kysely, sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { Database } from "../../../../store/database/schema.ts";
import { identifyKeys } from "../../../../store/keys/search/identified-keys.ts";
import { countKeys, searchAndCountKeys } from "../../../../store/keys/search/key-count.ts";
import { KEY_TRAITS } from "../../../../store/keys/search/key-criteria.ts";
import { KEY_ORDERS, type KeyPosition } from "../../../../store/keys/search/key-orders.ts";
import { type FoundKeys, type KeySearch, searchKeys } from "../../../../store/keys/search/key-search.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { rowsRead } from "../../../env/database/rows-read.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { gatherStatistics } from "../../gather-statistics.ts";
import { fillWithKeys, LOOKED_AT, ONE_IN } from "./filled-keys.ts";

/** More than a page may read. */
const KEYS = NIGHTLY ? 20_000 : 14_000;
/** Those of one team: more than a page may read of suspended ones. */
const KEYS_OF_ONE = NIGHTLY ? 20_000 : 3_000;
/** Each key that is looked at is read in its order, and by its id; those that an index has too many of, once. */
const MAX_READ = 2 * (250 + 5 * 1_000) + 2_000 + 500;
const TABLES = ["keys", "key_versions", "key_last_uses", "key_usage", "key_secrets"];
const FILLED = ["teams", ...TABLES];
const EVERY: KeySearch = {
  ...{ name: "", state: undefined, teamIds: undefined },
  ...{ order: "name", after: undefined, limit: 50 },
};
const OWN = ["team_1"];
const SOME = ["team_1", "team_2", "team_3"];
const MANY = Array.from({ length: ONE_IN.ownTeam }, (_, i) => `team_${i}`);
const inState = (is: NonNullable<KeySearch["state"]>["is"]) => ({ is, at: LOOKED_AT });

type Db = Kysely<Database>;

const SEARCHES: readonly (readonly [string, Partial<KeySearch>])[] = [
  ...KEY_ORDERS.map((order) => [`all, ${order}`, { order }] as const),
  ...KEY_ORDERS.map((order) => [`of a team, ${order}`, { order, teamIds: OWN }] as const),
  ...KEY_ORDERS.map((order) => [`of some teams, ${order}`, { order, teamIds: SOME }] as const),
  ...KEY_ORDERS.map((order) => [`with a rare name, ${order}`, { order, name: "billing" }] as const),
  ["with a frequent name", { name: "service" }],
  ["with a frequent name, of a team", { name: "service", teamIds: OWN }],
  ["with a name that begins so", { name: "b" }],
  ["with a name that none has", { name: "nothing-like-it" }],
  ["with a display name", { name: "Key 12345" }],
  ["with a frequent display name", { name: "key 1" }],
  ["with a frequent display name, of a team", { name: "key 1", teamIds: OWN }],
  ["revoked", { state: inState("revoked") }],
  ["active", { state: inState("active") }],
  ["expired", { state: inState("expired") }],
  ["suspended", { state: inState("suspended") }],
  ["suspended, of a team", { state: inState("suspended"), teamIds: OWN }],
  ["suspended, of some teams", { state: inState("suspended"), teamIds: SOME }],
  ["suspended, of many teams", { state: inState("suspended"), teamIds: MANY }],
  ["suspended with a frequent name, of many teams", { name: "service", state: inState("suspended"), teamIds: MANY }],
  ["with a scope", { scope: "memory:write" }],
  ["with a scope, of a team", { scope: "memory:write", teamIds: OWN }],
  ...KEY_TRAITS.map((is) => [is, { trait: { is, at: LOOKED_AT } }] as const),
  ...KEY_TRAITS.map((is) => [`${is}, of some teams`, { trait: { is, at: LOOKED_AT }, teamIds: SOME }] as const),
  ["suspended, of many teams, used-last", { state: inState("suspended"), teamIds: MANY, order: "used-last" }],
];

describeNightlyOnEachEngine("a search of many keys", (opened) => {
  beforeAll(() => fillWithKeys(opened(), KEYS));

  test.for(["without statistics", "with statistics"])(
    "b225: reads no table whole, and a bounded number of rows, %s",
    async (statistics) => {
      if (statistics === "with statistics") await gatherStatistics(opened(), FILLED);
      for (const [name, search] of SEARCHES) {
        const { scans, rows } = await rowsRead(opened().db, TABLES, (db) => searchKeys(db, { ...EVERY, ...search }));
        expect({ name, scans }).toEqual({ name, scans: 0 });
        expect(rows, name).toBeLessThanOrEqual(MAX_READ);
        // By day a count is made as most are, with statistics.
        if (!NIGHTLY && statistics === "without statistics") continue;
        const counted = await rowsRead(opened().db, TABLES, (db) => searchAndCountKeys(db, { ...EVERY, ...search }));
        expect({ name, scans: counted.scans }).toEqual({ name, scans: 0 });
        expect(counted.rows, `the page and the count ${name}`).toBeLessThanOrEqual(MAX_READ);
      }
      for (const teamIds of [undefined, OWN]) {
        // More often than a statement that is kept is planned anew.
        const identified = await rowsRead(opened().db, TABLES, async (db) => {
          for (let i = 0; i < 12; i++) await identifyKeys(db, "inf_none1234", teamIds);
        });
        expect(identified.scans).toBe(0);
        expect(identified.rows).toBeLessThanOrEqual(12 * 10);
      }
    },
  );

  test.for(KEY_ORDERS)("goes page by page through all of a team's keys once, in the order of %s", async (order) => {
    const seen = await everyPage(opened().db, { ...EVERY, teamIds: OWN, order, limit: 200 });
    expect(new Set(seen).size).toBe(KEYS / ONE_IN.ownTeam);
    expect(seen).toHaveLength(KEYS / ONE_IN.ownTeam);
  });

  test("finds the same keys by the index and along the order, page by page", async () => {
    const search = { ...EVERY, name: "billing", order: "newest", limit: 7 } as const;
    const indexed = await everyPage(opened().db, search);
    expect(indexed).toHaveLength(KEYS / ONE_IN.rareName);
    const walked = await everyPage(opened().db, search, { first: 20, found: 1, namespaces: 1, step: 100, steps: 3 });
    expect(walked).toEqual(indexed);
  });

  test("finds what few are: expired keys, and those of a name's part or beginning", async () => {
    const of = async (search: Partial<KeySearch>) => everyPage(opened().db, { ...EVERY, ...search });
    expect(await of({ state: inState("expired") })).toHaveLength(KEYS / ONE_IN.expired);
    expect(await of({ name: "reader-12345" })).toHaveLength(1);
    expect(await of({ name: "bi" })).toHaveLength(KEYS / ONE_IN.rareName);
    expect(await of({ name: "billing", teamIds: ["team_2"] })).toEqual([]);
  });

  test("finds keys by a part of their display names, in small letters and capital ones", async () => {
    for (const name of ["Key 12345", "kEY 12345", "ey 12345"]) {
      expect(await everyPage(opened().db, { ...EVERY, name })).toHaveLength(1);
    }
    expect(await everyPage(opened().db, { ...EVERY, name: "Key 12345", teamIds: ["team_2"] })).toEqual([]);
  });

  test("finds the same page with its count as without, each counted as by itself", async () => {
    const { db } = opened();
    const [{ keys: [, , third] = [] } = {}] = [await searchKeys(db, { ...EVERY, name: "billing" })];
    const after = { place: third?.name ?? "", id: third?.id ?? "" };
    // A count has no order: by day it is made in one, and of every second search.
    const inOneOrder = SEARCHES.filter(([, { order = "name" }]) => order === "name");
    const counted = NIGHTLY ? SEARCHES : inOneOrder.filter((_, n) => n % 2 === 0);
    for (const [name, search] of [...counted, ["behind another", { name: "billing", after }] as const]) {
      const asked = { ...EVERY, ...search };
      const [both, page] = [await searchAndCountKeys(db, asked), await searchKeys(db, asked)];
      expect({ name, ...shown(both), total: both.total }).toEqual({
        ...{ name, ...shown(page) },
        total: await countKeys(db, asked),
      });
    }
  });

  test("counts what it finds exactly up to 1,000, and says where there is more", async () => {
    const of = (search: Partial<KeySearch>) => countKeys(opened().db, { ...EVERY, ...search });
    expect(await of({})).toEqual({ count: 1_000, is: "more" });
    expect(await of({ teamIds: [] })).toEqual({ count: 0, is: "exact" });
    expect(await of({ name: "billing" })).toEqual({ count: KEYS / ONE_IN.rareName, is: "exact" });
    expect(await of({ name: "service" })).toEqual({ count: 1_000, is: "more" });
    expect(await of({ name: "nothing-like-it" })).toEqual({ count: 0, is: "exact" });
    expect(await of({ state: inState("expired") })).toEqual({ count: KEYS / ONE_IN.expired, is: "exact" });
    // Asked of each key along the order, as far as a page may look.
    expect(await of({ scope: "memory:write" })).toEqual({ count: 0, is: "at least" });
  });

  test("finds suspended keys, those of a namespace that their team has lost among them, and reads few others", async () => {
    const { db } = opened();
    const suspended = { ...EVERY, state: inState("suspended") };
    await sql`insert into team_namespaces (cluster, namespace, team_id) values ('c1', 'held', 'team_3')`.execute(db);
    await sql`update keys set namespace = case team_id when 'team_3' then 'held' else 'lost' end
      where name in ('service-reader-13', 'service-reader-15', 'service-reader-1235')`.execute(db);
    try {
      // Every expired one is suspended too, and an end says more.
      const number = KEYS / ONE_IN.suspended - KEYS / ONE_IN.expired + 2;
      expect(await everyPage(db, suspended)).toHaveLength(number);
      expect(await everyPage(db, { ...suspended, teamIds: ["team_5"] })).toHaveLength(2);
      for (const teamIds of [undefined, ["team_1"], ["team_5"]]) {
        const { rows } = await rowsRead(db, TABLES, (asked) => searchKeys(asked, { ...suspended, teamIds }));
        expect(rows).toBeLessThan(1_500);
      }
    } finally {
      await sql`delete from team_namespaces`.execute(db);
      await sql`update keys set namespace = '' where namespace <> ''`.execute(db);
    }
  });

  test("finds a key by its id and by its prefix, and none of another team", async () => {
    const [{ id, prefix, teamId } = { id: "", prefix: "", teamId: "" }] = (
      await sql<{ id: string; prefix: string; teamId: string }>`
        select id, prefix, team_id as "teamId" from keys join key_versions on key_id = id limit 1`.execute(opened().db)
    ).rows;
    expect(await identifyKeys(opened().db, id, undefined)).toEqual([id]);
    expect(await identifyKeys(opened().db, prefix, [teamId])).toEqual([id]);
    expect(await identifyKeys(opened().db, prefix, ["team_none"])).toEqual([]);
  });
});

describeNightlyOnEachEngine("a search of many keys that one team declares in one namespace", (opened) => {
  beforeAll(async () => {
    await fillWithKeys(opened(), KEYS_OF_ONE, 1);
    await gatherStatistics(opened(), FILLED);
  });

  test("reads the suspended ones alone, with statistics too", async () => {
    const { db } = opened();
    const suspended = { ...EVERY, state: inState("suspended") };
    for (const teamIds of [undefined, ["team_0"]]) {
      const { rows } = await rowsRead(db, TABLES, (asked) => searchKeys(asked, { ...suspended, teamIds }));
      expect(rows).toBeLessThan(1_500);
    }
  });

  test.for(KEY_ORDERS)("b224: reads none of them for other teams, in the order of %s", async (order) => {
    const { db } = opened();
    for (const isBackward of [false, true]) {
      const asked = (on: Db) => searchKeys(on, { ...EVERY, order, isBackward, teamIds: MANY.slice(1) });
      expect((await rowsRead(db, TABLES, asked)).rows).toBe(0);
    }
  });
});

/** What a person sees of a page. */
function shown({ keys, next, isPartial }: FoundKeys) {
  return { names: keys.map(({ name }) => name), next: next?.place, isPartial };
}

async function everyPage(db: Db, search: KeySearch, bounds?: Parameters<typeof searchKeys>[2]): Promise<string[]> {
  const seen: string[] = [];
  let after: KeyPosition | undefined;
  do {
    const { keys, next } = await searchKeys(db, { ...search, after }, bounds);
    seen.push(...keys.map(({ id }) => id));
    after = next ?? undefined;
  } while (after !== undefined);
  return seen;
}
