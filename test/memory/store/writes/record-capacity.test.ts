import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { RecordCapacity } from "../../../../memory/store/writes/record-capacity.ts";
import type { Db } from "../../../../store/database/change.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";

const MOST = 1_000;

/** The database, and how many statements it was asked. */
function counting(db: Db) {
  let asked = 0;
  const plugin = {
    transformQuery: <T extends { readonly node: unknown }>({ node }: T): T["node"] => {
      asked++;
      return node;
    },
    transformResult: <T>({ result }: { readonly result: T }) => Promise.resolve(result),
  };
  return { db: db.withPlugin(plugin), asked: () => asked };
}

describeNightlyOnEachEngine("the room for records of saves", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(() => sql`delete from repeatable_saves`.execute(opened().db));

  let made = 0;
  const make = (records: number, caller = "key_1") => {
    made += records;
    return sql`insert into repeatable_saves (caller, key, request, library_id)
      select ${caller}, int4send(n), '', 'lib-diary' from generate_series(${made - records + 1}::int, ${made}::int) n`.execute(
      opened().db,
    );
  };

  test("b119: is counted for a few saves of a hundred, is never refused where it is, and ends where it ends", async () => {
    const { db, asked } = counting(opened().db);
    const capacity = new RecordCapacity(() => 0, MOST);
    await make(MOST - 100);
    for (let n = 0; n < 100; n++) {
      expect(await capacity.waitFor(db, "key_1")).toBe(0);
      await make(1);
    }
    expect(asked()).toBeLessThan(40);
    expect(await capacity.waitFor(db, "key_1")).toBeGreaterThan(86_000_000);
    expect(await capacity.waitFor(db, "key_2")).toBe(0);
  });

  test("b119: is not exceeded by three servers at once", async () => {
    const capacities = Array.from({ length: 3 }, () => new RecordCapacity(() => 0, MOST));
    let saved = 0;
    for (let n = 0; capacities.length > 0; n++) {
      const capacity = capacities[n % capacities.length];
      if (capacity === undefined) break;
      if ((await capacity.waitFor(opened().db, "key_1")) > 0) capacities.splice(n % capacities.length, 1);
      else {
        await make(1);
        saved++;
      }
    }
    expect(saved).toBe(MOST);
  });

  test("b119: that is none is counted again after ten seconds, or as the wait is over", async () => {
    let now = 0;
    const capacity = new RecordCapacity(() => now, MOST);
    const { db, asked } = counting(opened().db);
    await make(MOST);
    const wait = await capacity.waitFor(db, "key_1");
    now = 9_999;
    expect(await capacity.waitFor(db, "key_1")).toBeCloseTo(wait - now, 3);
    expect(asked()).toBe(1);
    await sql`delete from repeatable_saves`.execute(opened().db);
    now = 10_000;
    expect(await capacity.waitFor(db, "key_1")).toBe(0);
    expect(asked()).toBe(2);
  });
});
