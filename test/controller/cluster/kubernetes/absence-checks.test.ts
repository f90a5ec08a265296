/** What becomes of an object that a list lacks although no watch reported its end. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { AbsenceChecks } from "../../../../controller/cluster/kubernetes/absence-checks.ts";
import { openKubernetesCluster } from "../../../../controller/cluster/kubernetes/cluster.ts";
import { WatchedObjects } from "../../../../controller/cluster/kubernetes/watch/objects.ts";
import { readDeclaredObject } from "../../../../controller/cluster/kubernetes/watch/read-object.ts";
import type { Presence } from "../../../../domain/garbage-collection.ts";
import { until } from "../../../env/until.ts";
import { clock, startFakeApiServer, status } from "./fake-api-server.ts";

const rawOf = (name: string, uid = `uid-${name}`, { namespace = "dev", version = "1" } = {}) => ({
  metadata: { name, namespace, uid, generation: 1, resourceVersion: version },
  spec: { preset: "MCPReadOnly" },
});
const item = (...of: Parameters<typeof rawOf>) => readDeclaredObject("PlatformKey", rawOf(...of));

/** Objects of one namespace that a list has shown, and each change that was announced since. */
async function listed(...names: string[]) {
  const changes: string[] = [];
  const objects = new WatchedObjects(({ name }, now) => changes.push(`${name} ${now?.object.uid ?? "gone"}`));
  const sink = objects.sink("PlatformKey", "dev");
  await sink.replace(
    names.map((name) => item(name)),
    "1",
  );
  changes.length = 0;
  const uidOf = (name: string) => objects.get("PlatformKey", "dev", name)?.uid;
  const doubted = () => objects.unconfirmed().map(({ name }) => name);
  return { objects, sink, changes, uidOf, doubted };
}

describe("an object that a list lacks", () => {
  test("c48: is kept and worked on, and is in doubt until it was asked for", async () => {
    const { objects, sink, changes, uidOf, doubted } = await listed("a", "b");
    await sink.replace([item("a")], "2");
    expect([doubted(), changes, uidOf("b")]).toEqual([["b"], [], "uid-b"]);
    expect(objects.list("PlatformKey")).toHaveLength(2);
    expect(objects.uids("PlatformKey")).toEqual(["uid-a"]);
  });

  test("c48: is in doubt no more when a list, a watch or a question finds it", async () => {
    const { objects, sink, changes, doubted } = await listed("a", "b", "c");
    await sink.replace([], "2");
    expect(doubted()).toEqual(["a", "b", "c"]);
    sink.put(item("a", "uid-a", { version: "3" }));
    expect(objects.found(item("b"))).toBe(true);
    expect(objects.found(item("b"))).toBe(false);
    expect(doubted()).toEqual(["c"]);
    await sink.replace([item("a"), item("b"), item("c")], "4");
    expect([doubted(), changes]).toEqual([[], []]);
    expect(objects.uids("PlatformKey")).toHaveLength(3);
  });

  test("c48: goes when a watch reports its end, or the API server has none of its name", async () => {
    const { objects, sink, changes, doubted } = await listed("a", "b");
    await sink.replace([], "2");
    sink.remove(item("a"));
    objects.forget(item("b").object);
    expect([doubted(), changes]).toEqual([[], ["a gone", "b gone"]]);
    expect(objects.list("PlatformKey")).toEqual([]);
  });

  test("c48: is not replaced by another of its name in the list, which may be older, before it was asked for", async () => {
    const { objects, sink, changes, uidOf, doubted } = await listed("a", "b");
    await sink.replace([item("a", "older"), item("b", "newer")], "2");
    expect([uidOf("a"), uidOf("b"), doubted(), changes]).toEqual(["uid-a", "uid-b", ["a", "b"], []]);
    objects.found(item("a"));
    expect(objects.found(item("b", "newer"))).toBe(true);
    expect([uidOf("a"), uidOf("b"), doubted(), changes]).toEqual(["uid-a", "newer", [], ["b newer"]]);
  });

  test("c48: is in doubt only where its own namespace was listed", async () => {
    const { objects, doubted } = await listed("a");
    await objects.sink("PlatformKey", "other").replace([], "2");
    await objects.sink("MemoryLibrary", "dev").replace([], "2");
    expect(doubted()).toEqual([]);
    await objects.sink("PlatformKey", "").replace([], "2");
    expect(doubted()).toEqual(["a"]);
  });

  test("c48: is not brought back by an answer that a watch was quicker than", async () => {
    const { objects, sink, changes, uidOf } = await listed("a");
    sink.put(item("a", "newer", { version: "3" }));
    changes.length = 0;
    expect(objects.found(item("a", "uid-a", { version: "2" }))).toBe(false);
    expect([uidOf("a"), changes]).toEqual(["newer", []]);
  });

  test("c48: a successor that is found takes the place of one that is not in doubt", async () => {
    const { objects, changes, uidOf } = await listed("a");
    expect(objects.found(item("a", "newer", { version: "1" }))).toBe(true);
    expect([uidOf("a"), changes]).toEqual(["newer", ["a newer"]]);
  });
});

