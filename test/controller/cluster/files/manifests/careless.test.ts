/** Files as people and their tools treat them: what ends a declaration, and what only looks like its end. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, cp, mkdir, open, readFile, rename, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { until } from "../../../../env/until.ts";
import { key, makeWorkspace, type OpenCluster, type Workspace } from "../harness.ts";

const HOUR = 3_600_000;
const TEN = Array.from({ length: 10 }, (_, i) => key(`key-${i}`, "preset: MCPReadOnly\n  deletionPolicy: Revoke"));
const other = { "other.yaml": [key("other")] };

const living = (cluster: OpenCluster) =>
  cluster
    .list("PlatformKey")
    .filter(({ deleting }) => !deleting)
    .map(({ name }) => name)
    .sort();
const isThere = (cluster: OpenCluster, name: string) => living(cluster).includes(name);

/** Lets an hour pass, and waits until the folder has been looked at after it. */
async function passAnHour(folder: Workspace, cluster: OpenCluster): Promise<void> {
  folder.pass(HOUR);
  const marker = `marker-${Math.random().toString(36).slice(2)}`;
  await folder.write(`${marker}.yaml`, key(marker));
  await until("a look", () => cluster.get("PlatformKey", "dev", marker));
  await folder.remove(`${marker}.yaml`);
  await until("another look", () => {
    folder.pass(2_000);
    return cluster.get("PlatformKey", "dev", marker) === undefined;
  });
  folder.pass(HOUR);
}

/** What comes of each way to lose sight of `all.yaml` or of the folder `sub`, all of whose keys shall live on. */
const LOSSES: readonly {
  readonly of: string;
  readonly lose: (at: (path: string) => string, folder: Workspace) => Promise<void>;
  readonly says: string;
}[] = [
  { of: "a file emptied", lose: (at) => writeFile(at("sub/all.yaml"), ""), says: "sub/all.yaml is empty" },
  {
    of: "a file of comments",
    lose: (at) => writeFile(at("sub/all.yaml"), "# later\n---\n"),
    says: "sub/all.yaml is empty",
  },
  {
    of: "an empty list, as kubectl prints it",
    lose: (at) => writeFile(at("sub/all.yaml"), "apiVersion: v1\nkind: List\nitems: []\n"),
    says: "sub/all.yaml is empty",
  },
  {
    of: "a file replaced by an empty one",
    lose: (_, folder) => folder.write("sub/all.yaml"),
    says: "sub/all.yaml is empty",
  },
  {
    of: "a file cut off in a line",
    lose: (_, folder) => folder.writeInto("sub/all.yaml", (TEN[0] ?? "").trimEnd()),
    says: "sub/all.yaml is cut off",
  },
  {
    of: "a file cut off within a document that is valid as far as it goes",
    lose: (_, folder) =>
      folder.writeInto("sub/all.yaml", TEN[0] ?? "", (TEN[1] ?? "").replace(/ {2}deletionPolicy.*\n/, "")),
    says: "sub/all.yaml is cut off",
  },
  {
    of: "a file written anew under another date, and cut off within a document",
    async lose(at, folder) {
      await writeFile(at("sub/all.yaml"), "# written on Monday\n");
      await until("it is read", async () => (await folder.held()).length > 0);
      await writeFile(
        at("sub/all.yaml"),
        `# written on Monday\n${(TEN[0] ?? "").replace(/ {2}deletionPolicy.*\n/, "")}`,
      );
    },
    says: "sub/all.yaml is cut off",
  },
  { of: "an emptied folder", lose: (at) => rm(at("sub/all.yaml")), says: "the folder sub is empty" },
  {
    of: "a folder swapped for a link",
    async lose(at) {
      await rename(at("sub"), at("../elsewhere"));
      await mkdir(at("../instead"));
      await symlink(at("../instead"), at("sub"));
    },
    says: "the folder sub is no longer a folder",
  },
  {
    of: "a folder swapped for a link to itself",
    async lose(at) {
      await rename(at("sub"), at("../elsewhere"));
      await symlink(at("../elsewhere"), at("sub"));
    },
    says: "the folder sub is no longer a folder",
  },
];

