/** Budgets of what calls cost, as callers of models meet them (docs/decisions/budgets.md). */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import type { PriceList } from "../../../domain/usage/price-list.ts";
import type { BudgetGrants } from "../../../server/budgets/budget-grants.ts";
import { budgetsOn, ledgerInMemory } from "../budgets/ledger.ts";
import type { Harness } from "../harness.ts";
import { routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const LIST = `currency: USD
prices:
  - { model: fast, from: 2026-01-01, input: 1, cached: 0.1, output: 10 }
  - { model: slow, from: 2026-01-01, input: 100, output: 1000 }
`;
const OWNER = "team-a c/ns/reader";

let upstream: Upstream;
let harness: Harness;
let ledger: ReturnType<typeof ledgerInMemory>;
let prices: PriceList | null;
let budgets: BudgetGrants;
beforeEach(async () => {
  const read = parsePriceList(LIST);
  if ("faults" in read) throw new Error("the list has faults");
  prices = read.list;
  upstream = await startUpstream();
  ledger = ledgerInMemory();
  harness = await startGateway({
    budgets: (clock) => {
      budgets = budgetsOn(ledger.write, clock, { prices: () => prices });
      return budgets;
    },
  });
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: [upstreamOf(upstream.url), upstreamOf(upstream.url, "anthropic"), upstreamOf(upstream.url, "gemini")],
  });
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

const BODY = { model: "fast", max_tokens: 500 };
const LENGTH = JSON.stringify(BODY).length;
/** In millionths: each byte may be a token that is read. */
const EXPECTED = LENGTH + 500 * 10;
const answerUsing = (usage: object, model?: string) =>
  upstream.answerWith((response) => response.end(JSON.stringify({ model, usage })));
const dollars = (millionths: number, fields: object = {}, owner = OWNER): Partial<KeyRecord> => {
  const cost = (millionths / 1e6).toFixed(6);
  const item = { cost, currency: "USD", period: "Month", timeZone: "UTC", onExhausted: "Refuse", ...fields } as const;
  return { budgets: { owner, items: [item] } };
};
async function ask(key: string, body: object = BODY, path = "/v1/chat/completions") {
  const answer = await fetch(`${harness.url}/g/main${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, mayRetry: answer.headers.get("x-should-retry"), text: await answer.text() };
}

test("b145: a key is charged what the answer's tokens cost, and refused where its call may cost more than is left", async () => {
  answerUsing({ prompt_tokens: 400, prompt_tokens_details: { cached_tokens: 300 }, completion_tokens: 50 });
  // 100 + 30 + 500.
  const key = harness.addKey(dollars(EXPECTED + 1_000));
  expect((await ask(key)).status).toBe(200);
  expect((await ask(key)).status).toBe(200);
  const refused = await ask(key);
  expect(refused.status).toBe(429);
  expect(refused.text).toContain(
    `This key's budget of ${((EXPECTED + 1_000) / 1e6).toFixed(6)} USD a month has no room for this call, which may cost ${(EXPECTED / 1e6).toFixed(6)} USD: 0.001260 USD are spent.`,
  );
  expect((await ask(key, { ...BODY, max_tokens: 10 })).status).toBe(200);
});

test("b145: an answer is charged by the model that it names, where that has prices, else by the one that was asked", async () => {
  const key = harness.addKey(dollars(10_000_000, { period: "Total" }));
  const usedBy = async (model: string | undefined) => {
    const spent = async () => {
      await budgets.endRound();
      return ledger.sumOf(`key ${OWNER} USD Total`, "total").spent;
    };
    const before = await spent();
    answerUsing({ prompt_tokens: 10, completion_tokens: 1 }, model);
    expect((await ask(key)).status).toBe(200);
    return (await spent()) - before;
  };
  expect(await usedBy("slow")).toBe(2_000);
  expect(await usedBy("fast-2026-11-01")).toBe(20);
  expect(await usedBy(undefined)).toBe(20);
});

test("b145: what a model costs that the body names is known though no route and no list of models asks for it", async () => {
  const key = harness.addKey(dollars(EXPECTED));
  expect((await ask(key, { ...BODY, model: "slow" })).status).toBe(429);
  // Of two names one is the upstream's: the body is refused, as where models are allowed by name.
  const twice = await fetch(`${harness.url}/g/main/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: '{"model":"fast","max_tokens":1,"model":"slow"}',
  });
  expect(twice.status).toBe(400);
  expect(upstream.received).toHaveLength(0);
  const ofPath = await ask(key, { generationConfig: { maxOutputTokens: 500 } }, "/v1beta/models/slow:generateContent");
  expect(ofPath.status).toBe(429);
});

test("b145: a route may cost what the dearest of the models does that it leads to", async () => {
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main", upstreams: [upstreamOf(upstream.url)] },
    routes: [routeOf("cheap", { upstreamModel: "fast", fallbacks: [{ upstream: "openai", upstreamModel: "slow" }] })],
  });
  answerUsing({ prompt_tokens: 1, completion_tokens: 1 });
  const body = { ...BODY, model: "cheap" };
  expect((await ask(harness.addKey(dollars(EXPECTED + 100, {}, "one")), body)).status).toBe(429);
  expect((await ask(harness.addKey(dollars(EXPECTED * 101, {}, "other")), body)).status).toBe(200);
});

test.each<[promise: string, list: string | null, model: string, says: string]>([
  ["no price list", null, "fast", "the servers have no price list, which --prices gives them"],
  ["a list of another currency", LIST.replace("USD", "EUR"), "fast", "the servers' price list is in EUR"],
  ["no price for the model", LIST, "other", "the price list has no prices for this model"],
])("b145: with %s a call is refused, and not free", async (_, list, model, says) => {
  const read = list === null ? undefined : parsePriceList(list);
  prices = read !== undefined && "list" in read ? read.list : null;
  const key = harness.addKey(dollars(10_000_000));
  const refused = await ask(key, { ...BODY, model });
  expect(refused).toMatchObject({ status: 403, mayRetry: "false" });
  expect(refused.text).toContain(`This key's budget of 10.00 USD a month cannot be held: ${says}`);
  expect(harness.refused.at(-1)).toMatchObject({ code: "forbidden", cause: "budget_unpriced" });
  expect(upstream.received).toHaveLength(0);
});

test("b145: a budget that alerts lets calls pass, also those without a price", async () => {
  answerUsing({ prompt_tokens: 10, completion_tokens: 1 });
  const key = harness.addKey(dollars(1, { onExhausted: "Alert" }));
  expect([(await ask(key)).status, (await ask(key, { ...BODY, model: "other" })).status]).toEqual([200, 200]);
  prices = null;
  expect((await ask(key)).status).toBe(200);
});

test("b145: what costs less than the smallest part is summed up, and not rounded up each time", async () => {
  answerUsing({ prompt_tokens: 1, prompt_tokens_details: { cached_tokens: 1 }, completion_tokens: 0 });
  const key = harness.addKey(dollars(10_000_000, { period: "Total" }));
  for (let i = 0; i < 20; i++) expect((await ask(key)).status).toBe(200);
  await budgets.endRound();
  expect(ledger.sumOf(`key ${OWNER} USD Total`, "total").spent).toBe(2);
});
