/** What a budget is charged for calls whose caller leaves before the answer begins (docs/decisions/budgets.md). */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BudgetGrants } from "../../../server/budgets/budget-grants.ts";
import { until } from "../../env/until.ts";
import { budgetsOn, ledgerInMemory } from "../budgets/ledger.ts";
import type { Harness } from "../harness.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import { rawUpstream } from "./raw-upstream.ts";

/** An upstream that answers nothing, and how many pieces it has been sent. */
let silent: Awaited<ReturnType<typeof rawUpstream>>;
let pieces: number;
let harness: Harness;
let ledger: ReturnType<typeof ledgerInMemory>;
let budgets: BudgetGrants | undefined;
beforeEach(async () => {
  pieces = 0;
  silent = await rawUpstream(() => pieces++);
  ledger = ledgerInMemory();
  harness = await startGateway({
    budgets(clock) {
      budgets = budgetsOn(ledger.write, clock);
      return budgets;
    },
  });
});
afterEach(async () => {
  await harness.close();
  silent.close();
});

const BODY = JSON.stringify({ model: "fast", max_tokens: 500 });
const RESERVED = BODY.length + 500;

function open(url: string, tokens: number) {
  harness.addGateway({ gatewayId: "gw_main", publicId: "main", upstreams: [upstreamOf(url)] });
  const items = [{ tokens, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }] as const;
  const key = harness.addKey({ budgets: { owner: "team-a c/ns/reader", items } });
  return (signal?: AbortSignal) =>
    fetch(`${harness.url}/g/main/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: BODY,
      ...(signal && { signal }),
    });
}

/** Makes a call, and leaves once the upstream was sent something. */
async function giveUp(call: (signal: AbortSignal) => Promise<Response>): Promise<void> {
  const before = pieces;
  const leaving = new AbortController();
  const answer = call(leaving.signal).catch(() => {});
  await until("the upstream was sent something", () => pieces > before);
  leaving.abort();
  await answer;
}

test("b177: a caller who gives up and tries again is charged what each call had reserved, until the budget is used up", async () => {
  const call = open(silent.url, 2 * RESERVED);
  await giveUp(call);
  await giveUp(call);
  const refused = await until("both are settled", async () => {
    const answer = await call(AbortSignal.timeout(5_000));
    const text = await answer.text();
    return text.includes(`${2 * RESERVED} are used`) ? { status: answer.status, text } : undefined;
  });
  expect(refused).toMatchObject({ status: 429, text: expect.stringContaining("budget_exceeded") });
});

test("b177: a call that is given up while its upstream is connected to has used nothing", async () => {
  // It never answers TLS's greeting.
  const call = open(silent.url.replace("http:", "https:"), RESERVED);
  await giveUp(call);
  const place = ["key team-a c/ns/reader tokens Month", "2026-11-01"] as const;
  await until("all is given back", async () => {
    await budgets?.endRound();
    return ledger.sumOf(...place).held === 0;
  });
  expect(ledger.sumOf(...place).spent).toBe(0);
});
