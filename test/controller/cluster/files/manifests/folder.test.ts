import { appendFile, chmod, mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type FilesLogLine, openFilesCluster } from "../../../../../controller/cluster/files/cluster.ts";
import { createArrivals } from "../../../../../controller/cluster/files/manifests/arrivals.ts";
import { createFolderReader } from "../../../../../controller/cluster/files/manifests/folder.ts";
import { until } from "../../../../env/until.ts";
import { clock, key, library, makeFolder, makeWorkspace } from "../harness.ts";

function options() {
  const lines: FilesLogLine[] = [];
  return { lines, clock, randomUuid: () => crypto.randomUUID(), log: (line: FilesLogLine) => lines.push(line) };
}

const names = (readings: { value: unknown }[]) => readings.map(({ value }) => JSON.stringify(value));

/** Reads a folder a second later, when each of its files has been left alone for long enough. */
function settledReader(root: string) {
  const clock = { now: () => Date.now() + 1_000, monotonic: () => 0 };
  return createFolderReader({ root, arrivals: createArrivals(), clock });
}

describe.concurrent("reading a folder of manifests", () => {
  it("does not look into a file that is being written before it has been left alone for a moment", async (context) => {
    const folder = await makeFolder(context);
    const file = join(folder, "a.yaml");
    let ms = 0;
    const read = createFolderReader({
      root: folder,
      arrivals: createArrivals(),
      clock: { now: () => 0, monotonic: () => ms },
    });
    const documents = async () => names((await read()).files.flatMap((one) => one.documents)).length;

    await writeFile(file, "a: 1\n");
    expect(await read()).toMatchObject({ pending: ["a.yaml"], files: [] });
    ms += 250;
    expect(await documents()).toBe(1);

    await appendFile(file, "---\nb: 2\n");
    ms += 250;
    expect(await documents()).toBe(1);
    ms += 100;
    await appendFile(file, "---\nc: 3\n");
    expect(await documents()).toBe(1);
    ms += 199;
    expect(await documents()).toBe(1);
    ms += 1;
    expect(await documents()).toBe(3);
    expect(await read()).toMatchObject({ pending: [], changed: [] });
  });

  it("takes a file at once that was written a while ago", async (context) => {
    const folder = await makeFolder(context);
    await writeFile(join(folder, "a.yaml"), "a: 1\n");
    const read = settledReader(folder);
    expect((await read()).files).toHaveLength(1);
  });

  it("c99: does not take a file that is not in UTF-8 for text", async (context) => {
    const folder = await makeFolder(context);
    await writeFile(join(folder, "a.yaml"), Buffer.from("a: Größe\n", "latin1"));
    const [file] = (await settledReader(folder)()).files;
    expect([file?.documents, file?.diagnostics.length]).toEqual([[], 1]);
  });

  it("c49: knows what came whole, by a rename, from what was written into the file that is there", async (context) => {
    const folder = await makeFolder(context);
    const file = join(folder, "a.yaml");
    const read = settledReader(folder);
    const cameWhole = async () => (await read()).files.map((one) => one.cameWhole);
    await writeFile(file, "a: 1\n");
    expect(await cameWhole()).toEqual([false]);
    for (const text of ["a: 2\n", "a: 3\n"]) {
      await writeFile(join(folder, "next"), text);
      await utimes(join(folder, "next"), 1, 1);
      await rename(join(folder, "next"), file);
      expect(await cameWhole()).toEqual([true]);
      await chmod(file, 0o600);
      expect(await cameWhole()).toEqual([true]);
      await appendFile(file, "b: 1\n");
      expect(await cameWhole()).toEqual([false]);
    }
    await rm(file);
    expect(await cameWhole()).toEqual([]);
    await writeFile(file, "a: 1\n");
    expect(await cameWhole()).toEqual([false]);
  });

  it.for([
    ["a link to nothing", "nowhere"],
    ["a link to a folder", "."],
  ])(
    "c49: has changed when %s is taken away from where a file was, so that it can be put back",
    async ([, target = ""], context) => {
      const folder = await makeFolder(context);
      const file = join(folder, "a.yaml");
      await writeFile(file, "a: 1\n");
      await writeFile(join(folder, "b.yaml"), "b: 1\n");
      const read = settledReader(folder);
      const changed = async () => (await read()).changed.length > 0;
      expect([await changed(), await changed()]).toEqual([true, false]);
      await rm(file);
      await symlink(target, file);
      expect([await changed(), await changed()]).toEqual([true, false]);
      await rm(file);
      expect([await changed(), await changed()]).toEqual([true, false]);
    },
  );

  it("c49: knows a rename in the same tick as the write by what was notified", async () => {
    const arrivals = createArrivals("linux");
    expect(arrivals.take("a.yaml")).toBe(false);
    arrivals.note("a.yaml", "rename");
    expect([arrivals.take("a.yaml"), arrivals.take("a.yaml")]).toEqual([true, false]);
    arrivals.note("a.yaml", "rename");
    arrivals.note("a.yaml", "change");
    expect(arrivals.take("a.yaml")).toBe(false);
    const elsewhere = createArrivals("darwin");
    elsewhere.note("a.yaml", "rename");
    expect(elsewhere.take("a.yaml")).toBe(false);
  });

  it("b79: says which name cannot be read, and no key that is in it", async (context) => {
    const folder = await makeFolder(context);
    await symlink("inf_0123456789abcdef.yaml", join(folder, "inf_0123456789abcdef.yaml"));
    const read = createFolderReader({ root: folder, arrivals: createArrivals(), clock });
    const { unreadable } = await read();
    expect(unreadable).toContain("ELOOP");
    expect(unreadable).toContain("inf_...");
    expect(unreadable).not.toContain("inf_0");
  });

  it("takes .yaml, .yml and .json in any depth, and nothing else", async (context) => {
    const folder = await makeFolder(context);
    await mkdir(join(folder, "x/y"), { recursive: true });
    await mkdir(join(folder, ".git"));
    for (const file of ["b.yml", "x/y/c.json", "a.yaml"]) await writeFile(join(folder, file), "{}\n");
    for (const file of [".git/d.yaml", ".e.yaml", "README.md", "f.yaml~", "g.yaml.tmp"])
      await writeFile(join(folder, file), "{");
    const read = settledReader(folder);
    expect((await read()).files.map(({ path }) => path.slice(folder.length + 1))).toEqual([
      "a.yaml",
      "b.yml",
      "x/y/c.json",
    ]);
  });

  it("does not take for declarations what is written to DATA, which may lie in the folder", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    const within = { ...options(), manifests: folder.manifests, data: join(folder.manifests, "data") };
    const cluster = await openFilesCluster(within);
    context.onTestFinished(() => cluster.close());
    await cluster.watch(() => {}, new AbortController().signal);
    await folder.write("b.yaml", key("writer"));
    await until("the next reading", () => cluster.get("PlatformKey", "dev", "writer"));
    expect(within.lines).toEqual([]);
    await expect(openFilesCluster({ ...options(), manifests: folder.data, data: folder.data })).rejects.toThrow(
      "--data",
    );
  });

  it("does not take for declarations what is in DATA, whatever links lead to the one and the other", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    const link = join(folder.manifests, "../link");
    await symlink(folder.manifests, link);
    for (const [manifests, data] of [
      [folder.manifests, join(link, "data")],
      [link, join(folder.manifests, "data")],
    ] as const) {
      const cluster = await openFilesCluster({ ...options(), manifests, data });
      await folder.write("data/b.yaml", key("written-there"));
      await cluster.watch(() => {}, new AbortController().signal);
      expect(cluster.list("PlatformKey").map(({ name }) => name)).toEqual(["reader"]);
      await cluster.close();
    }
    const within = { ...options(), manifests: join(link, "sub"), data: folder.manifests };
    await mkdir(within.manifests);
    await expect(openFilesCluster(within)).rejects.toThrow("--data");
  });

  it("says so when something cannot be read", async (context) => {
    const folder = await makeFolder(context);
    await symlink(join(folder, "nowhere"), join(folder, "a.yaml"));
    const read = (path: string) =>
      createFolderReader({ root: path, arrivals: createArrivals(), clock: { now: () => 0, monotonic: () => 0 } })();
    expect((await read(folder)).unreadable).toContain("a.yaml");
    expect((await read(join(folder, "missing"))).unreadable).toContain("ENOENT");
  });

  it("notices a file that was exchanged for another of the same size and time", async (context) => {
    const folder = await makeFolder(context);
    const file = join(folder, "a.yaml");
    const read = settledReader(folder);
    const write = async (text: string) => {
      await writeFile(`${file}.new`, text);
      await utimes(`${file}.new`, 1, 1);
      await rename(`${file}.new`, file);
      return names((await read()).files.flatMap((one) => one.documents));
    };
    expect(await write("a: 1\n")).toEqual(['{"a":1}']);
    expect(await write("a: 2\n")).toEqual(['{"a":2}']);
  });
});

