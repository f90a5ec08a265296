/** Cells that another transaction has locked, beside those of other limits (threats b212). */
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { RateLimit } from "../../../domain/access/rate-limit.ts";
import type { DrawnLimit } from "../../../server/limits/held-limit.ts";
import { InstallationLimits } from "../../../server/limits/installation-limits.ts";
import type { Db } from "../../../store/database/change.ts";
import { drawFromCells } from "../../../store/limits/limit-cells.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { farDatabase } from "../../env/database/far-database.ts";
import { unique } from "../../store/fixtures.ts";

/** Of few requests a second for each thread: every call asks its cell. */
const LIMIT: RateLimit = { requestsPerMinute: 60, burst: 60 };
const TOKENS: RateLimit = { requestsPerMinute: 60, burst: 60, unit: 1 };

type Lock = (db: Db, limitId: string) => Promise<unknown>;

describeOnEitherEngine("While another transaction has a cell locked", (store) => {
  const lockRow: Lock = (db, limitId) =>
    sql`select 1 from limit_cells where limit_id = ${limitId} for update`.execute(db);
  const make: Lock = (db, limitId) => drawFromCells(db, [{ limitId, limit: LIMIT, wanted: 1 }]);
  const WAYS: readonly [string, Lock, boolean][] = [
    ["that is there", lockRow, true],
    ["that it makes", make, false],
  ];

  function openThread(db: Db) {
    const clock = { now: 1_000_000 };
    const database = { draws: 0 };
    const thread = new InstallationLimits({
      draw(draws) {
        database.draws++;
        return drawFromCells(db, draws);
      },
      threads: () => 4,
      monotonic: () => clock.now,
    });
    return { thread, clock, database };
  }

  /** Has a cell locked until the transaction is ended. */
  async function hold(lock: Lock, limitId: string): Promise<() => Promise<void>> {
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const other = store()
      .db.transaction()
      .execute(async (tx) => {
        await lock(tx, limitId);
        locked.resolve();
        await released.promise;
      });
    await locked.promise;
    return () => {
      released.resolve();
      return other;
    };
  }

  test.each(WAYS)(
    "b212: one %s, the other limits are the installation's, and its own later",
    async (_, lock, isThere) => {
      const { thread, clock, database } = openThread(farDatabase(store().db));
      /** By whom a call is admitted. */
      const admit = async (limitId: string) => {
        const { admitted, paidAt } = await thread.charge({ limitId, teamId: limitId, limit: LIMIT }, 1_000);
        if (!admitted) return "none";
        return paidAt === 0 ? "cell" : "part";
      };
      const [locked, first, second, ...rest] = Array.from({ length: 60 }, () => unique("limit"));
      if (locked === undefined || first === undefined || second === undefined) throw new RangeError("too few");
      await Promise.all([first, second, ...rest, ...(isThere ? [locked] : [])].map(admit));
      // So long that each has its part again.
      clock.now += 60_000;
      const release = await hold(lock, locked);
      // Those beyond the first two are asked for by statements of several. One of them is not there yet.
      if (isThere) rest.splice(1, 0, unique("fresh"));
      const answers = await Promise.all([first, second, locked, ...rest].map(admit));
      const asked = database.draws;
      const again = await admit(locked);
      const notAsked = database.draws === asked;
      const next = await admit(unique("another"));
      await release();
      expect(answers).toEqual(["cell", "cell", "part", ...rest.map(() => "cell")]);
      expect([again, notAsked, next]).toEqual(["part", true, "cell"]);
      clock.now += 1_000;
      expect(await admit(locked)).toBe("cell");
    },
  );

  test("b212: cells that are free cost one statement, those too that it makes", async () => {
    let statements = 0;
    const db = store().db.withPlugin({
      transformQuery({ node }) {
        statements++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const ids = Array.from({ length: 25 }, () => unique("limit"));
    const draw = (limitIds: readonly string[]) =>
      drawFromCells(
        db,
        limitIds.map((limitId) => ({ limitId, limit: LIMIT, wanted: 1 })),
      );
    const given = [await draw(ids.slice(0, 10)), await draw(ids)];
    expect(given.map(({ size }) => size)).toEqual([10, 25]);
    expect(statements).toBe(2);
  });

  test("b212: the tokens that calls have used are charged to it later", async () => {
    const { thread, clock } = openThread(store().db);
    const drawn: DrawnLimit = { limitId: unique("limit"), teamId: "team", limit: TOKENS };
    const charge = async (amount: number) => thread.charge(drawn, 1_000, amount);
    expect(await charge(10)).toMatchObject({ admitted: true, paidAt: 0 });
    const release = await hold(lockRow, drawn.limitId);
    thread.settle(drawn, 40);
    const { paidAt } = await charge(1);
    await release();
    expect(paidAt, "by the part").not.toBe(0);
    clock.now += 1_000;
    thread.endPeriod();
    expect(await charge(30)).toMatchObject({ admitted: false, paidAt: 0 });
  });
});
