import { expect, test } from "vitest";
import { copyRows } from "../../../../store/database/postgres/copy.ts";
import type { Store } from "../../../../store/database/store.ts";
import { changesAfter, snapshot } from "../../../../store/feed/change-feed.ts";
import type { IndexedKey } from "../../../../store/keys/rows/key-records.ts";
import { databaseUrl, describeOnPostgres } from "../../../env/database/engines.ts";
import { makeTeam, reserveKey } from "../../fixtures.ts";

describeOnPostgres("Rows that are copied", (store) => {
  /** What {@link copyRows} makes of a statement, as of a moment that is exported for it. */
  async function copy(select: string, take: (row: Buffer) => void, stallMs = 10_000): Promise<void> {
    const connectionString = (await databaseUrl(store())).href;
    await exported(store(), (id) =>
      copyRows({ connectionString }, stallMs, { snapshot: id, select, settings: {} }, take),
    );
  }

  test("are all there, in the database's binary form, and the event loop turns meanwhile", async () => {
    const numbers: number[] = [];
    let iterations = 0;
    const turning = setInterval(() => iterations++, 0);
    await copy("select n from generate_series(1, 200000) n", (row) => numbers.push(row.readInt32BE(6)));
    clearInterval(turning);
    expect(numbers).toEqual(Array.from({ length: 200_000 }, (_, index) => index + 1));
    expect(iterations).toBeGreaterThan(10);
  });

  test("none of none", async () => {
    await copy("select 1 where false", () => expect.unreachable());
  });

  test("that cannot be taken in end the reading with that error", async () => {
    const refused = copy("select n from generate_series(1, 100000) n", (row) => {
      if (row.readInt32BE(6) === 5_000) throw new RangeError("no place for it");
    });
    await expect(refused).rejects.toThrow("no place for it");
  });

  test("of a statement that fails on its way end with the database's error", async () => {
    const failing = copy("select 1 / (50000 - n) from generate_series(1, 100000) n", () => {});
    await expect(failing).rejects.toThrow("division by zero");
  });

  test("that do not come any more are given up", async () => {
    const stuck = copy("select pg_sleep(600)", () => {}, 100);
    await expect(stuck).rejects.toThrow("sent nothing for 100 ms");
  });

  test("of a snapshot are as of its head, whatever is committed before they are asked for", async () => {
    const home = await makeTeam(store());
    const before = await reserveKey(store(), home);
    const { copyRows: read } = store();
    let meanwhile = "";
    const interrupted: Store = {
      ...store(),
      copyRows: async (question, take) => {
        meanwhile = (await reserveKey(store(), home)).digest;
        await read?.(question, take);
      },
    };
    const keys: IndexedKey[] = [];
    const { head } = await snapshot(interrupted, (page) => keys.push(...page));
    const digests = keys.map(({ digest }) => digest);
    expect(digests).toContain(before.digest);
    expect(digests).not.toContain(meanwhile);
    expect((await changesAfter(store(), head, 10)).keys.map(({ digest }) => digest)).toContain(meanwhile);
  });
});

async function exported(store: Store, body: (snapshot: string) => Promise<void>): Promise<void> {
  await store.db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (tx) => {
      const { id } = await tx
        .selectNoFrom(({ fn }) => fn<string>("pg_export_snapshot").as("id"))
        .executeTakeFirstOrThrow();
      await body(id);
    });
}
