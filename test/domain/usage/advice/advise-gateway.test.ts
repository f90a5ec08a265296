import { expect, test } from "vitest";
import { adviseGateway } from "../../../../domain/usage/advice/advise-gateway.ts";
import type { KeyUse } from "../../../../domain/usage/advice/key-use.ts";
import { answers, useOf } from "./uses.ts";

const advised = (use: Partial<KeyUse>) => adviseGateway(useOf(use, { "gateway:generate": 10 }));
const changes = (use: Partial<KeyUse>) => Object.assign({}, ...advised(use).map(({ change }) => change));

test("the one gateway that has answered is advised, with its namespace where that is another", () => {
  expect(changes({ answers: [answers(), answers({ model: "other" })] })).toEqual({ gatewayRef: { name: "main" } });
  const shared = answers({ gateway: { namespace: "platform", name: "main" } });
  expect(changes({ answers: [shared] })).toEqual({ gatewayRef: { name: "main", namespace: "platform" } });
});

test.each<[what: string, use: Partial<KeyUse>]>([
  ["is bound already", { spec: { gatewayRef: { name: "main" } }, answers: [answers()] }],
  ["used several", { answers: [answers(), answers({ gatewayId: "gw_other" })] }],
  ["used one that is gone", { answers: [answers({ gateway: null })] }],
  ["has no answer that is counted", { answers: [] }],
])("no gateway is advised for a key that %s", (_what, use) => {
  expect(changes(use)).toEqual({});
});

test("the routes that calls named are advised where every call named one", () => {
  const routed = [answers({ route: "smart" }), answers({ route: "fast" })];
  expect(changes({ answers: routed })).toMatchObject({ allowedModels: ["fast", "smart"] });
  const spec = { gatewayRef: { name: "main" }, allowedModels: ["fast", "slow"] };
  expect(changes({ spec, answers: routed })).toEqual({ allowedModels: ["fast"] });
  expect(changes({ spec: { ...spec, allowedModels: ["fast", "smart"] }, answers: routed })).toEqual({});
});

test("models that are advised are said to leave out the calls without an answer that is counted", () => {
  const points = adviseGateway(useOf({ answers: [answers({ route: "fast" })] }, { "gateway:generate": 100 }));
  const { why } = points.find(({ field }) => field === "allowedModels") ?? expect.fail("it is advised");
  expect(why).toContain("10 answers of models came to calls that named one of these routes. Of 100 calls");
});

test("no model is advised by what answers name, since calls may have named another, and it says so", () => {
  const use = {
    spec: { gatewayRef: { name: "main" } },
    answers: [answers({ model: "gpt-5-2026" }), answers({ model: "other" })],
  };
  expect(changes(use)).toEqual({});
  const why = advised(use)
    .map((point) => point.why)
    .join();
  expect(why).toContain('"gpt-5-2026" (10), other, which may be several, (10)');
  expect(why).toContain("What calls without a route named is not kept");
  expect(changes({ ...use, answers: [answers({ route: null })] })).toEqual({});
});

test("nothing of gateways is said of a key that used none", () => {
  expect(adviseGateway(useOf({}, { "memory:read": 1 }))).toEqual([]);
});
