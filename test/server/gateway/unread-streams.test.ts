/** Compressed streams beyond those that a thread decodes for a team: what a budget is charged for them. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { BudgetGrants } from "../../../server/budgets/budget-grants.ts";
import { budgetsOn, ledgerInMemory } from "../budgets/ledger.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream } from "./upstream.ts";

const STREAMS = 230;
const EVENTS = 5_000;

test("b423: streams of a team with a budget are charged a token for each event, however many are open and ask for a coding", async () => {
  const ledger = ledgerInMemory();
  let budgets: BudgetGrants | undefined;
  const harness = await startGateway({
    budgets(clock) {
      budgets = budgetsOn(ledger.write, clock);
      return budgets;
    },
  });
  const text = "data: {}\n\n".repeat(EVENTS);
  const ends: (() => void)[] = [];
  const upstream = await startUpstream((response, { headers }) => {
    const isZipped = headers["accept-encoding"]?.includes("gzip") === true;
    response.writeHead(200, { "content-type": "text/event-stream", ...(isZipped && { "content-encoding": "gzip" }) });
    response.flushHeaders();
    ends.push(() => response.end(isZipped ? gzipSync(text) : text));
  });
  harness.addGateway({ gatewayId: "gw_main", publicId: "main", upstreams: [upstreamOf(upstream.url)] });
  const items = [{ tokens: 10_000_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }] as const;
  const key = harness.addKey({ budgets: { owner: "team-a c/ns/reader", items } });
  const answers = await Promise.all(
    Array.from({ length: STREAMS }, () =>
      fetch(`${harness.url}/g/main/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "accept-encoding": "gzip" },
        body: JSON.stringify({ model: "fast" }),
      }),
    ),
  );
  for (const end of ends) {
    end();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const answer of answers) await answer.text();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await budgets?.endRound();
  await budgets?.endRound();
  const { spent } = ledger.sumOf("key team-a c/ns/reader tokens Month", "2026-11-01");
  await harness.close();
  await upstream.close();
  expect(spent).toBeGreaterThanOrEqual(STREAMS * EVENTS);
}, 60_000);