describe.concurrent("a folder of manifests with a fault", () => {
  it("keeps the last good content of the faulty declaration, applies the others, and says where the fault is", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader"), key("writer")] });
    const cluster = await folder.open();
    await folder.write(
      "a.yaml",
      key("reader", "scopes: [memory:reed]"),
      key("writer", "preset: MCPReadWrite"),
      key("third"),
    );
    await until("the others", () => cluster.get("PlatformKey", "dev", "writer")?.generation === 2);
    await until("the new one", () => cluster.get("PlatformKey", "dev", "third"));
    expect(cluster.get("PlatformKey", "dev", "reader")).toMatchObject({
      generation: 1,
      spec: { preset: "MCPReadOnly" },
    });
    expect(cluster.said("memory:reed")).toHaveLength(1);
    expect(cluster.said("memory:reed")[0]).toContain(`${join(folder.manifests, "a.yaml")}:6:`);
  });

  it("does not admit a faulty declaration that never was good, and its status says why until it is", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader", "scopes: [memory:reed]")] });
    const cluster = await folder.open();
    expect(cluster.get("PlatformKey", "dev", "reader")).toBeUndefined();
    const shown = await folder.shown("PlatformKey", "reader");
    expect(shown).toMatchObject({ kind: "PlatformKey", metadata: { name: "reader", namespace: "dev" } });
    expect(shown).toMatchObject({ status: { conditions: [{ type: "Accepted", status: "False", reason: "Invalid" }] } });
    expect(JSON.stringify(shown)).toContain("memory:reed");

    await folder.write("a.yaml", key("reader"));
    await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    await until(
      "its status",
      async () => !JSON.stringify(await folder.shown("PlatformKey", "reader")).includes("memory:reed"),
    );
    await folder.write("a.yaml", key("other"), key("bad", "scopes: [x]"));
    await until("the other status", () => folder.shown("PlatformKey", "bad"));
    await folder.write("a.yaml", key("other"));
    await until(
      "no status of what is not declared",
      async () => (await folder.shown("PlatformKey", "bad")) === undefined,
    );
  });

  it("c49: a fault holds back what was in its file or may be in it, says so, and nothing else", async (context) => {
    const folder = await makeWorkspace(context, {
      "a.yaml": [key("reader"), key("writer")],
      "b.yaml": [key("other")],
      "c.yaml": [key("moved")],
    });
    const cluster = await folder.open();
    await folder.write("a.yaml", key("reader", "scopes: [memory:reed]"));
    await folder.write("broken.yaml", "kind: [\nname: moved\n");
    await folder.remove("b.yaml");
    await folder.remove("c.yaml");
    await until("the removal", () => cluster.get("PlatformKey", "dev", "other") === undefined);
    folder.pass(3_600_000);
    await until("it is written down", async () => (await folder.held()).length === 3);
    const held = new Map((await folder.held()).map(({ name, why }) => [name, why]));
    expect(held.get("reader")).toContain(`${join(folder.manifests, "a.yaml")}:6:`);
    expect(held.get("writer")).toContain(`${join(folder.manifests, "a.yaml")}:6 may hide them`);
    expect(held.get("moved")).toContain(`${join(folder.manifests, "broken.yaml")}:`);
    expect(cluster.said("(PlatformKey dev/writer)")).toHaveLength(1);

    await folder.write("a.yaml", key("reader"));
    await folder.remove("broken.yaml");
    await until("the removals", () => cluster.list("PlatformKey").length === 1);
    await until("nothing is held", async () => (await folder.held()).length === 0);
  });

  it("c49: keeps everything that a file declared when it is no YAML any more", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader"), key("writer")] });
    const cluster = await folder.open();
    await folder.write("a.yaml", "a: [1, 2\n  b: }{");
    await folder.write("b.yaml", key("third"));
    await until("the other file", () => cluster.get("PlatformKey", "dev", "third"));
    await until("the warning", () => cluster.said("may hide them").length > 0);
    folder.pass(3_600_000);
    await folder.write("c.yaml", key("fourth"));
    await until("the next look", () => cluster.get("PlatformKey", "dev", "fourth"));
    expect(cluster.list("PlatformKey").filter(({ deleting }) => deleting)).toEqual([]);
    expect(cluster.list("PlatformKey")).toHaveLength(4);
    expect(cluster.said("a.yaml:")[0]).toContain("not YAML");
  });

  it("says that a model is the stub's where its upstream is not, as soon as that is saved", async (context) => {
    const upstream = (baseURL: string) =>
      `{ name: openai, dialect: openai, baseURL: "${baseURL}", credentialRef: { name: p } }`;
    const gateway = (baseURL: string) =>
      `apiVersion: keyplane.dev/v1alpha1\nkind: ModelGateway\nmetadata: { name: main, namespace: dev }\nspec: { upstreams: [${upstream(baseURL)}] }\n`;
    const notes = `apiVersion: keyplane.dev/v1alpha1\nkind: MemoryLibrary\nmetadata: { name: notes, namespace: dev }\nspec: { embedding: { gatewayRef: { name: main }, model: stub-embedding } }\n`;
    const folder = await makeWorkspace(context, { "a.yaml": [gateway("http://127.0.0.1:9100")], "b.yaml": [notes] });
    const cluster = await folder.open();
    expect(cluster.said("stub")).toEqual([]);
    await folder.write("a.yaml", gateway("https://api.openai.com"));
    await until("it is said", () => cluster.said("stub").length > 0);
    expect(cluster.said("stub")).toEqual([
      expect.stringMatching(
        /b\.yaml:4:\d+: warning: spec\.embedding\.model: stub-embedding is a name for the model stub/,
      ),
    ]);
  });

  it("refuses a change of what may not change, by what is stored", async (context) => {
    const folder = await makeWorkspace(context, {
      "a.yaml": [key("reader", "preset: MCPReadOnly\n  secret: { name: one }")],
    });
    const first = await folder.open();
    await first.close();
    await folder.write("a.yaml", key("reader", "preset: MCPReadWrite\n  secret: { name: two }"));
    const cluster = await folder.open();
    expect(cluster.get("PlatformKey", "dev", "reader")).toMatchObject({
      generation: 1,
      spec: { secret: { name: "one" } },
    });
    expect(cluster.said("spec.secret")).toHaveLength(1);
  });

  it("takes the first of two declarations of one object, and names its place at the second", async (context) => {
    const folder = await makeWorkspace(context, {
      "a.yaml": [key("reader")],
      "b.yaml": [library("x"), key("reader", "preset: MCPReadWrite")],
    });
    const cluster = await folder.open();
    expect(cluster.get("PlatformKey", "dev", "reader")?.spec.preset).toBe("MCPReadOnly");
    const [line] = cluster.said("b.yaml");
    expect(line).toContain(`metadata.name: is declared at ${join(folder.manifests, "a.yaml")}:3 already`);
  });

  it("passes over objects of other kinds with a note, and reads the items of a list", async (context) => {
    const list = { apiVersion: "v1", kind: "List", items: [parse(key("listed")), { apiVersion: "v1", kind: "Pod" }] };
    const folder = await makeWorkspace(context, {
      "a.yaml": ["apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: app }\n", key("reader")],
      "list.json": [JSON.stringify(list)],
      "kustomization.yaml": ["resources: [a.yaml]\n"],
    });
    const cluster = await folder.open();
    expect(cluster.get("PlatformKey", "dev", "reader")).toBeDefined();
    expect(cluster.get("PlatformKey", "dev", "listed")).toBeDefined();
    const said = cluster.log.map(({ level, message }) => `${level}: ${message.split("note: ")[1]}`);
    // The files are read at once.
    expect(said.toSorted()).toEqual([
      "info: Deployment is passed over",
      "info: Kustomization is passed over",
      "info: items[1]: Pod is passed over",
    ]);
    await folder.remove("list.json");
    await until("the removal", () => cluster.list("PlatformKey").length === 1);
  });

  it("b80: gives each fault one line of the log, whatever the files and their names say", async (context) => {
    const folder = await makeWorkspace(context, {
      'x\n{"level":"info"}\u2028.yaml': [key("reader", 'preset: "MCP\\n{\\"level\\":60}"')],
    });
    const cluster = await folder.open();
    expect(cluster.said("preset")).toHaveLength(1);
    for (const { message } of cluster.log) expect(message).not.toMatch(/[\n\r\u2028]/);
  });
});

