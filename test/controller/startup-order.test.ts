import { expect, it } from "vitest";
import { WatchedObjects } from "../../controller/cluster/kubernetes/watch/objects.ts";
import type { ObjectRef } from "../../controller/cluster/port.ts";
import { startupOrder } from "../../controller/startup-order.ts";

type Key = { readonly deleting?: boolean; readonly ready?: "True" | "False"; readonly seen?: number };

async function startedWith(keys: Record<string, Key>): Promise<string[]> {
  const objects = new WatchedObjects(() => {});
  const items = Object.entries(keys).map(([title, { deleting = false, ready = "True", seen = 1 }]) => {
    const [namespace, name] = title.split("/");
    return objects.read("PlatformKey", {
      metadata: {
        namespace,
        name,
        uid: title,
        resourceVersion: "1",
        generation: 1,
        creationTimestamp: "2026-01-01T00:00:00Z",
        finalizers: ["keyplane.dev/finalizer"],
        ...(deleting ? { deletionTimestamp: "2026-01-02T00:00:00Z" } : {}),
      },
      spec: { preset: "MCPReadOnly" },
      status: { observedGeneration: seen, conditions: [{ type: "Ready", status: ready, reason: "Any", message: "" }] },
    });
  });
  await objects.sink("PlatformKey", "").replace(items, "1");
  const start = startupOrder();
  const order: string[] = [];
  const work = (key: ObjectRef) => {
    order.push(`${key.namespace}/${key.name}`);
    start.attempted(key);
  };
  await start.run(objects, work, new AbortController().signal);
  return order;
}

it("a new leader works first on the keys that are being deleted, then on those that are not as declared", async () => {
  const order = await startedWith({
    "dev/settled": {},
    "dev/waiting": { ready: "False" },
    "prod/settled": {},
    "web/deleted": { deleting: true },
    "web/edited": { seen: 0 },
  });
  expect(order).toEqual(["web/deleted", "dev/waiting", "web/edited", "dev/settled", "prod/settled"]);
});