describe("the questions about what a list lacked", () => {
  /** Twenty-five that are in doubt, and the names that were asked for. */
  function doubting(answer: (name: string) => Presence) {
    let doubted = Array.from({ length: 25 }, (_, i) => item(`key-${i}`).object);
    const asked: string[] = [];
    const stop = new AbortController();
    const checks = new AbsenceChecks(
      () => doubted,
      async (object) => {
        asked.push(object.name);
        const presence = answer(object.name);
        if (presence !== "unknown") doubted = doubted.filter((one) => one !== object);
        return presence;
      },
    );
    return { asked, settle: () => checks.run(stop.signal), stop: () => stop.abort(), left: () => doubted.length };
  }

  test("c18: end when all were answered, each asked for once", async () => {
    const { asked, settle, left } = doubting(() => "gone");
    await settle();
    expect([new Set(asked).size, asked.length, left()]).toEqual([25, 25, 0]);
    await settle();
    expect(asked).toHaveLength(25);
  });

  test("c48: are no more than ten where one is there after all: the next list clears up the rest", async () => {
    const { asked, settle, stop } = doubting((name) => (name === "key-3" ? "present" : "gone"));
    const settled = settle();
    // Answers come at once, so that by then everything has been asked for that will be.
    await setImmediate();
    expect(asked).toHaveLength(10);
    void settle();
    await setImmediate();
    expect(asked, "after another list").toHaveLength(25);
    stop();
    await settled;
  });

  test("c48: go on past those that are unknown, and end with the signal", async () => {
    const { asked, settle, stop, left } = doubting((name) => (name === "key-24" ? "gone" : "unknown"));
    const settled = settle();
    await until("the last was asked for", () => left() === 24);
    expect(asked).toHaveLength(25);
    stop();
    await settled;
  });
});

test("c18: what a second list lacks is known no more once the API server has said so, with nothing of it in the store", async (context) => {
  let lists = 0;
  const { kubeconfig, close } = await startFakeApiServer((call) => {
    const isKeys = call.path.endsWith("/platformkeys");
    const items = isKeys && !call.query.has("watch") && lists++ === 0 ? [rawOf("a")] : [];
    if (call.path.endsWith("/kube-system")) call.answer(200, { metadata: { name: "kube-system", uid: "one" } });
    else if (call.path.endsWith("/platformkeys/a")) {
      const details = { name: "a", group: "keyplane.dev", kind: "platformkeys" };
      call.answer(404, { ...status(404, "NotFound"), details });
    } else if (!call.query.has("watch")) call.answer(200, { metadata: { resourceVersion: "5" }, items });
    else if (isKeys && lists < 2) call.answer(410, status(410, "Expired"));
  });
  const cluster = await openKubernetesCluster({
    ...{ kubeconfig, namespaces: null, clock, random: Math.random, log: () => {} },
    ...{ fieldManager: "test", identity: "test" },
  });
  context.onTestFinished(async () => {
    await cluster.close();
    await close();
  });
  await cluster.watch(() => {}, new AbortController().signal);
  await until("it is known no more", () => cluster.get("PlatformKey", "dev", "a") === undefined);
  expect(lists).toBeGreaterThan(1);
});
