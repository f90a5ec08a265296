import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { drawRequests } from "../../../domain/access/limit-draw.ts";
import type { RateLimit } from "../../../domain/access/rate-limit.ts";
import { tokenRate } from "../../../domain/access/token-limit.ts";
import { drawFromCells } from "../../../store/limits/limit-cells.ts";
import { prune } from "../../../store/retention.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { unique } from "../fixtures.ts";

const requests = fc.record({
  requestsPerMinute: fc.integer({ min: 1, max: 1_000_000 }),
  burst: fc.integer({ min: 1, max: 1_000_000 }),
});
const tokens = fc.integer({ min: 1, max: 100_000_000 }).map((tokensPerMinute): RateLimit => {
  return tokenRate({ tokensPerMinute, scope: "Installation" });
});
const limit = fc.oneof(requests, tokens);

describeNightlyOnEachEngine("The cells of limits", (store) => {
  test("b123, b128: give what the rule gives, draw after draw", async () => {
    const draws = fc.array(
      fc.record({
        limit,
        wanted: fc.integer({ min: -100, max: 200_000 }).filter((wanted) => wanted !== 0),
        areUsed: fc.boolean(),
      }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(draws, async (asked) => {
        const limitId = unique("limit");
        let paidAt: number | undefined;
        for (const { limit, wanted, areUsed } of asked) {
          const drawn = (await drawFromCells(store().db, [{ limitId, limit, wanted, areUsed }])).get(limitId);
          if (drawn === undefined) throw new Error("a cell gave no answer");
          expect(drawn).toEqual(drawRequests(limit, paidAt ?? drawn.now, drawn.now, wanted, areUsed));
          ({ paidAt } = drawn);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("b123: are drawn from by many replicas at once, and give each what is there once", async () => {
    const limits = Array.from({ length: 20 }, () => unique("limit"));
    const rate = { requestsPerMinute: 1, burst: 100 };
    const draw = () =>
      drawFromCells(
        store().db,
        limits.toSorted(() => Math.random() - 0.5).map((limitId) => ({ limitId, limit: rate, wanted: 7 })),
      );
    const given = await Promise.all(Array.from({ length: 30 }, draw));
    for (const limitId of limits) {
      expect(given.reduce((sum, drawn) => sum + (drawn.get(limitId)?.granted ?? 0), 0)).toBe(100);
    }
  });

  test("b123: owe a burst at most, also when the database's clock was set back", async () => {
    const limitId = unique("limit");
    const limit = { requestsPerMinute: 60_000, burst: 1_000 };
    await drawFromCells(store().db, [{ limitId, limit, wanted: 1 }]);
    await sql`update limit_cells set paid_at = paid_at + 3600000000 where limit_id = ${limitId}`.execute(store().db);
    const drawn = (await drawFromCells(store().db, [{ limitId, limit, wanted: 1 }])).get(limitId);
    expect(drawn?.granted).toBe(0);
    expect((drawn?.paidAt ?? 0) - (drawn?.now ?? 0)).toBe(1_000_000);
  });

  test("b128: tokens that were used are owed by all replicas, beyond what any may draw, and can be given back", async () => {
    const limitId = unique("limit");
    const limit = tokenRate({ tokensPerMinute: 6, scope: "Installation" });
    const draw = async (wanted: number, areUsed = false) =>
      (await drawFromCells(store().db, [{ limitId, limit, wanted, areUsed }])).get(limitId)?.granted;
    expect(await draw(6)).toBe(6);
    expect(await draw(60, true)).toBe(60);
    expect(await draw(1)).toBe(0);
    await draw(-60);
    expect(await draw(1)).toBe(0);
    await draw(-2);
    expect(await draw(2)).toBe(2);
    expect(await draw(10_000, true)).toBeLessThanOrEqual(361);
  });

  test("are forgotten once they owe nothing", async () => {
    const [paid, owing] = [unique("paid"), unique("owing")];
    const rate = { requestsPerMinute: 1, burst: 100 };
    await drawFromCells(
      store().db,
      [paid, owing].map((limitId) => ({ limitId, limit: rate, wanted: 100 })),
    );
    await sql`update limit_cells set paid_at = 0, drawn_at = 0 where limit_id = ${paid}`.execute(store().db);
    await prune(store(), 1_000);
    const left = await drawFromCells(
      store().db,
      [paid, owing].map((limitId) => ({ limitId, limit: rate, wanted: 1 })),
    );
    expect([left.get(paid)?.granted, left.get(owing)?.granted]).toEqual([1, 0]);
    const { rows } = await sql`select from limit_cells where limit_id = ${owing}`.execute(store().db);
    expect(rows).toHaveLength(1);
  });
});
