import { expect, test } from "vitest";
import type { RequestScope } from "../../../../domain/access/request-scope.ts";
import { adviseScopes } from "../../../../domain/usage/advice/advise-scopes.ts";
import type { AdvicePoint, KeyUse } from "../../../../domain/usage/advice/key-use.ts";
import { answers, useOf } from "./uses.ts";

type Requests = { readonly [S in RequestScope]?: number };

test.each<[what: string, use: Partial<KeyUse>, requests: Requests, change: AdvicePoint["change"]]>([
  [
    "those that let requests through, of a list",
    { spec: { scopes: ["memory:read", "memory:write"] } },
    { "memory:read": 3 },
    { scopes: ["memory:read"] },
  ],
  [
    "a narrower preset in the place of one",
    { spec: { preset: "MCPReadWrite" } },
    { "memory:read": 3 },
    { preset: "MCPReadOnly" },
  ],
  [
    "a list in the place of a preset where no preset is as narrow",
    { spec: { preset: "GatewayDefault" }, answers: [answers({ calls: 3 })] },
    { "gateway:embed": 3 },
    { preset: undefined, scopes: ["gateway:embed"] },
  ],
  [
    "nothing else where all were needed",
    { spec: { preset: "MCPReadWrite" } },
    { "memory:read": 1, "memory:write": 1 },
    {},
  ],
  [
    "gateway:routes too, which calls that named a route needed",
    {
      spec: { scopes: ["gateway:generate", "gateway:embed", "gateway:routes"] },
      answers: [answers({ route: "fast" })],
    },
    { "gateway:generate": 10 },
    { scopes: ["gateway:generate", "gateway:routes"] },
  ],
  [
    "gateway:routes too, where calls without a counted answer may have needed it",
    { spec: { scopes: ["gateway:generate", "gateway:routes"] }, answers: [answers()] },
    { "gateway:generate": 11 },
    {},
  ],
  [
    "not gateway:routes where every call has its answer, and none named a route",
    { spec: { scopes: ["gateway:generate", "gateway:routes"] }, answers: [answers()] },
    { "gateway:generate": 10 },
    { scopes: ["gateway:generate"] },
  ],
  [
    "one of the memory for a client of MCP that called no tool",
    { spec: { preset: "MCPReadWrite" } },
    { "memory:*": 2 },
    { preset: "MCPReadOnly" },
  ],
  [
    "the only one of the memory for such a client, also where that one is memory:write",
    { spec: { scopes: ["gateway:generate", "gateway:embed", "memory:write"] } },
    { "memory:*": 2, "gateway:generate": 1 },
    { scopes: ["gateway:generate", "memory:write"] },
  ],
  [
    "the only one of the memory for such a client, also where the key has lost the one that it used",
    { spec: { scopes: ["memory:read", "gateway:generate", "gateway:embed"] } },
    { "memory:*": 2, "memory:write": 3, "gateway:generate": 1 },
    { scopes: ["memory:read", "gateway:generate"] },
  ],
])("the scopes that would have been enough are %s", (_what, use, requests, change) => {
  expect(adviseScopes(useOf(use, requests)).change).toEqual(change);
});

test("advice on a preset says what it stands for, and what of it was not needed", () => {
  const { why } = adviseScopes(useOf({ spec: { preset: "MCPReadWrite" } }, { "memory:read": 1 }));
  expect(why).toBe(
    "Preset MCPReadWrite stands for memory:read, memory:write. memory:read: 1 request. Not needed: memory:write.",
  );
});
