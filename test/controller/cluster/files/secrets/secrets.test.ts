import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SecretDraft } from "../../../../../controller/cluster/port.ts";
import { examples } from "../../../../env/nightly.ts";
import { until } from "../../../../env/until.ts";
import { key, makeWorkspace, secret, type Workspace } from "../harness.ts";

const draft = (data: Record<string, string> = { "api-key": "value-1" }, name = "reader"): SecretDraft => ({
  namespace: "dev",
  name,
  data,
  labels: { "keyplane.dev/key": "reader" },
  annotations: { "keyplane.dev/key-version": "1" },
  owner: { apiVersion: "keyplane.dev/v1beta1", uid: "owner-1", name: "reader", byReference: true },
});

const folderOf = ({ data }: Workspace) => join(data, "secrets", "dev", "reader");

/** Every file below a folder with its content. */
async function contentsOf(root: string): Promise<[string, string][]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (file): Promise<[string, string]> => [file, await readFile(file, "latin1")]));
}

describe("a Secret in DATA", () => {
  it("is created once, with its data as files, and is read as it was written", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const created = await cluster.createSecret(draft());
    expect(await readFile(join(folderOf(folder), "api-key"), "utf8")).toBe("value-1");
    expect(await cluster.readSecret("dev", "reader")).toEqual(created);
    expect(created).toMatchObject(draft());
    await expect(cluster.createSecret(draft({ "api-key": "value-2" }))).rejects.toMatchObject({
      code: "AlreadyExists",
    });
    expect(await readFile(join(folderOf(folder), "api-key"), "utf8")).toBe("value-1");
  });

  it("appears and goes as a whole: no reader sees some of its data keys without the others", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    let working = true;
    const churn = async () => {
      for (let i = 0; i < examples(5); i++)
        await cluster.deleteSecret(await cluster.createSecret(draft({ a: "1", b: "2", c: "3" })));
      working = false;
    };
    const churning = churn();
    const seen = new Set<string>();
    // An inode's number is given again to another folder.
    const identity = () =>
      stat(folderOf(folder), { bigint: true }).then(
        ({ ino, ctimeNs }) => `${ino}:${ctimeNs}`,
        () => undefined,
      );
    while (working) {
      const before = await identity();
      const entries = await readdir(folderOf(folder)).catch(() => []);
      if (before !== undefined && before === (await identity())) seen.add(entries.sort().join());
    }
    await churning;
    expect([...seen]).toEqual(["a,b,c"]);
  });

  it("is closed to others: files 0600, folders 0700, also where they were open", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
    await mkdir(join(folder.data, "secrets/dev"), { recursive: true });
    await chmod(join(folder.data, "secrets"), 0o755);
    await chmod(join(folder.data, "secrets/dev"), 0o755);
    const cluster = await folder.open();
    await cluster.replaceSecret(await cluster.createSecret(draft()), draft({ "api-key": "value-2", more: "x" }));
    const entries = await readdir(folder.data, { recursive: true, withFileTypes: true });
    expect(entries.length).toBeGreaterThan(10);
    for (const entry of entries) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      if (entry.isDirectory()) expect([entry.name, mode & 0o777]).toEqual([entry.name, 0o700]);
      else if (entry.parentPath.includes("secrets")) expect([entry.name, mode & 0o777]).toEqual([entry.name, 0o600]);
    }
    expect((await stat(folder.data)).mode & 0o777).toBe(0o700);
  });

  it("is replaced only while it is what was read: a person's edit makes the write a conflict", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const created = await cluster.createSecret(draft());
    const replaced = await cluster.replaceSecret(created, draft({ "api-key": "value-2" }));
    expect(replaced.uid).toBe(created.uid);
    await expect(cluster.replaceSecret(created, draft({ "api-key": "value-3" }))).rejects.toMatchObject({
      code: "Conflict",
    });
    await writeFile(join(folderOf(folder), "api-key"), "value-X");
    await expect(cluster.replaceSecret(replaced, draft({ "api-key": "value-3" }))).rejects.toMatchObject({
      code: "Conflict",
    });
    await expect(cluster.deleteSecret(replaced)).rejects.toMatchObject({ code: "Conflict" });
    const edited = await cluster.readSecret("dev", "reader");
    expect(edited).toMatchObject({ uid: created.uid, data: { "api-key": "value-X" }, owner: { uid: "owner-1" } });
  });

  it("has exactly the data keys of its last replacement, and its folder stays the same for who holds it open", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const created = await cluster.createSecret(draft({ "api-key": "value-1", "old.env": "x" }));
    const { ino } = await stat(folderOf(folder));
    await cluster.replaceSecret(created, draft({ "api-key": "value-2", "mcp.json": "{}" }));
    expect((await readdir(folderOf(folder))).sort()).toEqual(["api-key", "mcp.json"]);
    expect((await stat(folderOf(folder))).ino).toBe(ino);
  });

  it("leaves its files alone when only labels, annotations or the owner change", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const created = await cluster.createSecret(draft());
    const before = await stat(join(folderOf(folder), "api-key"), { bigint: true });
    const orphaned = await cluster.replaceSecret(created, { ...draft(), owner: null });
    const after = await stat(join(folderOf(folder), "api-key"), { bigint: true });
    expect([after.ino, after.ctimeNs]).toEqual([before.ino, before.ctimeNs]);
    expect(orphaned.resourceVersion).not.toBe(created.resourceVersion);
    expect((await cluster.readSecret("dev", "reader"))?.owner).toBeNull();
  });

  it("is gone when its data is gone, can be made again, and the old one can no longer be written", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const created = await cluster.createSecret(draft());
    await rm(join(folderOf(folder), "api-key"));
    expect(await cluster.readSecret("dev", "reader")).toBeUndefined();
    await expect(cluster.replaceSecret(created, draft())).rejects.toMatchObject({ code: "NotFound" });
    await cluster.deleteSecret(created);
    const again = await cluster.createSecret(draft({ "api-key": "value-2" }));
    expect(again.uid).not.toBe(created.uid);
    await expect(cluster.replaceSecret(created, draft())).rejects.toMatchObject({ code: "Conflict" });
    await rm(folderOf(folder), { recursive: true });
    expect(await cluster.readSecret("dev", "reader")).toBeUndefined();
  });

  it("lacks a data key whose file is lost, beside others that are there", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    await cluster.createSecret(draft({ "api-key": "value-1", "mcp.json": "{}" }));
    await rm(join(folderOf(folder), "api-key"));
    const left = await cluster.readSecret("dev", "reader");
    expect(left).toMatchObject({ owner: { uid: "owner-1" }, data: { "mcp.json": "{}" } });
    expect(left?.data["api-key"]).toBeUndefined();
  });

  it("is deleted with its folder and everything that is known of it", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const created = await cluster.createSecret(draft());
    await cluster.deleteSecret(created);
    await cluster.deleteSecret(created);
    expect(await readdir(join(folder.data, "secrets/dev"))).toEqual([]);
    expect(await readdir(join(folder.data, "secret-metadata/dev"))).toEqual([]);
  });

  it("is announced when a person edits, removes or adds it, and no other is with it", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    await cluster.createSecret(draft());
    await cluster.createSecret(draft(undefined, "other"));
    const change = { of: "secret", namespace: "dev", name: "reader" };
    const announced = async (act: () => Promise<unknown>) => {
      cluster.changes.length = 0;
      await act();
      await until("the change", () => cluster.changes.some((one) => JSON.stringify(one) === JSON.stringify(change)));
    };
    await until("our own writing", () => new Set(cluster.changes.map((one) => one.name)).size === 2);
    await announced(() => writeFile(join(folderOf(folder), "api-key"), "edited"));
    await announced(() => rm(join(folderOf(folder), "api-key")));
    await announced(() => writeFile(join(folderOf(folder), "api-key"), "planted"));
    await announced(() => rm(folderOf(folder), { recursive: true }));
    expect(cluster.changes).not.toContainEqual({ ...change, name: "other" });
  });

  it("keeps its plaintext within DATA/secrets", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const created = await cluster.createSecret(draft({ "api-key": "canary-one" }));
    await cluster.replaceSecret(created, draft({ "api-key": "canary-two" }));
    const holding = (await contentsOf(folder.data)).filter(([, content]) => content.includes("canary"));
    expect(holding).toEqual([[join(folderOf(folder), "api-key"), "canary-two"]]);
  });
});