describe.concurrent("a removal from the folder of manifests", () => {
  it("is carried out when it happened while no process watched", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader"), key("writer")] });
    await (await folder.open()).close();
    await folder.write("a.yaml", key("writer"));
    const cluster = await folder.open();
    folder.pass(30_000);
    await until("the removal", () => cluster.list("PlatformKey").length === 1);
    expect(cluster.changes).toContainEqual({ of: "object", kind: "PlatformKey", namespace: "dev", name: "reader" });
  });

  it("is not said to be held for the reason of an earlier process, which may have run on another folder", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("a")], "b.yaml": [key("b")] }, 1_000);
    await (await folder.open()).close();
    const note = { kind: "PlatformKey", namespace: "dev", name: "a", why: "this is another folder" };
    await writeFile(join(folder.data, "held.json"), JSON.stringify([note]));
    await folder.remove("b.yaml");
    await folder.open();
    expect(await folder.held()).toEqual([]);
  });

  it("is none when a declaration moves to another file", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader"), key("writer"), key("marker")] });
    const cluster = await folder.open();
    const { uid } = await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    await folder.write("b.yaml", key("reader"));
    await folder.write("a.yaml", key("writer"));
    await until("the removal of another", () => cluster.get("PlatformKey", "dev", "marker") === undefined);
    expect(cluster.get("PlatformKey", "dev", "reader")).toMatchObject({ uid, deleting: false });
  });

  it("is none when the folder is empty, is missing, or comes back", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    const cluster = await folder.open();
    const { uid } = await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    await folder.remove("a.yaml");
    await until("the warning", () => cluster.said("an empty folder removes nothing").length > 0);
    await rm(folder.manifests, { recursive: true });
    await until("the warning", () => cluster.said("cannot be read in full").length > 0);
    expect(cluster.get("PlatformKey", "dev", "reader")).toMatchObject({ uid, deleting: false });
    await folder.write("a.yaml", key("reader"), key("writer"));
    await until("the folder is read again", () => cluster.get("PlatformKey", "dev", "writer"));
    expect(cluster.get("PlatformKey", "dev", "reader")).toMatchObject({ uid, deleting: false });
  });

  it("of more keys at once than the deletion limit allows is refused as a whole, and goes on in smaller steps", async (context) => {
    const all = Array.from({ length: 12 }, (_, i) => key(`key-${i}`));
    const folder = await makeWorkspace(context, { "a.yaml": [...all, library("handbook")] });
    const cluster = await folder.open();
    await folder.write("a.yaml", all[0] ?? "");
    await until("the warning", () => cluster.said("that would revoke more than 10 keys at once").length > 0);
    expect(cluster.list("PlatformKey")).toHaveLength(12);
    expect(cluster.list("MemoryLibrary")).toHaveLength(1);
    await folder.write("a.yaml", ...all.slice(0, 2));
    await until("it is said", () => cluster.said("what does not come back").length > 0);
    folder.pass(30_000);
    await until("the removal", () => cluster.list("PlatformKey").length === 2);
    await until("the library's removal", () => cluster.list("MemoryLibrary").length === 0);
  });

  it("of more libraries at once than the deletion limit allows is refused when it would delete what is in them", async (context) => {
    const all = Array.from({ length: 12 }, (_, i) => library(`library-${i}`, "x, deletionPolicy: Delete"));
    const folder = await makeWorkspace(context, { "a.yaml": [...all, key("stays")] });
    const cluster = await folder.open();
    await folder.write("a.yaml", key("stays"));
    await until("the warning", () => cluster.said("that would delete more than 10 libraries").length > 0);
    expect(cluster.list("MemoryLibrary")).toHaveLength(12);
  });

  it("is none while a mounted ConfigMap is exchanged for its next version", async (context) => {
    const folder = await makeWorkspace(context);
    const version = async (name: string, text: string) => {
      await mkdir(join(folder.manifests, name));
      await writeFile(join(folder.manifests, name, "a.yaml"), text);
      await symlink(name, join(folder.manifests, "..data_tmp"));
      await rename(join(folder.manifests, "..data_tmp"), join(folder.manifests, "..data"));
    };
    await version("..1", key("reader"));
    await symlink("..data/a.yaml", join(folder.manifests, "a.yaml"));
    const cluster = await folder.open();
    const { uid } = await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    await version("..2", key("reader", "preset: MCPReadWrite"));
    await rm(join(folder.manifests, "..1"), { recursive: true });
    await until("the change", () => cluster.get("PlatformKey", "dev", "reader")?.generation === 2);
    expect(cluster.get("PlatformKey", "dev", "reader")).toMatchObject({ uid, deleting: false });
  });
});
