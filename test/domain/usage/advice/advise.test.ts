import { expect, test } from "vitest";
import { advise, advisedSpec } from "../../../../domain/usage/advice/advise.ts";
import type { KeyUse } from "../../../../domain/usage/advice/key-use.ts";
import { answers, FROM, TO, useOf } from "./uses.ts";

test.each<[what: string, use: Partial<KeyUse>, why: string]>([
  ["is younger than what is looked at", { madeAt: FROM + 1 }, "The key was made at 2026-10-26T00:00:00Z, and 30 days"],
  ["is of an installation that has counted for less", { countedSince: FROM + 1 }, "Uses are counted completely since"],
  [
    "services ask about by introspection",
    { networks: [{ network: "introspection", lastSeenOn: "2026-11-20" }] },
    "A service asked about it by introspection, last on 2026-11-20",
  ],
])("nothing is narrowed of a key that %s, and it says so", (_what, use, why) => {
  const advice = advise(useOf({ spec: { preset: "MCPReadWrite" }, ...use }, { "memory:read": 1 }));
  expect(advice.points).toEqual([]);
  expect(advice.lacks).toContain(why);
});

test("a key without a use in all of the time is unused, and one that is too young for that is not", () => {
  const unused = { lastUsedAt: FROM - 1 };
  expect(advise(useOf(unused))).toEqual({ isUnused: true, lacks: null, points: [] });
  expect(advise(useOf({ lastUsedAt: null })).isUnused).toBe(true);
  expect(advise(useOf({ ...unused, madeAt: FROM + 1 })).isUnused).toBe(false);
  expect(advise(useOf({ ...unused, answers: [answers()] })).isUnused).toBe(false);
});

test("a key that was used, of which no request is counted, is neither unused nor narrowed", () => {
  const advice = advise(useOf({ lastUsedAt: TO - 1, spec: { preset: "MCPReadWrite" } }));
  expect(advice).toMatchObject({
    isUnused: false,
    lacks: expect.stringContaining("No request of it was counted"),
    points: [],
  });
});

test("the advised spec has what changes, without what goes, and all else as it was", () => {
  const spec = { displayName: "An agent", preset: "GatewayDefault", rotation: { interval: "720h" } } as const;
  const advice = advise(useOf({ spec, answers: [answers({ calls: 2 })] }, { "memory:read": 4, "gateway:embed": 2 }));
  expect(advisedSpec(spec, advice)).toMatchObject({
    displayName: "An agent",
    scopes: ["gateway:embed", "memory:read"],
    rotation: { interval: "720h" },
  });
  expect(advisedSpec(spec, advice)).not.toHaveProperty("preset");
  expect(advice.points.find(({ field }) => field === "libraryAccess")?.why).toContain("No library is known");
});
