import { expect, test } from "vitest";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import { NO_FIGURES, type TokenFigures } from "../../../domain/usage/token-count.ts";
import type { Store } from "../../../store/database/store.ts";
import { addRequestCounts } from "../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../store/keys/uses/token-counts.ts";
import { readUsage } from "../../../store/usage/read-usage.ts";
import { rollUp } from "../../../store/usage/roll-up.ts";
import type { UsageQuestion } from "../../../store/usage/usage-question.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { HOUR, unique } from "../fixtures.ts";

const DAY = 24 * HOUR;
const SLOT = 5 * 60_000;
const ignore = () => {};
/** The beginning of the day, in UTC, so many days ago. */
const dayAgo = (days: number) => (Math.floor(Date.now() / DAY) - days) * DAY;
const day = (days: number) => new Date(dayAgo(days)).toISOString().slice(0, 10);

function listOf(prices: string) {
  const read = parsePriceList(`currency: EUR\nprices:\n${prices}`);
  if ("faults" in read) throw new Error(JSON.stringify(read.faults));
  return read.list;
}

async function addTokens(store: Store, keyId: string, slot: number, model: string, figures: Partial<TokenFigures>) {
  const way = { gatewayId: "gw_a", routeId: "", teamId: "team_a" };
  const count = { keyId, slot, ...way, model, figures: { ...NO_FIGURES, calls: 1, ...figures } };
  await addTokenCounts(store, [count], ignore);
}

async function costsOf(store: Store, keyId: string, prices: string, more: Partial<UsageQuestion> = {}) {
  const rows = await readUsage(store.db, {
    ...{ from: dayAgo(7), to: dayAgo(-1), by: "key", step: "total", keyIds: [keyId], limit: 1_000 },
    ...{ prices: listOf(prices), ...more },
  });
  return rows.map(({ cost }) => [cost?.trillionths, cost?.unpricedTokens, cost?.unpricedToolCalls]);
}

