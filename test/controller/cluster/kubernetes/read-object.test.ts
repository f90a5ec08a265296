import { describe, expect, it } from "vitest";
import { invalidStatus } from "../../../../controller/cluster/kubernetes/invalid.ts";
import { WatchedObjects } from "../../../../controller/cluster/kubernetes/watch/objects.ts";
import { readDeclaredObject } from "../../../../controller/cluster/kubernetes/watch/read-object.ts";
import { KINDS } from "../../../../domain/kinds/kinds.ts";

const raw = (spec: unknown, metadata: object = {}, status?: unknown) => ({
  metadata: {
    name: "reader",
    namespace: "dev",
    uid: "uid-1",
    generation: 3,
    resourceVersion: "7",
    creationTimestamp: "2026-11-20T09:00:09Z",
    managedFields: [{ manager: "kubectl" }],
    ...metadata,
  },
  spec,
  ...(status === undefined ? {} : { status }),
});
const DELETED = { deletionTimestamp: "2026-11-20T10:00:00Z", finalizers: ["keyplane.dev/finalizer"] };

describe("an object of the API server", () => {
  it("c24: one that was stored before a default came to be has it", () => {
    const { object, problem } = readDeclaredObject("PlatformKey", raw({ preset: "MCPReadOnly" }));
    expect(problem).toBeUndefined();
    expect(object.spec).toMatchObject({ state: "Active", secret: { dataKey: "api-key", onLost: "Rotate" } });
  });

  it("c24: fields that this version does not know change nothing", () => {
    const known = readDeclaredObject("PlatformKey", raw({ preset: "MCPReadOnly", secret: { name: "s" } }));
    const spec = { preset: "MCPReadOnly", secret: { name: "s", fromTheFuture: { a: 1 } }, alsoNew: [1] };
    expect(readDeclaredObject("PlatformKey", raw(spec))).toEqual(known);
  });

  it("is judged once for one spec, and again for another, be its generation the same: the server may be restored", () => {
    const first = readDeclaredObject("PlatformKey", raw({ preset: "MCPReadOnly" }));
    const again = readDeclaredObject(
      "PlatformKey",
      raw({ ...first.object.spec }, { resourceVersion: "8" }),
      () => first,
    );
    expect(again.object.spec).toBe(first.object.spec);
    expect(again.object.resourceVersion).toBe("8");
    const other = readDeclaredObject("PlatformKey", raw({ preset: "MCPReadWrite" }), () => first);
    expect(other.object.spec).toMatchObject({ preset: "MCPReadWrite", state: "Active" });
    expect(readDeclaredObject("PlatformKey", raw({ preset: "OfTheFuture" }), () => first).problem).toContain(
      "spec.preset",
    );
  });

  it("c25: is reported when it has another spec, be its generation the same", () => {
    const changes: string[] = [];
    const objects = new WatchedObjects(({ name }) => changes.push(name));
    const sink = objects.sink("PlatformKey", "");
    for (const preset of ["MCPReadOnly", "MCPReadOnly", "MCPReadWrite"]) {
      sink.replace([objects.read("PlatformKey", raw({ preset }))], "7");
    }
    expect(changes).toEqual(["reader", "reader"]);
    expect(objects.get("PlatformKey", "dev", "reader")?.spec.preset).toBe("MCPReadWrite");
  });

  it("c24: one that this version cannot read is not worked on, counts as present, and says so", () => {
    const held = readDeclaredObject("MemoryLibrary", raw({ embedding: "OfTheFuture" }));
    expect(held.problem).toContain("spec.embedding");
    const objects = new WatchedObjects(() => {});
    objects.sink("MemoryLibrary", "").replace([held], "7");
    expect(objects.get("MemoryLibrary", "dev", "reader")).toBeUndefined();
    expect(objects.list("MemoryLibrary")).toEqual([]);
    expect(objects.uids("MemoryLibrary")).toEqual(["uid-1"]);
    const key = readDeclaredObject("PlatformKey", raw({ preset: "OfTheFuture" }, {}, { keyID: "key_1", team: "t" }));
    const status = invalidStatus(key, 0);
    expect(status).toMatchObject({ keyID: "key_1", team: "t", observedGeneration: 3 });
    expect(status.conditions?.map((one) => `${one.type} ${one.status} ${one.reason}`)).toEqual([
      "Ready False Invalid",
      "Accepted False Invalid",
      "Stalled True Invalid",
    ]);
  });

  it.each([
    { deleting: true, isEnding: false },
    { deleting: false, isEnding: true },
  ])("c113: of one that cannot be read, no more is applied while its deletion waits: %o", ({ deleting, isEnding }) => {
    const metadata = deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
    const objects = new WatchedObjects(
      () => {},
      () => isEnding,
    );
    const found = (spec: object) => {
      const held = readDeclaredObject("PlatformKey", raw({ preset: "OfTheFuture", ...spec }, metadata));
      objects.sink("PlatformKey", "").replace([held], "7");
      return objects.get("PlatformKey", "dev", "reader");
    };
    expect(found({ deletionProtection: true })).toMatchObject({ deleting: true, isUnread: true });
    const going = found({ deletionPolicy: "Retain" });
    expect(going).toMatchObject({ deleting: true, spec: { deletionPolicy: "Retain" } });
    expect(going).not.toHaveProperty("isUnread");
  });

  it.each(["Revoked", "Suspended"])("c113: one that cannot be read is worked on for its state %s alone", (state) => {
    const spec = { preset: "OfTheFuture", expiresAfter: "24h", deletionPolicy: "Retain", state };
    const held = readDeclaredObject("PlatformKey", raw(spec));
    expect(held.problem).toContain("spec.preset");
    const objects = new WatchedObjects(() => {});
    objects.sink("PlatformKey", "").replace([held], "7");
    const object = objects.get("PlatformKey", "dev", "reader");
    expect([objects.list("PlatformKey"), object]).toEqual([[object], expect.objectContaining({ isUnread: true })]);
    expect(object?.spec).toMatchObject({ state, deletionPolicy: "Retain" });
    expect(object?.spec).not.toHaveProperty("expiresAfter");
    expect(invalidStatus(held, 0).conditions?.[0]?.message).toContain(`Only its state ${state} is applied.`);
  });

  it("that a controller took is worked on although a rule came since, until it is changed", () => {
    const spec = { preset: "MCPReadOnly", rotation: { interval: "1h" }, expiresAt: "0000-06-01T00:00:00Z" };
    const taken = (reason: string, generation = 3) => ({
      observedGeneration: generation,
      conditions: [{ type: "Accepted", status: "True", reason }],
    });
    expect(readDeclaredObject("PlatformKey", raw(spec, {}, taken("NamespaceUnclaimed"))).problem).toBeUndefined();
    for (const status of [undefined, taken("Accepted", 2), taken("Invalid")]) {
      expect(readDeclaredObject("PlatformKey", raw(spec, {}, status)).problem).toContain("spec.expiresAt");
    }
  });

  it("b118: whose name turns the direction of text keeps it until it is changed, and no name holds a revocation up", () => {
    const spec = { preset: "MCPReadOnly", displayName: "Docs \u202etoof" };
    const taken = { observedGeneration: 3, conditions: [{ type: "Accepted", status: "True", reason: "Accepted" }] };
    const before = readDeclaredObject("PlatformKey", raw(spec, {}, taken));
    expect([before.problem, before.object.spec]).toEqual([undefined, expect.objectContaining(spec)]);
    for (const state of ["Suspended", "Revoked"]) {
      const { object, problem } = readDeclaredObject("PlatformKey", raw({ ...spec, state }, { generation: 4 }, taken));
      expect([problem, object.spec]).toEqual([undefined, expect.objectContaining({ preset: "MCPReadOnly", state })]);
      expect(object.spec).not.toHaveProperty("displayName");
    }
  });

  it.each(["PlatformTeam", "MemoryLibrary"] as const)(
    "b118: %s: is worked on without a name that is refused",
    (kind) => {
      const { object, problem } = readDeclaredObject(
        kind,
        raw({ displayName: "\u2066x" }, kind === "PlatformTeam" ? { namespace: undefined } : {}),
      );
      expect([problem, object.spec]).toEqual([
        undefined,
        expect.not.objectContaining({ displayName: expect.anything() }),
      ]);
    },
  );

  it("b118: with more at fault than its name is not applied, and counts as present: its key is not ended", () => {
    const held = readDeclaredObject("PlatformKey", raw({ preset: "OfTheFuture", displayName: "\u202e" }));
    expect(held.problem).toContain("spec.preset");
    const objects = new WatchedObjects(() => {});
    objects.sink("PlatformKey", "").replace([held], "7");
    expect(objects.list("PlatformKey")).toMatchObject([{ isUnread: true, spec: { state: "Active" } }]);
    expect(objects.uids("PlatformKey")).toEqual(["uid-1"]);
  });

  it("is worked on when it is being removed, whatever its spec: what it stands for has to end", () => {
    const spec = { preset: "OfTheFuture", deletionPolicy: "Retain", secret: { name: "kept", onLost: "OfTheFuture" } };
    const { object, problem } = readDeclaredObject("PlatformKey", raw(spec, DELETED));
    expect(problem).toBeUndefined();
    expect(object).toMatchObject({ deleting: true, spec: { deletionPolicy: "Retain" } });
    expect(object.spec).not.toMatchObject({ secret: { name: "kept" } });
    const sound = readDeclaredObject("PlatformKey", raw({ ...spec, secret: { name: "kept" } }, DELETED));
    expect(sound.object.spec).toMatchObject({ secret: { name: "kept" } });
  });

  it.each(KINDS)("%s: one without any spec can be removed", (kind) => {
    const metadata = kind === "PlatformTeam" ? { ...DELETED, namespace: undefined } : DELETED;
    expect(readDeclaredObject(kind, raw(undefined, metadata)).problem).toBeUndefined();
    expect(readDeclaredObject(kind, raw(undefined, { ...metadata, name: "x".repeat(200) })).problem).toBeUndefined();
  });

  it("b246: keeps little of what a tenant writes into its metadata", () => {
    const many = (text: (n: number) => string) => Array.from({ length: 20_000 }, (_, n) => text(n));
    const metadata = {
      labels: Object.fromEntries(many((n) => `example.com/label-${n}`).map((name) => [name, "x"])),
      annotations: { "keyplane.dev/take-over": `key_${"a".repeat(200_000)}` },
      finalizers: [...many((n) => `example.com/finalizer-${n}`), "keyplane.dev/finalizer"],
    };
    const { object } = readDeclaredObject("PlatformKey", raw({ preset: "MCPReadOnly" }, metadata));
    expect(JSON.stringify(object).length).toBeLessThan(16_384);
    expect(object.finalizers).toContain("keyplane.dev/finalizer");
    expect(object.takeOver, "it is refused as no id").toBe("");
    expect(Object.keys(object.labels).length).toBeGreaterThan(50);
    const team = readDeclaredObject("PlatformTeam", raw({}, { ...metadata, namespace: undefined }));
    expect(Object.keys(team.object.labels)).toHaveLength(20_000);
  });

  it("keeps no more than the port speaks of", () => {
    expect(Object.keys(readDeclaredObject("PlatformKey", raw({ preset: "MCPReadOnly" })).object).sort()).toEqual(
      ["createdAt", "deleting", "finalizers", "generation", "kind", "labels", "name"].concat([
        "namespace",
        "resourceVersion",
        "spec",
        "status",
        "takeOver",
        "uid",
      ]),
    );
  });
});
