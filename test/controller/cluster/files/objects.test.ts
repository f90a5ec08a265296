import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../../env/until.ts";
import { key, library, makeWorkspace } from "./harness.ts";

describe.concurrent("objects of a folder of manifests", () => {
  it("are all announced and can be read once the watch has begun, with the schema's defaults", async (context) => {
    const folder = await makeWorkspace(context, {
      "a.yaml": [key("reader"), library("handbook")],
      "deep/er/b.yml": [key("writer")],
    });
    const cluster = await folder.open();
    expect(
      cluster
        .list("PlatformKey")
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["reader", "writer"]);
    expect(cluster.get("PlatformKey", "dev", "reader")).toMatchObject({
      generation: 1,
      deleting: false,
      finalizers: [],
    });
    expect(cluster.get("PlatformKey", "dev", "reader")?.spec.source).toEqual({ type: "Generate" });
    expect(cluster.get("MemoryLibrary", "dev", "handbook")?.spec.displayName).toBe("handbook");
    expect(cluster.changes).toContainEqual({ of: "object", kind: "PlatformKey", namespace: "dev", name: "writer" });
    expect(cluster.changes).toHaveLength(3);
  });

  it("are equally old where they are declared together, and are all stored before one of them is announced", async (context) => {
    const names = Array.from({ length: 100 }, (_, n) => `reader-${n}`);
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const stored: number[] = [];
    const list = () => cluster.list("PlatformKey");
    const announced = cluster.changes.push.bind(cluster.changes);
    cluster.changes.push = (...changes) => {
      stored.push(list().length);
      return announced(...changes);
    };
    await folder.write("a.yaml", ...names.map((name) => key(name)));
    await until("all are announced", () => cluster.changes.length === names.length);
    expect(new Set(stored)).toEqual(new Set([names.length]));
    expect(new Set(list().map(({ createdAt }) => createdAt)).size).toBe(1);
  });

  it("have their labels in the status file, which follow the manifest and change no generation", async (context) => {
    const labelled = (app: string) => key("reader").replace("name: reader", `name: reader, labels: { app: ${app} }`);
    const folder = await makeWorkspace(context, { "a.yaml": [labelled("web")] });
    const cluster = await folder.open();
    const shown = async () =>
      JSON.parse(await readFile(join(folder.data, "status/dev/PlatformKey/reader.json"), "utf8")).metadata;
    expect(await shown()).toMatchObject({ labels: { app: "web" }, generation: 1 });
    await folder.write("a.yaml", labelled("api"));
    await until("the other label", async () => (await shown()).labels.app === "api");
    await folder.write("a.yaml", key("reader"));
    await until("no label", async () => (await shown()).labels === undefined);
    expect(cluster.get("PlatformKey", "dev", "reader")?.generation).toBe(1);
  });

  it("c48: are gone when neither memory nor disk has them, and nothing is known of them where the disk does not answer", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    const cluster = await folder.open();
    const { uid = "" } = cluster.get("PlatformKey", "dev", "reader") ?? {};
    const ref = { kind: "PlatformKey", namespace: "dev", name: "reader" } as const;
    expect(await cluster.lookUp(ref, uid)).toBe("present");
    expect(await cluster.lookUp(ref, "another")).toBe("gone");
    expect(await cluster.lookUp({ ...ref, name: "never" }, "another")).toBe("gone");
    const record = join(folder.data, "objects/dev/PlatformKey/reader.json");
    const text = await readFile(record, "utf8");
    await writeFile(record, text.replace(uid, "restored"));
    expect(await cluster.lookUp(ref, "restored")).toBe("present");
    await writeFile(record, text.slice(0, 20));
    expect(await cluster.lookUp(ref, "another")).toBe("unknown");
    await writeFile(record, text);
    await rename(join(folder.data, "objects"), join(folder.data, "elsewhere"));
    expect(await cluster.lookUp(ref, "another")).toBe("unknown");
    expect(await cluster.lookUp(ref, uid)).toBe("present");
    await rename(join(folder.data, "elsewhere"), join(folder.data, "objects"));
  });

  it("follow a saved file, with a generation that grows with the spec alone and a uid that stays", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    const cluster = await folder.open();
    const before = cluster.get("PlatformKey", "dev", "reader");
    await folder.write("a.yaml", "# a comment\n", key("reader"), key("second"));
    await until("the new key", () => cluster.get("PlatformKey", "dev", "second"));
    expect(cluster.get("PlatformKey", "dev", "reader")).toMatchObject({ generation: 1, uid: before?.uid });
    await folder.write("a.yaml", key("reader", "preset: MCPReadWrite"), key("second"));
    await until("the change", () => cluster.get("PlatformKey", "dev", "reader")?.spec.preset === "MCPReadWrite");
    expect(cluster.get("PlatformKey", "dev", "reader")).toMatchObject({ generation: 2, uid: before?.uid });
  });

  it("keep uid, generation, finalizers and status over a restart, which writes nothing", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    const first = await folder.open();
    const made = await until("the object", () => first.get("PlatformKey", "dev", "reader"));
    await first.addFinalizer(made);
    await first.writeStatus(made, { observedGeneration: 1, keyID: "key_1" });
    await first.close();
    const files = ["objects", "status"].map((kind) => join(folder.data, kind, "dev/PlatformKey/reader.json"));
    const written = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
    const second = await folder.open();
    expect(second.uid).toBe(first.uid);
    expect(second.get("PlatformKey", "dev", "reader")).toMatchObject({
      uid: made.uid,
      generation: 1,
      finalizers: ["keyplane.dev/finalizer"],
      status: { observedGeneration: 1, keyID: "key_1" },
    });
    expect(await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs))).toEqual(written);
  });

  it("wait for our finalizer when they are removed, and are new objects when they come again", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader"), key("other")] });
    const cluster = await folder.open();
    const made = await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    await cluster.addFinalizer(made);
    await folder.write("a.yaml", key("other"));
    await until("the removal", () => cluster.get("PlatformKey", "dev", "reader")?.deleting);

    await folder.write("a.yaml", key("other"), key("reader", "preset: MCPReadWrite"));
    await until("the new spec", () => cluster.get("PlatformKey", "dev", "reader")?.spec.preset === "MCPReadWrite");
    const going = cluster.get("PlatformKey", "dev", "reader");
    expect(going).toMatchObject({ uid: made.uid, deleting: true });

    await cluster.removeFinalizer(made);
    await cluster.removeFinalizer(made);
    const again = await until("the new object", () => cluster.get("PlatformKey", "dev", "reader"));
    expect(again).toMatchObject({ deleting: false, generation: 1, finalizers: [], status: undefined });
    expect(again.uid).not.toBe(made.uid);
  });

  it("take no finalizer any more when they are going or gone", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader"), key("other")] });
    const cluster = await folder.open();
    const made = await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    await folder.write("a.yaml", key("other"));
    await until("the removal", () => cluster.get("PlatformKey", "dev", "reader") === undefined);
    await expect(cluster.addFinalizer(made)).rejects.toMatchObject({ code: "NotFound" });
    await cluster.removeFinalizer(made);
    await cluster.writeStatus(made, { observedGeneration: 1 });
    await expect(stat(join(folder.data, "status/dev/PlatformKey/reader.json"))).rejects.toThrow("ENOENT");
  });

  it("can be read by their status file as kubectl would show them", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    const cluster = await folder.open();
    const made = await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    await cluster.writeStatus(made, { observedGeneration: 1, keyPrefix: "inf_12345678" });
    const shown = JSON.parse(await readFile(join(folder.data, "status/dev/PlatformKey/reader.json"), "utf8"));
    expect(shown).toMatchObject({
      apiVersion: "keyplane.dev/v1alpha1",
      kind: "PlatformKey",
      metadata: { name: "reader", namespace: "dev", uid: made.uid, generation: 1 },
      spec: { preset: "MCPReadOnly", displayName: "reader" },
      status: { observedGeneration: 1, keyPrefix: "inf_12345678" },
    });
  });
});