describe.concurrent("c49: what only looks like the end of ten declarations ends none, however long it lasts:", () => {
  test.for(LOSSES)("$of", async ({ lose, says }, context) => {
    const folder = await makeWorkspace(context, { "sub/all.yaml": TEN, ...other });
    const at = (path: string) => join(folder.manifests, path);
    const first = await folder.open();
    const uids = first.uids("PlatformKey").toSorted();
    await lose(at, folder);
    await until("it is said", () => first.said(says).length > 0);
    await passAnHour(folder, first);
    expect(first.uids("PlatformKey").toSorted()).toEqual(uids);
    expect(living(first)).toHaveLength(11);
    expect(first.said(says)).toHaveLength(1);
    expect((await folder.held()).length).toBeGreaterThanOrEqual(8);
    expect((await folder.held())[0]?.why).toContain(says);

    await first.close();
    const again = await folder.open();
    await until("it is said again", () => again.said(says).length > 0);
    await passAnHour(folder, again);
    expect(again.uids("PlatformKey").toSorted()).toEqual(uids);
    expect(living(again)).toHaveLength(11);
  });

  test("a file that a slow program regenerates, from its truncation by the shell to its last line", async (context) => {
    const folder = await makeWorkspace(context, { "all.yaml": TEN, ...other });
    const cluster = await folder.open();
    const pipe = join(folder.manifests, "../pipe");
    await promisify(execFile)("mkfifo", [pipe]);
    const shell = spawn("sh", ["-c", 'cat "$0" > "$1"', pipe, join(folder.manifests, "all.yaml")]);
    const ended = once(shell, "exit");
    context.onTestFinished(() => void shell.kill());
    await until("it is said", () => cluster.said("all.yaml is empty").length > 0);
    await passAnHour(folder, cluster);
    expect(living(cluster)).toHaveLength(11);
    const program = await open(pipe, "w");
    await program.write(TEN[0] ?? "");
    await until("the rest is awaited", () => cluster.said("what does not come back").length > 0);
    await program.write(`---\n${TEN.slice(1).join("---\n")}`);
    await program.close();
    await ended;
    await until("nothing is held", async () => (await folder.held()).length === 0);
    await passAnHour(folder, cluster);
    expect(living(cluster)).toHaveLength(11);
    expect(new Set(cluster.list("PlatformKey").map(({ generation }) => generation))).toEqual(new Set([1]));
  });

  test("a file that is deleted and slowly written anew", async (context) => {
    const folder = await makeWorkspace(context, { "all.yaml": [key("one"), key("two")], ...other });
    const cluster = await folder.open();
    await folder.remove("all.yaml");
    const file = await open(join(folder.manifests, "all.yaml"), "w");
    await until("it is said", () => cluster.said("all.yaml is empty").length > 0);
    await file.write(key("one"));
    await until("the rest is awaited", () => cluster.said("what does not come back").length > 0);
    await file.write(`---\n${key("two")}`);
    await file.close();
    await until("nothing is held", async () => (await folder.held()).length === 0);
    expect(living(cluster)).toEqual(["one", "other", "two"]);
  });

  test("a file that is moved aside and slowly written anew", async (context) => {
    const folder = await makeWorkspace(context, { "all.yaml": [key("one"), key("two")], ...other });
    const cluster = await folder.open();
    const path = join(folder.manifests, "all.yaml");
    await rename(path, `${path}.bak`);
    await writeFile(path, key("one"));
    const isAwaited = () => cluster.said("what does not come back").length > 0;
    await until("the rest is awaited, or ended", () => isAwaited() || !isThere(cluster, "two"));
    expect(isThere(cluster, "two")).toBe(true);
    await appendFile(path, `---\n${key("two")}`);
    await until("nothing is held", async () => (await folder.held()).length === 0);
    await passAnHour(folder, cluster);
    expect(living(cluster)).toEqual(["one", "other", "two"]);
  });

  test("another folder, or none, in the place of the one that the manifests were in", async (context) => {
    const folder = await makeWorkspace(context, { "all.yaml": TEN, ...other });
    await (await folder.open()).close();
    await rename(folder.manifests, `${folder.manifests}-before`);
    const missing = await folder.open();
    await until("it is said", () => missing.said("cannot be read in full").length > 0);
    await mkdir(`${folder.manifests}-next`);
    await cp(join(`${folder.manifests}-before`, "other.yaml"), join(`${folder.manifests}-next`, "other.yaml"));
    await symlink(`${folder.manifests}-next`, folder.manifests);
    await until("it is said", () => missing.said("they were declared in").length > 0);
    await passAnHour(folder, missing);
    expect(living(missing)).toHaveLength(11);
    await rm(folder.manifests);
    await rename(`${folder.manifests}-before`, folder.manifests);
    await until("nothing is held", async () => (await folder.held()).length === 0);
    expect(living(missing)).toHaveLength(11);
  });
});

