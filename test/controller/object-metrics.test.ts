import { Registry } from "@prometheus-io/client";
import { expect, test } from "vitest";
import type { DeclaredObject } from "../../controller/cluster/port.ts";
import { observeObjects } from "../../controller/object-metrics.ts";
import type { Kind } from "../../domain/kinds/kinds.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

const condition = (type: string, status: "True" | "False", reason: string) => ({
  ...{ type, status, reason, message: "", observedGeneration: 1, lastTransitionTime: "2026-11-21T00:00:00Z" },
});

function objectsWith(...statuses: readonly DeclaredObject["status"][]): DeclaredObject[] {
  return statuses.map((status) => ({ status }) as DeclaredObject);
}

test("the controller's metrics count declared objects by what their conditions say", async () => {
  const objects: Partial<Record<Kind, DeclaredObject[]>> = {
    PlatformKey: objectsWith(
      { conditions: [condition("Ready", "True", "Ready"), condition("Leaked", "True", "LeakReported")] },
      { conditions: [condition("Ready", "True", "Ready")] },
      undefined,
    ),
    PlatformTeam: objectsWith({ conditions: [condition("Ready", "False", "NamespaceTaken")] }),
  };
  expect(await tellOf(objects)).toEqual([
    'keyplane_object_conditions{kind="PlatformKey",type="Leaked",status="True",reason="LeakReported"} 1',
    'keyplane_object_conditions{kind="PlatformKey",type="Ready",status="True",reason="Ready"} 2',
    'keyplane_object_conditions{kind="PlatformTeam",type="Ready",status="False",reason="NamespaceTaken"} 1',
    "keyplane_keys_expiring 0",
  ]);
});

test("the controller's metrics count keys whose end is near, and not those that have ended", async () => {
  const keys = objectsWith(
    { expiryWarned: "2026-11-21T12:00:01Z" },
    { expiryWarned: "2026-11-21T11:59:59Z" },
    { expiresAt: "2027-01-01T00:00:00Z" },
  );
  expect(await tellOf({ PlatformKey: keys })).toEqual(["keyplane_keys_expiring 1"]);
});

async function tellOf(objects: Partial<Record<Kind, DeclaredObject[]>>): Promise<string[]> {
  const registry = new Registry();
  // A kind's objects are of that kind.
  const list = ((kind: Kind) => objects[kind] ?? []) as Parameters<typeof observeObjects>[1]["list"];
  observeObjects(registry, { list }, () => NOW);
  const lines = (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return [
    ...lines.filter((line) => line.includes("_conditions")).sort(),
    ...lines.filter((line) => line.includes("_expiring")),
  ];
}
