/** A disk that is full, or something in the way of a file: whatever cannot be written holds up nothing else. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import type { ClusterChange, SecretDraft } from "../../../../controller/cluster/port.ts";
import { until } from "../../../env/until.ts";
import { key, library, makeWorkspace, type OpenCluster, secret, type Workspace } from "./harness.ts";

const draft = (value: string): SecretDraft => ({
  namespace: "dev",
  name: "reader",
  data: { "api-key": value },
  labels: {},
  annotations: {},
  owner: { apiVersion: "keyplane.dev/v1beta1", uid: "owner-1", name: "reader", byReference: true },
});

/** Has a file of an object not be written until it is undone. */
async function blockWrites({ data }: Workspace, root: "objects" | "status", kind: string, name: string) {
  const obstacle = join(data, root, "dev", kind, `${name}.json.tmp`);
  await mkdir(obstacle, { recursive: true });
  return () => rm(obstacle, { recursive: true });
}

const isOf = (name: string) => (change: ClusterChange) => change.of === "object" && change.name === name;
const announced = (cluster: OpenCluster, name: string) =>
  until(`${name} is announced`, () => cluster.changes.some(isOf(name)));

describe.concurrent("a status file that cannot be written", () => {
  it("holds up no declared revocation: the change is announced, and the file is written later", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    const cluster = await folder.open();
    const unblock = await blockWrites(folder, "status", "PlatformKey", "reader");
    cluster.changes.length = 0;
    await folder.write("a.yaml", key("reader", "preset: MCPReadOnly\n  state: Revoked"));
    await announced(cluster, "reader");
    expect(cluster.get("PlatformKey", "dev", "reader")?.spec.state).toBe("Revoked");
    await until("the report", () => cluster.said("reader.json cannot be kept up").length > 0);
    expect(await folder.shown("PlatformKey", "reader")).not.toMatchObject({ spec: { state: "Revoked" } });
    await unblock();
    await until("the file", async () =>
      JSON.stringify(await folder.shown("PlatformKey", "reader")).includes("Revoked"),
    );
    expect(cluster.said("reader.json cannot be kept up")).toHaveLength(1);
  });

  it("holds up no removal", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader"), key("stays")] });
    const cluster = await folder.open();
    const made = await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    await cluster.addFinalizer(made);
    await blockWrites(folder, "status", "PlatformKey", "reader");
    cluster.changes.length = 0;
    await folder.write("a.yaml", key("stays"));
    await announced(cluster, "reader");
    expect(cluster.get("PlatformKey", "dev", "reader")?.deleting).toBe(true);
    await cluster.removeFinalizer(made);
    expect(cluster.get("PlatformKey", "dev", "reader")).toBeUndefined();
  });

  it("shows in the end what was written last", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    const cluster = await folder.open();
    const made = await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    const unblock = await blockWrites(folder, "status", "PlatformKey", "reader");
    await cluster.writeStatus(made, { observedGeneration: 1, step: "one" });
    await cluster.writeStatus(made, { observedGeneration: 1, step: "two" });
    await unblock();
    await until("the file", async () =>
      JSON.stringify((await folder.shown("PlatformKey", "reader")) ?? "").includes("two"),
    );
    expect(cluster.get("PlatformKey", "dev", "reader")?.status).toMatchObject({ step: "two" });
  });
});

describe.concurrent("an object that cannot be stored", () => {
  it("stops no other, no Secret, no refusal and no removal, is reported once, and is tried again", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("bye"), key("stays")] });
    const cluster = await folder.open();
    const unblock = await blockWrites(folder, "objects", "PlatformKey", "aaa");
    const sound = Array.from({ length: 40 }, (_, i) => key(`sound-${i}`));
    await folder.write("a.yaml", key("aaa"), ...sound, key("stays"), secret("provider", "x"));
    await until("the others", () => cluster.list("PlatformKey").length >= 41);
    await until("the Secret", () => cluster.readSecret("dev", "provider"));
    await until("the removal", () => cluster.get("PlatformKey", "dev", "bye") === undefined);
    for (let i = 0; i < 40; i++) expect(cluster.changes.some(isOf(`sound-${i}`))).toBe(true);
    await folder.write("b.yaml", key("bad", "scopes: [x]"));
    await until("the refusal", () => folder.shown("PlatformKey", "bad"));
    expect(cluster.get("PlatformKey", "dev", "aaa")).toBeUndefined();
    expect(cluster.said("PlatformKey dev/aaa cannot be stored")).toHaveLength(1);
    await unblock();
    await announced(cluster, "aaa");
    expect(cluster.get("PlatformKey", "dev", "aaa")).toMatchObject({ generation: 1 });
  });

  it("stops no start", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("aaa"), key("reader"), library("handbook")] });
    await blockWrites(folder, "objects", "PlatformKey", "aaa");
    const cluster = await folder.open();
    expect(cluster.get("PlatformKey", "dev", "reader")).toBeDefined();
    expect(cluster.get("MemoryLibrary", "dev", "handbook")).toBeDefined();
    expect(cluster.said("PlatformKey dev/aaa cannot be stored")).toHaveLength(1);
  });

  it("whose file was spoilt stops the start, by name: its key would else be taken for one without a declaration", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    await (await folder.open()).close();
    await writeFile(join(folder.data, "objects/dev/PlatformKey/reader.json"), "{}");
    await expect(folder.open()).rejects.toThrow("objects/dev/PlatformKey/reader.json does not hold");
  });
});

