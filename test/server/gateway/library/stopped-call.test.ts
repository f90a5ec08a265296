/** Calls of models for libraries that are under way as the server stops. */
import { expect, test } from "vitest";
import { keyDigest } from "../../../../domain/key/secret/key-format.ts";
import type { BudgetGrants } from "../../../../server/budgets/budget-grants.ts";
import { EMBEDDING_FORMATS } from "../../../../server/gateway/library/embedding-formats.ts";
import { createLibraryCaller } from "../../../../server/gateway/library/library-call.ts";
import { until } from "../../../env/until.ts";
import { budgetsOn, ledgerInMemory } from "../../budgets/ledger.ts";
import { routeOf, startGateway, upstreamOf } from "../gateway.ts";
import { rawUpstream } from "../raw-upstream.ts";

test("b424: a library's call that ends with its server is charged what it had reserved, and its request is not doubted", async () => {
  let received = 0;
  const silent = await rawUpstream(() => received++);
  const ledger = ledgerInMemory();
  let budgets: BudgetGrants | undefined;
  const harness = await startGateway({
    budgets(clock) {
      budgets = budgetsOn(ledger.write, clock);
      return budgets;
    },
  });
  const caller = createLibraryCaller(harness.deps, { formats: EMBEDDING_FORMATS, userAgent: "test" });
  harness.addGateway({
    ...{ publicId: "main", upstreams: [upstreamOf(silent.url)] },
    routes: [routeOf("meaning", { upstream: "openai" })],
  });
  const items = [{ tokens: 1_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }] as const;
  const key = harness.addKey({ budgets: { owner: "team-a c/ns/reader", items } });
  const call = { digest: keyDigest(key), publicId: "main", model: "meaning", timeoutMs: 5_000, maxAnswer: 1_000 };
  const body = { input: "abc" };
  const calling = caller.call({ ...call, body: () => body });
  await until("the upstream was sent it", () => received > 0);
  await caller.close();
  const failed = await calling;
  await harness.close();
  silent.close();
  await budgets?.endRound();
  await budgets?.endRound();
  expect(failed).toMatchObject({ kind: "failed" });
  expect(failed).not.toMatchObject({ isDoubtful: true });
  const sum = ledger.sumOf("key team-a c/ns/reader tokens Month", "2026-11-01");
  expect(sum).toEqual({ spent: JSON.stringify(body).length, held: 0 });
});
