import { describe, expect, it } from "vitest";
import { SecretChanges } from "../../../../controller/cluster/kubernetes/secrets/secret-changes.ts";

describe("what is heard of the Secrets of a namespace", () => {
  function open() {
    const referredTo = new Set<string>();
    const announced: string[] = [];
    const changes = new SecretChanges(
      (_, name) => referredTo.has(name),
      (_, name) => announced.push(name),
    );
    return { referredTo, announced, changes, sink: changes.sink("dev") };
  }

  it("is known of a Secret that was listed before what refers to it", async () => {
    const { referredTo, announced, changes, sink } = open();
    await sink.replace([{ name: "reader", version: "7" }], "9");
    sink.put({ name: "reader", version: "11" });
    referredTo.add("reader");
    expect(changes.latest("dev", "reader")).toBe("11");
    expect(announced).toEqual([]);
  });

  it("is announced of those alone that something refers to", async () => {
    const { referredTo, announced, sink } = open();
    referredTo.add("reader");
    await sink.replace([], "9");
    sink.put({ name: "helm-release", version: "10" });
    sink.put({ name: "reader", version: "11" });
    expect(announced).toEqual(["reader"]);
  });

  it("is forgotten of one that is gone, and of all once nothing there is referred to", async () => {
    const { changes, sink } = open();
    await sink.replace([{ name: "a", version: "1" }], "9");
    sink.put({ name: "b", version: "10" });
    sink.put({ name: "c", version: "11" });
    sink.remove({ name: "b", version: "12" });
    await sink.replace([{ name: "c", version: "11" }], "13");
    expect(["a", "b", "c"].map((name) => changes.latest("dev", name))).toEqual([null, null, "11"]);
    changes.dropAll("dev");
    expect(changes.latest("dev", "c")).toBe(null);
  });

  it("outlives the last reference to a Secret that is still there", async () => {
    const { referredTo, changes, sink } = open();
    referredTo.add("reader");
    await sink.replace([{ name: "reader", version: "7" }], "9");
    changes.seen("dev", "reader", "8");
    referredTo.delete("reader");
    changes.drop("dev", "reader");
    expect(changes.latest("dev", "reader")).toBe("7");
  });
});