describe.concurrent("an object that cannot be removed", () => {
  it("c49: is not said to be, and goes once it can, whatever else has a fault meanwhile", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("bye")], "b.yaml": [key("stays")] });
    const cluster = await folder.open();
    await cluster.addFinalizer(await until("the object", () => cluster.get("PlatformKey", "dev", "bye")));
    const unblock = await blockWrites(folder, "objects", "PlatformKey", "bye");
    await folder.write("c.yaml", key("bad", "scopes: [x]"));
    await until("the refusal", () => folder.shown("PlatformKey", "bad"));
    await folder.remove("a.yaml");
    folder.pass(2_000);
    await until("the report", () => cluster.said("PlatformKey dev/bye cannot be removed").length > 0);
    expect(cluster.said("and removed")).toEqual([]);
    await unblock();
    await folder.write("b.yaml", key("stays", "preset: MCPReadWrite"));
    folder.pass(2_000);
    await until("its end", () => cluster.get("PlatformKey", "dev", "bye")?.deleting);
    await until("it is said", () => cluster.said("and removed: PlatformKey dev/bye").length > 0);
  });
});

describe.concurrent("a replacement of a Secret that was committed and could not be carried out", () => {
  /** As it is when the carrying out of a committed replacement has failed. */
  async function interrupted(context: TestContext) {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    await cluster.createSecret(draft("value-1"));
    const committed = join(folder.data, "secrets/.committed");
    await mkdir(join(committed, "dev.reader"));
    await writeFile(join(committed, "dev.reader/api-key"), "stale-value");
    const place = join(folder.data, "secrets/dev/reader");
    return { folder, cluster, place, left: () => readdir(committed) };
  }

  it("is carried out before anything else is done, so that it never wins over a later write", async (context) => {
    const { folder, cluster, place, left } = await interrupted(context);
    const read = await cluster.readSecret("dev", "reader");
    expect(read).toMatchObject({ data: { "api-key": "stale-value" }, owner: { uid: "owner-1" } });
    if (read === undefined) throw new Error("unreachable");
    await cluster.replaceSecret(read, draft("value-3"));
    expect(await left()).toEqual([]);
    await cluster.close();
    await folder.open();
    expect(await readFile(join(place, "api-key"), "utf8")).toBe("value-3");
  });

  it("makes a write under what was read before it a conflict", async (context) => {
    const { cluster, left } = await interrupted(context);
    const read = await cluster.readSecret("dev", "reader");
    if (read === undefined) throw new Error("unreachable");
    await cluster.replaceSecret(read, draft("value-3"));
    await expect(cluster.replaceSecret(read, draft("value-4"))).rejects.toMatchObject({ code: "Conflict" });
    expect(await left()).toEqual([]);
  });

  it("is forgotten, with its plaintext, where a file took the place of the folder, and rotations go on after", async (context) => {
    const { folder, cluster, place, left } = await interrupted(context);
    await rm(place, { recursive: true });
    await writeFile(place, "oops");
    expect(await cluster.readSecret("dev", "reader")).toMatchObject({ owner: null });
    expect(await left()).toEqual([]);
    await rm(place);
    const again = await cluster.createSecret(draft("value-2"));
    await cluster.replaceSecret(again, draft("value-3"));
    await cluster.close();
    const second = await folder.open();
    expect(await second.readSecret("dev", "reader")).toMatchObject({ data: { "api-key": "value-3" } });
  });

  it("is forgotten when the Secret is made anew, or deleted", async (context) => {
    const { cluster, place, left } = await interrupted(context);
    await rm(place, { recursive: true });
    const created = await cluster.createSecret(draft("value-2"));
    expect(await left()).toEqual([]);
    expect(await readFile(join(place, "api-key"), "utf8")).toBe("value-2");
    await cluster.deleteSecret(created);
    expect(await left()).toEqual([]);
  });

  it("leaves no plaintext when something that cannot be a folder comes while it is carried out", async (context) => {
    const { cluster, place, left } = await interrupted(context);
    const read = await cluster.readSecret("dev", "reader");
    if (read === undefined) throw new Error("unreachable");
    const replacing = cluster.replaceSecret(read, draft("value-9"));
    await rm(place, { recursive: true });
    await writeFile(place, "oops").catch(() => {});
    await replacing.catch(() => {});
    await cluster.readSecret("dev", "reader");
    expect(await left()).toEqual([]);
  });
});

describe.concurrent("a Secret that cannot be read", () => {
  it("counts as one that we may not read, and is announced until it can be; it stops no start", async (context) => {
    const folder = await makeWorkspace(context);
    const first = await folder.open();
    const created = await first.createSecret(draft("value-1"));
    await first.close();
    const record = join(folder.data, "secret-metadata/dev/reader.json");
    const text = await readFile(record, "utf8");
    await writeFile(record, "spoilt");
    await mkdir(join(folder.data, "secrets/.committed/dev.reader"), { recursive: true });
    const cluster = await folder.open();
    await expect(cluster.readSecret("dev", "reader")).rejects.toMatchObject({ code: "Forbidden" });
    cluster.changes.length = 0;
    await writeFile(record, text);
    await until("it is announced", () => cluster.changes.some(({ of }) => of === "secret"));
    expect(await cluster.readSecret("dev", "reader")).toMatchObject({ uid: created.uid });
  });
});

it("a Secret that is declared with what refers to it can be read when that is announced", async (context) => {
  const folder = await makeWorkspace(context, { "a.yaml": [key("first")] });
  const cluster = await folder.open();
  await folder.write("a.yaml", key("first"), key("importer"), secret("given", "x"));
  await announced(cluster, "importer");
  const secretAt = cluster.changes.findIndex((change) => change.of === "secret" && change.name === "given");
  expect(secretAt).toBeGreaterThanOrEqual(0);
  expect(secretAt).toBeLessThan(cluster.changes.findIndex(isOf("importer")));
});
