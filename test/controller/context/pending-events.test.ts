import { expect, it } from "vitest";
import type { DeclaredObject } from "../../../controller/cluster/port.ts";
import { createPendingEvents } from "../../../controller/context/pending-events.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { withLastingRefusals } from "../lasting-refusals.ts";

describeWorlds("a refusal that may be the order of a start", withLastingRefusals);

const object = (name: string): DeclaredObject<"MemoryLibrary"> => ({
  kind: "MemoryLibrary",
  ...{ namespace: "dev", name, uid: `uid of ${name}`, generation: 1, resourceVersion: "1", createdAt: 0 },
  ...{ deleting: false, finalizers: [], takeOver: null, labels: {}, status: undefined },
  spec: { deletionPolicy: "Retain" },
});

it("an event that waits is due 30 s after its reason was written, the oldest first, and once", () => {
  let now = 0;
  const pending = createPendingEvents(() => now);
  const due = () => pending.takeDue()?.object.name;
  pending.add(object("a"), "NamespaceUnclaimed");
  now = 1_000;
  pending.add(object("b"), "NamespaceUnclaimed");
  pending.add(object("c"), "NamespaceUnclaimed");
  now = 2_000;
  pending.add(object("a"), "ReferenceNotFound");
  pending.drop("uid of c");
  expect([pending.has("uid of a"), pending.has("uid of c")]).toEqual([true, false]);
  now = 30_999;
  expect(due()).toBeUndefined();
  now = 31_000;
  expect([due(), due()]).toEqual(["b", undefined]);
  now = 32_000;
  expect(pending.takeDue()).toMatchObject({ uid: "uid of a", reason: "ReferenceNotFound" });
  expect([due(), pending.has("uid of a")]).toEqual([undefined, false]);
});
