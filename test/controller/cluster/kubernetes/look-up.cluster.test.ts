import { expect, test } from "vitest";
import { isClusterScoped, KINDS } from "../../../../domain/kinds/kinds.ts";
import { describeOnKubernetes } from "../../../env/kubernetes/of-run.ts";
import { applyKey, keyPath, openCluster } from "./opened.ts";

describeOnKubernetes("the real API server", (kubernetes) => {
  test("c48: says of each kind whether an object is there, is gone or is another one by now", async (context) => {
    const { cluster, namespace } = await openCluster(context, kubernetes());
    for (const kind of KINDS) {
      const there = { kind, namespace: isClusterScoped(kind) ? "" : namespace, name: "reader" };
      expect(await cluster.lookUp(there, "uid-1"), kind).toBe("gone");
    }
    const nowhere = { kind: "PlatformKey", namespace: "no-such-namespace", name: "reader" } as const;
    expect(await cluster.lookUp(nowhere, "uid-1")).toBe("gone");
    await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
    const { body } = await kubernetes().request("GET", keyPath(namespace, "reader"));
    const { uid } = (body as { metadata: { uid: string } }).metadata;
    const reader = { kind: "PlatformKey", namespace, name: "reader" } as const;
    expect(await cluster.lookUp(reader, uid)).toBe("present");
    expect(await cluster.lookUp(reader, "uid-1")).toBe("gone");
  });
});
