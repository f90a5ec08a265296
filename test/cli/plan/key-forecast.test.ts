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
    isMadeAgain: false,
  };
  expect(forecastKey(input).steps.map(({ action }) => action.do)).toHaveLength(steps);
});

const GUARDED = "preset: MCPReadOnly, deletionProtection: true";
const DELETED = ["Revoke", "DeleteSecret"];

test.each<[what: string, before: string, after: string, isMadeAgain: boolean, steps: readonly string[], ready: string]>(
  [
    ["follows its manifest when that comes back", GUARDED, GUARDED, true, [], "DeletionProtected"],
    [
      "keyplane up ends and makes anew where its protection is lifted",
      GUARDED,
      "preset: MCPReadOnly",
      true,
      [...DELETED, "Reserve", "Publish", "Activate"],
      "Ready",
    ],
    ["a cluster ends where its protection is lifted", GUARDED, "preset: MCPReadOnly", false, DELETED, "Deleting"],
    [
      "keyplane up ends, and makes anew in the Secret that stays",
      `${GUARDED}, secret: { creationPolicy: Orphan }`,
      "preset: MCPReadOnly, secret: { creationPolicy: Orphan }",
      true,
      ["Revoke", "Reserve", "Publish", "Activate"],
      "Ready",
    ],
  ],
)("b471: a key whose deletion waits is forecast as one that %s", (_, before, after, isMadeAgain, steps, ready) => {
  const [asIs, wanted] = [before, after].map(
    (spec) => readText(team("research", "dev") + key("agent", spec)).manifests,
  );
  const [is, will] = [asIs, wanted].map((all) => (all as WorldObject[])[1] as WorldObject<"PlatformKey">);
  if (is === undefined || will === undefined) throw new Error("no key");
  const condition = (type: string, reason: string) => ({
    ...{ type, reason, status: "True" as const, message: "", lastTransitionTime: at },
  });
  const object = {
    metadata: { namespace: "dev", name: "agent", uid: "u", deletionTimestamp: at },
    spec: is.spec,
    status: {
      ...{ observedGeneration: 1, keyID: "key_1", team: "research" },
      versions: [{ number: 1, keyPrefix: "inf_12345678", state: "Active" as const, mintedAt: at, activatedAt: at }],
      secretRef: { name: "agent", dataKey: "api-key" },
      conditions: [condition("SecretDelivered", "Delivered")],
    },
  };
  const forecast = forecastKey({
    ...{ declared: will, object, before: worldOf(asIs as WorldObject[]), after: worldOf(wanted as WorldObject[]) },
    ...{ secrets: { declared: new Map(), isThere: () => false }, since: () => NOW, now: NOW, isMadeAgain },
  });
  expect(forecast.steps.map(({ action }) => action.do)).toEqual(steps);
  expect(forecast.ready?.reason).toBe(ready);
});
