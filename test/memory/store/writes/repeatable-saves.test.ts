import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import {
  beginSave,
  countRecords,
  endSave,
  findSave,
  MAX_SAVES,
  type RepeatableSave,
} from "../../../../memory/store/writes/repeatable-saves.ts";
import type { Tx } from "../../../../store/database/change.ts";
import type { Store } from "../../../../store/database/store.ts";
import { libraryDeletion } from "../../../../store/libraries/deleted-libraries.ts";
import { prune } from "../../../../store/retention.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../../env/database/engines.ts";
import { until } from "../../../env/until.ts";
import { digestOf, unique } from "../../../store/fixtures.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";

const ATOM = "019a0000-0000-7000-8000-000000000001";
const MADE = { atomIds: [ATOM, null], beside: { droppedLinks: 2 } };
const FOUND = { ...MADE, libraryId: "lib-diary", isSameRequest: true };

function aSave(fields: Partial<RepeatableSave> = {}): RepeatableSave {
  return { caller: "key_1", key: digestOf(unique("once")), request: digestOf("request"), ...fields };
}

const inTransaction = <T>({ db }: Store, body: (tx: Tx) => Promise<T>) => db.transaction().execute(body);

/** Makes it, unless it was made. */
function make(store: Store, save: RepeatableSave, libraryId = "lib-diary") {
  return inTransaction(store, async (tx) => {
    const former = await beginSave(tx, save, libraryId);
    if (former === undefined) await endSave(tx, save, MADE);
    return former;
  });
}

describeNightlyOnEachEngine("the record of a save", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(() => sql`delete from repeatable_saves`.execute(opened().db));

  const age = (interval: string) =>
    sql`update repeatable_saves set made_at = made_at - ${interval}::interval`.execute(opened().db);

  test("b119: is found by its caller and its key, with all that was made", async () => {
    const save = aSave();
    expect(await findSave(opened().db, save)).toBeUndefined();
    expect(await make(opened(), save)).toBeUndefined();
    expect(await findSave(opened().db, save)).toEqual(FOUND);
    expect(await make(opened(), save, "lib-handbook")).toEqual(FOUND);
    const another = { ...save, request: digestOf("another") };
    expect(await make(opened(), another)).toEqual({ ...FOUND, isSameRequest: false });
    expect(await findSave(opened().db, { ...save, caller: "key_2" })).toBeUndefined();
    expect(await make(opened(), { ...save, caller: "key_2" })).toBeUndefined();
  });

  test("b119: is none where its transaction came to nothing, or the library is not there", async () => {
    const save = aSave();
    const failing = inTransaction(opened(), async (tx) => {
      await beginSave(tx, save, "lib-diary");
      throw new Error("the test says so");
    });
    await expect(failing).rejects.toThrow("the test says so");
    expect(await make(opened(), save, "lib-nowhere")).toBe("absent");
    expect(await findSave(opened().db, save)).toBeUndefined();
    expect(await make(opened(), save)).toBeUndefined();
  });

  test("b119: is known for 24 hours by the database's clock, and forgotten by the next round", async () => {
    const [save, later] = [aSave(), aSave()];
    await make(opened(), save);
    await age("23 hours 59 minutes");
    expect(await make(opened(), save)).toEqual(FOUND);
    expect((await prune(opened(), 1)).saves).toBe(0);
    await age("2 minutes");
    await make(opened(), later);
    expect(await findSave(opened().db, save)).toBeUndefined();
    expect((await prune(opened(), 1)).saves).toBe(1);
    expect(await findSave(opened().db, later)).toEqual(FOUND);
  });

  test("b119: that is over, and not pruned yet, is written anew", async () => {
    const save = aSave();
    await make(opened(), save);
    await age("25 hours");
    const renewed = { ...save, request: digestOf("another") };
    expect(await make(opened(), renewed, "lib-handbook")).toBeUndefined();
    expect(await findSave(opened().db, renewed)).toEqual({ ...FOUND, libraryId: "lib-handbook" });
    expect((await prune(opened(), 1)).saves).toBe(0);
  });

  test("b119: takes room of its caller alone, until it is over", async () => {
    expect(MAX_SAVES).toBe(10_000);
    const capacity = (caller = "key_1") => countRecords(opened().db, caller, 2);
    await make(opened(), aSave());
    expect(await capacity()).toEqual({ free: 1, waitMs: 0 });
    await age("23 hours");
    await make(opened(), aSave());
    const { free, waitMs } = await capacity();
    expect(free).toBe(0);
    expect(waitMs).toBeGreaterThan(3_500_000);
    expect(waitMs).toBeLessThanOrEqual(3_600_000);
    expect(await capacity("key_2")).toEqual({ free: 2, waitMs: 0 });
    await age("61 minutes");
    expect(await capacity()).toEqual({ free: 1, waitMs: 0 });
  });

  test("b119: goes with its library, in bounded bits", async () => {
    for (let n = 0; n < 5; n++) await make(opened(), aSave(), "lib-ops");
    await make(opened(), aSave());
    await sql`update libraries set state = 'deleted' where id = 'lib-ops'`.execute(opened().db);
    const left = async () =>
      (await opened().db.selectFrom("repeatable_saves").select("library_id").execute()).map((row) => row.library_id);
    const deletion = libraryDeletion(opened(), { libraryId: "lib-ops", slice: 2 });
    const counts: number[] = [];
    while (await deletion.next()) counts.push((await left()).length);
    expect(counts).toEqual([4, 2, 1, 1]);
    expect(await left()).toEqual(["lib-diary"]);
  });
});

describeOnPostgres("the record of a save that is under way", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));

  test.each([
    ["committed", FOUND],
    ["rolled back", undefined],
  ] as const)("b119: is waited for, until it is %s", async (end, found) => {
    const save = aSave();
    let second: ReturnType<typeof make> | undefined;
    const first = inTransaction(opened(), async (tx) => {
      await beginSave(tx, save, "lib-diary");
      second = make(opened(), save);
      second.catch(() => {});
      await until("the second waits", async () => {
        const { rows } = await sql`select from pg_stat_activity where datname = current_database()
          and wait_event_type = 'Lock'`.execute(opened().db);
        return rows.length === 1;
      });
      await endSave(tx, save, MADE);
      if (end === "rolled back") throw new Error(end);
    });
    await (end === "committed" ? first : expect(first).rejects.toThrow(end));
    expect(await second).toEqual(found);
    expect(await findSave(opened().db, save)).toEqual(FOUND);
  });
});