describe("a Secret that is not ours", () => {
  it("b68: a folder that a person made is read as theirs, and never adopted, written to or deleted", async (context) => {
    const folder = await makeWorkspace(context);
    await mkdir(folderOf(folder), { recursive: true });
    await writeFile(join(folderOf(folder), "api-key"), "planted");
    const cluster = await folder.open();
    const found = await cluster.readSecret("dev", "reader");
    expect(found).toMatchObject({ owner: null, data: { "api-key": "planted" } });
    await expect(cluster.createSecret(draft())).rejects.toMatchObject({ code: "AlreadyExists" });
    if (found === undefined) throw new Error("unreachable");
    await expect(cluster.replaceSecret(found, draft())).rejects.toMatchObject({ code: "Forbidden" });
    await cluster.deleteSecret(found).catch(() => {});
    expect(await cluster.readSecret("dev", "reader")).toEqual(found);
    expect(await readdir(folderOf(folder))).toEqual(["api-key"]);
    expect(await readFile(join(folderOf(folder), "api-key"), "utf8")).toBe("planted");
  });

  it("b68: what a person puts in the place of one of ours that is gone is theirs", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    await cluster.createSecret(draft());
    await rm(folderOf(folder), { recursive: true });
    expect(await cluster.readSecret("dev", "reader")).toBeUndefined();
    await mkdir(folderOf(folder));
    await writeFile(join(folderOf(folder), "api-key"), "planted");
    expect(await cluster.readSecret("dev", "reader")).toMatchObject({ owner: null, uid: "" });
    await expect(cluster.createSecret(draft())).rejects.toMatchObject({ code: "AlreadyExists" });
  });

  it("b68: links and files in the place of folders are never followed or written through", async (context) => {
    const folder = await makeWorkspace(context);
    const elsewhere = join(folder.manifests, "elsewhere");
    await mkdir(join(elsewhere, "reader"), { recursive: true });
    await writeFile(join(elsewhere, "reader/api-key"), "outside");
    await mkdir(join(folder.data, "secrets/dev"), { recursive: true });
    await symlink(elsewhere, join(folder.data, "secrets/linked"));
    await symlink(join(elsewhere, "reader"), join(folder.data, "secrets/dev/reader"));
    await writeFile(join(folder.data, "secrets/dev/file"), "");
    const cluster = await folder.open();
    for (const [namespace, name] of [
      ["linked", "reader"],
      ["linked", "new"],
      ["dev", "reader"],
      ["dev", "file"],
    ] as const) {
      expect((await cluster.readSecret(namespace, name))?.data ?? {}).toEqual({});
      await expect(cluster.createSecret({ ...draft(), namespace, name })).rejects.toMatchObject({
        code: "AlreadyExists",
      });
    }
    expect(await contentsOf(elsewhere)).toEqual([[join(elsewhere, "reader/api-key"), "outside"]]);
  });

  it("never has our value written through a link that took a data file's place", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    await cluster.createSecret(draft());
    const outside = join(folder.manifests, "outside");
    await writeFile(outside, "untouched");
    await rm(join(folderOf(folder), "api-key"));
    await symlink(outside, join(folderOf(folder), "api-key"));
    const linked = await cluster.readSecret("dev", "reader");
    expect(linked?.owner).toEqual({
      apiVersion: "keyplane.dev/v1beta1",
      uid: "owner-1",
      name: "reader",
      byReference: true,
    });
    expect(linked?.data).toEqual({});
    if (linked === undefined) throw new Error("unreachable");
    await cluster.replaceSecret(linked, draft({ "api-key": "value-2" }));
    expect(await readFile(outside, "utf8")).toBe("untouched");
    expect(await readFile(join(folderOf(folder), "api-key"), "utf8")).toBe("value-2");
  });

  it("is read up to 1 MiB, whatever a person put there", async (context) => {
    const folder = await makeWorkspace(context);
    await mkdir(join(folderOf(folder), "sub"), { recursive: true });
    await writeFile(join(folderOf(folder), "big"), "x".repeat(2 ** 20 + 1));
    await writeFile(join(folderOf(folder), "small"), "y");
    const cluster = await folder.open();
    expect((await cluster.readSecret("dev", "reader"))?.data).toEqual({ small: "y" });
  });

  it("can be a `Secret` manifest, which is followed, and whose value reaches neither DATA nor the log", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [secret("provider", "canary-1")] });
    const cluster = await folder.open();
    expect(await cluster.readSecret("dev", "provider")).toMatchObject({ owner: null, data: { "api-key": "canary-1" } });
    await expect(cluster.createSecret(draft(undefined, "provider"))).rejects.toMatchObject({ code: "AlreadyExists" });
    await folder.write("a.yaml", secret("provider", "canary-2"));
    const change = { of: "secret", namespace: "dev", name: "provider" };
    await until("the change", () => cluster.changes.some((one) => JSON.stringify(one) === JSON.stringify(change)));
    expect((await cluster.readSecret("dev", "provider"))?.data).toEqual({ "api-key": "canary-2" });
    await folder.write(
      "a.yaml",
      secret("provider", "[canary-3"),
      "kind: Secret\nstringData: { api-key: [canary-4] }\n",
    );
    await until("the fault", () => cluster.said("a.yaml").length > 0);
    expect((await cluster.readSecret("dev", "provider"))?.data).toEqual({ "api-key": "canary-2" });
    expect((await contentsOf(folder.data)).filter(([, content]) => content.includes("canary"))).toEqual([]);
    expect(JSON.stringify(cluster.log)).not.toContain("canary");
  });

  it("b67: a name that would lead out of DATA is refused", async (context) => {
    const cluster = await (await makeWorkspace(context)).open();
    for (const name of ["../x", "..", ".", "a/b", "", "A", ".staging"]) {
      await expect(cluster.readSecret("dev", name)).rejects.toThrow("is no name");
      await expect(cluster.readSecret(name, "reader")).rejects.toThrow("is no namespace");
      await expect(cluster.createSecret({ ...draft(), name })).rejects.toThrow("is no name");
    }
    await expect(cluster.createSecret(draft({ "../x": "v" }))).rejects.toThrow();
    expect(await cluster.readSecret("dev", "reader")).toBeUndefined();
  });
});

describe("what a folder of manifests cannot do", () => {
  it("restart a workload, which it says once for each", async (context) => {
    const cluster = await (await makeWorkspace(context)).open();
    const annotation = { name: "keyplane.dev/version", value: "2" };
    for (let i = 0; i < 3; i++)
      await cluster.restartWorkload("dev", { kind: "Deployment", name: "docs-agent" }, annotation);
    expect(cluster.said("Deployment dev/docs-agent is not restarted")).toHaveLength(1);
  });
});
