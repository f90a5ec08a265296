import { expect, test } from "vitest";
import { WatchedObjects } from "../../../../controller/cluster/kubernetes/watch/objects.ts";
import type { ObjectRef } from "../../../../controller/cluster/port.ts";

/** A key as the API server gives it at one moment, by a definition that has display names or by one that has none. */
const raw = (resourceVersion: string, displayName?: string) => ({
  metadata: { namespace: "dev", name: "agent", uid: "uid-1", generation: 2, resourceVersion, finalizers: ["f"] },
  spec: { scopes: ["memory:read"], ...(displayName !== undefined && { displayName }) },
});

test.for([
  ["a watch of before", undefined, "the answer to a write", "Agent"],
  ["the answer to a write", "Agent", "a watch of before", undefined],
] as const)(
  "c83: an object that is without a new field by %s is noticed, and as a list has it then",
  async ([, first, , second]) => {
    const contradicted: ObjectRef[] = [];
    const objects = new WatchedObjects(
      () => {},
      () => false,
      (ref) => contradicted.push(ref),
    );
    const read = (resourceVersion: string, displayName?: string) =>
      objects.read("PlatformKey", raw(resourceVersion, displayName));
    const sink = objects.sink("PlatformKey", "");
    await sink.replace([read("1")], "1");
    sink.put(read("2", first));
    objects.absorb(read("2", first));
    expect(contradicted).toEqual([]);
    objects.absorb(read("2", second));
    expect(contradicted).toEqual([{ kind: "PlatformKey", namespace: "dev", name: "agent" }]);
    await sink.replace([read("2", "Agent")], "2");
    expect(objects.get("PlatformKey", "dev", "agent")?.spec.displayName).toBe("Agent");
  },
);