describeNightlyOnEachEngine("What was used costs", (store) => {
  test("each kind of tokens at its own price, exactly, however much it is", async () => {
    const keyId = unique("key");
    const figures = { input: 9_007_199_254_740_991, cached: 7, cache_write_5m: 11, cache_write_1h: 13 };
    await addTokens(store(), keyId, dayAgo(1), "gpt", { ...figures, output: 17, reasoning: 19, tool_calls: 3 });
    const all = "cached: 0.1, cacheWrites5m: 0.2, cacheWrites1h: 0.3, output: 0.4, reasoning: 0.5, toolCalls: 0.01";
    const expected =
      9_007_199_254_740_991n * 1_234_567n +
      (7n * 1n + 11n * 2n + 13n * 3n + 17n * 4n + 19n * 5n) * 100_000n +
      3n * 10_000n * 1_000_000n;
    expect(await costsOf(store(), keyId, `- {model: gpt, from: 2020-01-01, input: 1.234567, ${all}}`)).toEqual([
      [expected, 0, 0],
    ]);
  });

  test("what its day's price is, to the first and last five minutes, before it is summed up and after", async () => {
    const keyId = unique("key");
    const prices = `- {model: gpt, from: ${day(5)}, input: 1}\n- {model: gpt, from: ${day(3)}, input: 10}`;
    for (const slot of [dayAgo(5) - SLOT, dayAgo(5), dayAgo(3) - SLOT, dayAgo(3), dayAgo(0)]) {
      await addTokens(store(), keyId, slot, "gpt", { input: 1 });
    }
    await addRequestCounts(store(), [{ keyId, slot: dayAgo(1), scope: "gateway:invoke", count: 9 }], ignore);
    const total = [[22_000_000n, 1, 0]];
    expect(await costsOf(store(), keyId, prices)).toEqual(total);
    await rollUp(store());
    expect(await costsOf(store(), keyId, prices)).toEqual(total);
    const byDay = await costsOf(store(), keyId, prices, { step: "day" });
    expect(byDay.map(([cost]) => cost)).toEqual([0n, 1_000_000n, 1_000_000n, 10_000_000n, 0n, 10_000_000n]);
    const recent = { bySlots: true, from: dayAgo(5), step: "slot" } as const;
    expect((await costsOf(store(), keyId, prices, recent)).reduce((sum, [cost]) => sum + BigInt(cost ?? 0), 0n)).toBe(
      22_000_000n,
    );
  });

  test("by the longest name that fits its model, and has no price before that name's first day", async () => {
    const keyId = unique("key");
    const prices = `- {model: gpt*, from: 2020-01-01, input: 1}
- {model: gpt-5*, from: 2020-01-01, input: 2}
- {model: gpt-5-mini, from: ${day(1)}, input: 4}
- {model: "a%*", from: 2020-01-01, input: 100}`;
    for (const model of ["gpt-4", "gpt-5", "gpt-5-mini", "abc", "a%c"]) {
      await addTokens(store(), keyId, dayAgo(2), model, { input: 1 });
    }
    const byModel = await costsOf(store(), keyId, prices, { by: "model" });
    expect(byModel).toEqual([
      [100_000_000n, 0, 0],
      [0n, 1, 0],
      [1_000_000n, 0, 0],
      [2_000_000n, 0, 0],
      [0n, 1, 0],
    ]);
    expect(await costsOf(store(), keyId, prices)).toEqual([[103_000_000n, 2, 0]]);
    const [first] = await readUsage(store().db, {
      ...{ from: dayAgo(7), to: dayAgo(-1), by: "model", step: "total", keyIds: [keyId], limit: 2 },
      ...{ prices: listOf(prices), after: { at: dayAgo(7), group: "abc" }, isMostFirst: true },
    });
    expect([first?.group, first?.cost?.trillionths], "the page after another").toEqual(["gpt-4", 1_000_000n]);
  });

  test("images, seconds and characters at their prices, and images by their tokens where those have one", async () => {
    const keyId = unique("key");
    for (const [model, figures] of [
      ["dear", { images: 2, seconds: 30, characters: 1_000 }],
      ["painter", { images: 2, output: 10 }],
      ["painter-silent", { images: 3 }],
      ["picture", { images: 2, input: 7, output: 10 }],
      ["unknown", { images: 1, characters: 5 }],
    ] as const) {
      await addTokens(store(), keyId, dayAgo(1), model, figures);
    }
    const prices = `- {model: picture, from: 2020-01-01, images: 1}
- {model: painter-silent, from: 2020-01-01, output: 40}
- {model: dear, from: 2020-01-01, images: 0.04, seconds: 0.0001, characters: 15}
- {model: painter, from: 2020-01-01, output: 40}`;
    const rows = await readUsage(store().db, {
      ...{ from: dayAgo(7), to: dayAgo(-1), by: "model", step: "total", keyIds: [keyId], limit: 10 },
      prices: listOf(prices),
    });
    expect(rows.map(({ cost }) => cost?.unpricedTokens)).toEqual([0, 0, 0, 0, 0]);
    expect(rows.map(({ group, cost }) => [group, cost?.trillionths, cost?.unpricedUnits])).toEqual([
      ["dear", 80_000_000_000n + 3_000_000_000n + 15_000_000_000n, 0],
      ["painter", 400_000_000n, 0],
      ["painter-silent", 0n, 3],
      ["picture", 2_000_000_000_000n, 0],
      ["unknown", 0n, 6],
    ]);
    await rollUp(store());
    expect((await costsOf(store(), keyId, prices))[0]?.[0]).toBe(2_098_400_000_000n);
  });

  test("nothing that is known where a kind of tokens has no price, which is counted", async () => {
    const keyId = unique("key");
    await addTokens(store(), keyId, dayAgo(1), "gpt", { input: 5, cached: 3, output: 2, reasoning: 1, tool_calls: 4 });
    expect(await costsOf(store(), keyId, "- {model: gpt, from: 2020-01-01, input: 1, output: 0}")).toEqual([
      [5_000_000n, 3, 4],
    ]);
  });
});