describe.concurrent("c49: a declaration that was taken away ends", () => {
  test("within seconds when its file was deleted, or replaced whole by a rename", async (context) => {
    const folder = await makeWorkspace(context, {
      "a.yaml": [key("one")],
      "b.yaml": [key("two"), key("three")],
      ...other,
    });
    const cluster = await folder.open();
    await folder.remove("a.yaml");
    folder.pass(1_500);
    await until("its end", () => !isThere(cluster, "one"));
    await folder.write("b.yaml", key("two"));
    folder.pass(1_500);
    await until("its end", () => !isThere(cluster, "three"));
    expect(cluster.said("what does not come back")).toEqual([]);
    await until("it is said", () => cluster.said("and removed: PlatformKey dev/three").length > 0);
  });

  test("after half a minute when it vanished from a file that still stands, and not before", async (context) => {
    const folder = await makeWorkspace(context, { "all.yaml": [key("one"), key("two")], ...other });
    const cluster = await folder.open();
    await folder.writeInto("all.yaml", key("one"));
    await until("it is said", () => cluster.said("what does not come back").length > 0);
    expect(await folder.held()).toMatchObject([{ kind: "PlatformKey", name: "two" }]);
    expect(isThere(cluster, "two")).toBe(true);
    folder.pass(30_000);
    await until("its end", () => !isThere(cluster, "two"));
  });

  const item = (name: string) => `- ${key(name).trimEnd().replaceAll("\n", "\n  ")}\n`;
  const list = "apiVersion: v1\nkind: List\nitems:\n";
  test.for<[of: string, before: string, after: string]>([
    ["with a comment after it", `${key("one")}---\n${key("two")}`, `${key("one")}# no second\n`],
    ["of a list", `${list}${item("one")}${item("two")}`, `${list}${item("one")}`],
  ])(
    "after half a minute when it was the last of a file that still stands: one %s",
    async ([, before, after], context) => {
      const folder = await makeWorkspace(context, { "all.yaml": [before], ...other });
      const cluster = await folder.open();
      await folder.writeInto("all.yaml", after);
      await until("it is held", async () => (await folder.held()).length > 0);
      expect(await folder.held()).toMatchObject([
        { name: "two", why: expect.stringContaining("what does not come back") },
      ]);
      folder.pass(30_000);
      await until("its end", () => !isThere(cluster, "two"));
      expect(living(cluster)).toEqual(["one", "other"]);
    },
  );

  test("of a file that is cut off when it is declared elsewhere with `state: Revoked`, as is said there", async (context) => {
    const folder = await makeWorkspace(context, { "all.yaml": [key("one"), key("two")], ...other });
    const cluster = await folder.open();
    await folder.writeInto("all.yaml", key("one").trimEnd());
    await until("it is said", () => cluster.said("declare that one with `state: Revoked`").length > 0);
    await folder.write("end.yaml", key("two", "preset: MCPReadOnly\n  state: Revoked"));
    await until("it counts", () => cluster.get("PlatformKey", "dev", "two")?.spec.state === "Revoked");
    await until("nothing is held", async () => (await folder.held()).length === 0);
    expect(living(cluster)).toEqual(["one", "other", "two"]);
  });

  test("after half a minute when more than two keys go at once, so that a checkout may take its time", async (context) => {
    const folder = await makeWorkspace(context, {
      "a.yaml": [key("a")],
      "b.yaml": [key("b")],
      "c.yaml": [key("c")],
      ...other,
    });
    const cluster = await folder.open();
    for (const file of ["a.yaml", "b.yaml", "c.yaml"]) await folder.remove(file);
    await until("it is said", () => cluster.said("what does not come back").length > 0);
    expect(living(cluster)).toHaveLength(4);
    await folder.write("a.yaml", key("a"));
    await until(
      "fewer wait",
      () => cluster.said("2 declarations are gone").length >= 0 && living(cluster).length === 2,
    );
  });

  test("of an emptied folder when the folder goes too, and of an emptied file when that does", async (context) => {
    const folder = await makeWorkspace(context, { "sub/a.yaml": [key("one")], "b.yaml": [key("two")], ...other });
    const cluster = await folder.open();
    await folder.remove("sub/a.yaml");
    await folder.writeInto("b.yaml");
    await until("both are held", async () => (await folder.held()).length === 2);
    await folder.remove("b.yaml");
    await until("the end of the second", () => !isThere(cluster, "two"));
    folder.pass(HOUR);
    await rmdir(join(folder.manifests, "sub"));
    await until("it is said", () => cluster.said("what does not come back").length > 0);
    expect(isThere(cluster, "one")).toBe(true);
    folder.pass(30_000);
    await until("the end of the first", () => !isThere(cluster, "one"));
    expect(living(cluster)).toEqual(["other"]);
    await until("nothing is held", async () => (await folder.held()).length === 0);
  });

  test("of a folder that cannot be put back when it is declared elsewhere, and ended there", async (context) => {
    const folder = await makeWorkspace(context, { "sub/a.yaml": [key("one")], ...other });
    const cluster = await folder.open();
    await rm(join(folder.manifests, "sub"), { recursive: true });
    await writeFile(join(folder.manifests, "sub"), "");
    await until("it is held", async () => (await folder.held()).length === 1);
    await folder.write("end.yaml", key("one", "preset: MCPReadOnly\n  state: Revoked"));
    await until("it counts", () => cluster.get("PlatformKey", "dev", "one")?.spec.state === "Revoked");
    await until("nothing is held", async () => (await folder.held()).length === 0);
  });

  test.for([3, 12])(
    "not at all where another file declares the same, and no end is reported: %i keys",
    async (count, context) => {
      const keys = Array.from({ length: count }, (_, i) => key(`key-${i}`));
      const folder = await makeWorkspace(context, { "from.yaml": keys, ...other });
      const cluster = await folder.open();
      const uids = cluster.uids("PlatformKey").toSorted();
      await folder.write("to.yaml", ...keys);
      await until("it is said", () => cluster.said("to.yaml:3").length > 0);
      await folder.remove("from.yaml");
      const origins = () => readFile(join(folder.data, "origins.json"), "utf8");
      const isSaid = () => cluster.said("gone from").length > 0;
      await until(
        "the other file counts, or an end is said",
        async () => isSaid() || !(await origins()).includes("from.yaml"),
      );
      expect(isSaid()).toBe(false);
      await passAnHour(folder, cluster);
      expect(cluster.uids("PlatformKey").toSorted()).toEqual(uids);
    },
  );

  test("not at all while it moves: to another file, with its file, with its folder", async (context) => {
    const folder = await makeWorkspace(context, { "sub/a.yaml": [key("one"), key("two")], ...other });
    const at = (path: string) => join(folder.manifests, path);
    const cluster = await folder.open();
    const uids = cluster.uids("PlatformKey").toSorted();
    await rename(at("sub/a.yaml"), at("sub/b.yaml"));
    await rename(at("sub"), at("next"));
    await folder.write("c.yaml", key("two", "preset: MCPReadWrite"));
    await folder.write("next/b.yaml", key("one"));
    await until("the other file counts", () => cluster.get("PlatformKey", "dev", "two")?.generation === 2);
    await passAnHour(folder, cluster);
    expect(cluster.uids("PlatformKey").toSorted()).toEqual(uids);
  });
});
