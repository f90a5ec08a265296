import { expect, test } from "vitest";
import { forecastKey } from "../../../cli/plan/key-forecast.ts";
import type { Spec } from "../../../domain/kinds/kinds.ts";
import { type WorldObject, worldOf } from "../../../domain/manifest/set/manifest-world.ts";
import { readText } from "../../domain/manifest/read.ts";
import { key, team } from "../up.ts";

const NOW = Date.parse("2026-11-01T00:00:00Z");
const at = new Date(NOW - 86_400_000).toISOString();
const declared = readText(team("research", "dev") + key("agent", "preset: MCPReadOnly")).manifests as WorldObject[];

test.each([
  ["SecretAltered", "True", 0],
  ["SecretAltered", "False", 0],
  ["SecretLost", "False", 3],
] as const)("a Secret of which %s is %s is forecast to cost %i steps", (reason, status, steps) => {
  const [, agent] = declared as [WorldObject, WorldObject<"PlatformKey">];
  const world = worldOf(declared);
  const delivered = { type: "SecretDelivered", status, reason, message: "", lastTransitionTime: at };
  const object = {
    metadata: { namespace: "dev", name: "agent", uid: "u" },
    spec: agent.spec as Spec<"PlatformKey">,
    status: {
      ...{ observedGeneration: 1, keyID: "key_1", team: "research" },
      versions: [{ number: 1, keyPrefix: "inf_12345678", state: "Active" as const, mintedAt: at, activatedAt: at }],
      secretRef: { name: "agent", dataKey: "api-key" },
      conditions: [delivered],
    },
  };
  const input = {
    declared: agent,
    object,
    before: world,
    after: world,
    secrets: { declared: new Map(), isThere: () => undefined },
    since: () => NOW,
    now: NOW,
  };
  expect(forecastKey(input).steps.map(({ action }) => action.do)).toHaveLength(steps);
});
