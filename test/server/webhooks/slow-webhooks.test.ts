import { expect, test } from "vitest";
import { freeTries, SlowWebhooks } from "../../../server/webhooks/slow-webhooks.ts";

const begunAt = (since: number, webhookId = "hook_a") => ({ webhookId, since });

test("b341: a webhook is slow from a second of a try under way, until one of its tries was quick", () => {
  const webhooks = new SlowWebhooks();
  expect([...webhooks.at(1_000, [begunAt(0)])]).toEqual([]);
  expect([...webhooks.at(1_001, [begunAt(0), begunAt(900, "hook_b")])]).toEqual(["hook_a"]);
  webhooks.end(begunAt(0), 10_000);
  expect([...webhooks.at(10_000, [])]).toEqual(["hook_a"]);
  webhooks.end(begunAt(10_000), 10_001);
  expect([...webhooks.at(10_001, [])]).toEqual([]);
});

test("b341: of slow webhooks the thousand that were tried last are remembered", () => {
  const webhooks = new SlowWebhooks();
  for (let i = 0; i < 1_001; i++) webhooks.end(begunAt(0, `hook_${i}`), 10_000);
  const slow = webhooks.at(10_000, []);
  expect([slow.size, slow.has("hook_0"), slow.has("hook_1000")]).toEqual([1_000, false, true]);
});

test.each([
  ["nothing is under way", 0, 0, { quick: 12, any: 12 }],
  ["slow ones have all that they may", 12, 12, { quick: 4, any: 0 }],
  ["slow ones were not known as such", 16, 16, { quick: 0, any: -4 }],
  ["quick ones have all that they may", 12, 0, { quick: 0, any: 12 }],
  ["both have some", 8, 2, { quick: 6, any: 10 }],
])("b341: neither slow webhooks nor quick ones have all tries where %s", (_, underWay, slow, free) => {
  expect(freeTries(16, underWay, slow)).toEqual(free);
});
