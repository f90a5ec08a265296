import { type Kysely, sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { appendAudit } from "../../../store/audit/audit.ts";
import { type AuditPosition, type AuditSearch, countAudit, searchAudit } from "../../../store/audit/audit-search.ts";
import type { Database } from "../../../store/database/schema.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { rowsRead } from "../../env/database/rows-read.ts";
import { fillWithAudit, LOGGED_UNTIL } from "../filled-audit.ts";

const EVENTS = 30_000;
const MINUTE = 60_000;
const EVERY: AuditSearch = {
  ...{ teamIds: undefined, kind: undefined, actor: undefined, about: undefined },
  ...{ from: undefined, to: undefined, after: undefined, limit: 50 },
};
const OWN = ["team_1"];
const SOME = ["team_1", "team_2", "team_3"];
const MANY = Array.from({ length: 200 }, (_, i) => `team_${i}`);
const about = (text: string, ...keyIds: string[]) => ({ text, keyIds });

type Db = Kysely<Database>;

const SEARCHES: readonly (readonly [string, Partial<AuditSearch>])[] = [
  ["all", {}],
  ["of a team", { teamIds: OWN }],
  ["of some teams", { teamIds: SOME }],
  ["of two hundred teams", { teamIds: MANY, kind: "key.revoked" }],
  ["of no team that there is", { teamIds: ["team_none"] }],
  ["of a frequent kind", { kind: "key.activated" }],
  ["of a frequent kind, of a team", { kind: "key.activated", teamIds: OWN }],
  ["of a rare kind", { kind: "key.revoked" }],
  ["of a kind that there is not", { kind: "key.none" }],
  ["by a frequent actor", { actor: "controller" }],
  ["by a rare actor", { actor: "https://issuer#rare" }],
  ["by an actor that is rare in a kind that is not", { actor: "https://issuer#rare", kind: "key.activated" }],
  ["about a key", { about: about("key_7", "key_7") }],
  ["about a name", { about: about("gateway-7") }],
  ["about nothing that there is", { about: about("none"), teamIds: OWN }],
  ["before a time long ago", { to: LOGGED_UNTIL - 20_000 * MINUTE, kind: "key.revoked", teamIds: SOME }],
  ["between two times", { from: LOGGED_UNTIL - 90 * MINUTE, to: LOGGED_UNTIL - 30 * MINUTE }],
];

describeNightlyOnEachEngine("a search of an audit log of 30,000 events", (opened) => {
  beforeAll(() => fillWithAudit(opened(), EVENTS));

  test.for(["without statistics", "with statistics"])(
    "reads no table whole, and a bounded number of rows, %s",
    async (statistics) => {
      if (statistics === "with statistics") await sql`analyze audit_events`.execute(opened().db);
      for (const [name, search] of SEARCHES) {
        const question = (db: Db) => searchAudit(db, { ...EVERY, ...search });
        const { scans, rows } = await rowsRead(opened().db, ["audit_events"], question);
        expect({ name, scans }).toEqual({ name, scans: 0 });
        expect(rows, name).toBeLessThanOrEqual(name === "of two hundred teams" ? 26_000 : 7_600);
      }
    },
  );

  test("counts what it finds, exactly up to a thousand, in a bounded number of rows", async () => {
    for (const [name, search] of SEARCHES) {
      const question = (db: Db) => countAudit(db, { ...EVERY, ...search });
      const { scans, rows } = await rowsRead(opened().db, ["audit_events"], question);
      expect({ name, scans }).toEqual({ name, scans: 0 });
      expect(rows, name).toBeLessThanOrEqual(26_000);
    }
    const of = (search: Partial<AuditSearch>) => countAudit(opened().db, { ...EVERY, ...search });
    const more = { count: 1_000, is: "more" };
    expect(await of({})).toEqual(more);
    expect(await of({ teamIds: OWN })).toEqual(more);
    expect(await of({ kind: "key.activated", teamIds: OWN })).toEqual(more);
    expect(await of({ actor: "https://issuer#rare" })).toEqual({ count: EVENTS / 1_000, is: "exact" });
    expect(await of({ teamIds: OWN, from: LOGGED_UNTIL - 100 * MINUTE })).toEqual({ count: 100, is: "exact" });
    expect(await of({ teamIds: ["team_none"] })).toEqual({ count: 0, is: "exact" });
  });

  test("goes page by page through all of a team's events once, the latest first, many of one moment", async () => {
    const seen = await everyPage(opened().db, { ...EVERY, teamIds: OWN, limit: 200 });
    expect(seen).toHaveLength(EVENTS / 10);
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("finds the same events by the index and along the log, page by page", async () => {
    const search = { ...EVERY, kind: "key.revoked", teamIds: SOME, limit: 7 };
    const indexed = await everyPage(opened().db, search);
    expect(indexed.length).toBeGreaterThan(20);
    const walked = await everyPage(opened().db, search, { first: 20, found: 1, step: 100, steps: 3 });
    expect(walked).toEqual(indexed);
  });

  test("finds what is asked for by each part of the question, and by all of them together", async () => {
    const of = async (search: Partial<AuditSearch>) => {
      const { events } = await searchAudit(opened().db, { ...EVERY, ...search, limit: 5_000 });
      return events.length;
    };
    expect(await of({ actor: "https://issuer#rare" })).toBe(EVENTS / 1_000);
    expect(await of({ about: about("key_8", "key_8") })).toBe(EVENTS / 3_000);
    expect(await of({ about: about("gateway-7") })).toBe(EVENTS / 3_000);
    expect(await of({ about: about("gateway-7"), kind: "gateway.changed" })).toBe(EVENTS / 3_000);
    expect(await of({ about: about("gateway-7"), kind: "key.revoked" })).toBe(0);
    expect(await of({ from: LOGGED_UNTIL - 100 * MINUTE, to: LOGGED_UNTIL - 50 * MINUTE })).toBe(500);
  });

  test("finds an actor whose name is longer than the index keeps, and no other that begins alike", async () => {
    const long = `https://issuer#${"x".repeat(4_000)}`;
    await opened()
      .db.insertInto("audit_events")
      .values(
        [long, `${long}y`].map((actor) => ({
          ...{ at: new Date(0), kind: "session.begun", actor, key_id: null, team_id: null, detail: "{}" },
        })),
      )
      .execute();
    const { events } = await searchAudit(opened().db, { ...EVERY, actor: long });
    expect(events.map(({ actor }) => actor)).toEqual([long]);
  });
});

describeNightlyOnEachEngine("a search of a long audit log of one team", (opened) => {
  beforeAll(() => fillWithAudit(opened(), EVENTS, 1));

  test("b224: reads no event of it for other teams, where statistics know of none of theirs too", async () => {
    const { db } = opened();
    await sql`analyze audit_events`.execute(db);
    const since = { from: LOGGED_UNTIL - 10_000 * MINUTE };
    for (const search of [{}, since, { kind: "key.activated" }, { about: about("gateway-7") }]) {
      for (const question of [searchAudit, countAudit]) {
        const asked = (on: Db) => question(on, { ...EVERY, ...search, teamIds: MANY.slice(1) });
        expect((await rowsRead(db, ["audit_events"], asked)).rows, JSON.stringify(search)).toBe(0);
      }
    }
  });
});

describeNightlyOnEachEngine("a search of an audit log of large events", (opened) => {
  test("b109: ends a page at some megabytes, and goes on behind it", async () => {
    const { db } = opened();
    const side = "x".repeat(600_000);
    const detail = { changed: { routes: { before: side, after: side } } };
    await appendAudit(
      db,
      Array.from({ length: 7 }, () => ({ at: null, kind: "gateway.changed", teamId: "large", detail })),
    );
    const search: AuditSearch = { ...EVERY, teamIds: ["large"] };
    expect(new Set(await everyPage(db, search)).size).toBe(7);
    const { events } = await searchAudit(db, search);
    expect(JSON.stringify(events).length).toBeLessThan(4 << 20);
  });
});

async function everyPage(db: Db, search: AuditSearch, bounds?: Parameters<typeof searchAudit>[2]): Promise<number[]> {
  const seen: number[] = [];
  let after: AuditPosition | undefined;
  do {
    const { events, next } = await searchAudit(db, { ...search, after }, bounds);
    seen.push(...events.map(({ id }) => id));
    after = next ?? undefined;
  } while (after !== undefined);
  return seen;
}
