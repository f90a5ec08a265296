/** The owner of DATA may put a link where a folder of ours was: what is behind it is not ours. */
import { renameSync, rmSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import type { SecretDraft } from "../../../../controller/cluster/port.ts";
import { until } from "../../../env/until.ts";
import { key, makeFolder, makeWorkspace, secret } from "./harness.ts";

const draft = (value = "value-1", name = "reader"): SecretDraft => ({
  namespace: "dev",
  name,
  data: { "api-key": value },
  labels: {},
  annotations: {},
  owner: { apiVersion: "keyplane.dev/v1beta1", uid: "owner-1", name, byReference: true },
});

/** A folder that is not ours, with something at every place where a write or a removal of ours could do harm. */
async function makePrecious(context: TestContext) {
  const folder = await realpath(await makeFolder(context));
  const files = ["thesis.txt", "api-key", "reader/api-key", "dev/reader/api-key", "photos/a.jpg", ".staging/draft"];
  files.push("PlatformKey/reader.json", "dev/PlatformKey/reader.json", "dev/reader.json", "reader.json");
  for (const file of files) {
    await mkdir(join(folder, file, ".."), { recursive: true });
    await writeFile(join(folder, file), "years of work");
  }
  const contents = async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return Promise.all(found.sort().map(async (file) => [file, await readFile(file, "utf8")]));
  };
  const before = await contents();
  return { folder, isUntouched: async () => expect(await contents()).toEqual(before) };
}

const PLACES = ["secrets/dev/reader", "secrets/dev", "secrets"];

describe.concurrent("b68: a link in the place of a Secret's folder", () => {
  it.for(PLACES)(
    "at DATA/%s makes it another's: nothing behind it is read, written or deleted",
    async (place, context) => {
      const folder = await makeWorkspace(context);
      const cluster = await folder.open();
      const created = await cluster.createSecret(draft());
      const precious = await makePrecious(context);
      await rename(join(folder.data, place), `${join(folder.data, place)}-before`);
      await symlink(precious.folder, join(folder.data, place));

      await expect(cluster.replaceSecret(created, draft("value-2"))).rejects.toMatchObject({ code: "Conflict" });
      await cluster.deleteSecret(created);
      expect(await cluster.readSecret("dev", "reader")).toMatchObject({ owner: null, uid: "", data: {} });
      await expect(cluster.createSecret(draft("value-3"))).rejects.toMatchObject({ code: "AlreadyExists" });
      await precious.isUntouched();
      expect((await lstat(join(folder.data, place))).isSymbolicLink()).toBe(true);
    },
  );

  it.for(PLACES)(
    "at DATA/%s is found at a start, which goes on without touching what is behind it",
    async (place, context) => {
      const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
      const precious = await makePrecious(context);
      await mkdir(join(folder.data, place, ".."), { recursive: true });
      await symlink(precious.folder, join(folder.data, place));
      const cluster = await folder.open();
      expect(cluster.get("PlatformKey", "dev", "reader")).toBeDefined();
      expect(await cluster.readSecret("dev", "reader")).toMatchObject({ owner: null, uid: "", data: {} });
      await expect(cluster.createSecret(draft())).rejects.toMatchObject({ code: "AlreadyExists" });
      await precious.isUntouched();

      cluster.changes.length = 0;
      await rm(join(folder.data, place));
      await until("the removal of the link is announced", () => cluster.changes.some(({ of }) => of === "secret"));
      await cluster.createSecret(draft());
      expect(await readFile(join(folder.data, "secrets/dev/reader/api-key"), "utf8")).toBe("value-1");
    },
  );

  it("above it hides what is ours, which is ours again with its folder", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const created = await cluster.createSecret(draft());
    const place = join(folder.data, "secrets/dev");
    await rename(place, `${place}-before`);
    await symlink(`${place}-before`, place);
    expect(await cluster.readSecret("dev", "reader")).toMatchObject({ owner: null, data: {} });
    await rm(place);
    await rename(`${place}-before`, place);
    expect(await cluster.readSecret("dev", "reader")).toEqual(created);
  });

  it("leaves a replacement that a crash interrupted undone, and does not bring it back later", async (context) => {
    const folder = await makeWorkspace(context);
    const first = await folder.open();
    await first.createSecret(draft());
    await first.close();
    const committed = join(folder.data, "secrets/.committed/dev.reader");
    await mkdir(committed);
    await writeFile(join(committed, "api-key"), "value-2");
    const precious = await makePrecious(context);
    await rm(join(folder.data, "secrets/dev/reader"), { recursive: true });
    await symlink(precious.folder, join(folder.data, "secrets/dev/reader"));
    const cluster = await folder.open();
    await precious.isUntouched();
    expect(await readdir(join(committed, ".."))).toEqual([]);
    expect(await cluster.readSecret("dev", "reader")).toMatchObject({ owner: null });
  });
});

describe.concurrent("a link within DATA elsewhere", () => {
  it.for(["status", "status/dev", "status/dev/PlatformKey"])(
    "at DATA/%s loses nothing behind it, and holds nothing up",
    async (place, context) => {
      const folder = await makeWorkspace(context, { "a.yaml": [key("reader"), key("goes")] });
      const precious = await makePrecious(context);
      await mkdir(join(folder.data, place, ".."), { recursive: true });
      await symlink(precious.folder, join(folder.data, place));
      const cluster = await folder.open();
      await folder.write("a.yaml", key("reader", "preset: MCPReadWrite"));
      await until("the change", () => cluster.get("PlatformKey", "dev", "reader")?.spec.preset === "MCPReadWrite");
      await until("the removal", () => cluster.get("PlatformKey", "dev", "goes") === undefined);
      await precious.isUntouched();
    },
  );

  it.for(["objects", "objects/dev", "objects/dev/PlatformKey"])(
    "at DATA/%s stops the start, since whose keys are whose would not be known",
    async (place, context) => {
      const folder = await makeWorkspace(context, { "a.yaml": [key("reader")] });
      const precious = await makePrecious(context);
      await mkdir(join(folder.data, place, ".."), { recursive: true });
      await symlink(precious.folder, join(folder.data, place));
      await expect(folder.open()).rejects.toThrow("put a folder in its place");
      await precious.isUntouched();
    },
  );

  it("at DATA/objects/dev is never written or deleted through, and what waits is done once it is gone", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("reader"), key("goes")] });
    const cluster = await folder.open();
    const precious = await makePrecious(context);
    const place = join(folder.data, "objects/dev");
    await rename(place, `${place}-before`);
    await symlink(precious.folder, place);
    await folder.write("a.yaml", key("reader", "preset: MCPReadWrite"));
    await until("the report", () => cluster.said("PlatformKey dev/reader cannot be stored").length > 0);
    await until("the other report", () => cluster.said("PlatformKey dev/goes cannot be removed").length > 0);
    await precious.isUntouched();
    // At once: a folder that is missing is made again.
    rmSync(place);
    renameSync(`${place}-before`, place);
    await until("the change", () => cluster.get("PlatformKey", "dev", "reader")?.generation === 2);
    await until("the removal", () => cluster.get("PlatformKey", "dev", "goes") === undefined);
    expect(cluster.said("cannot be stored")).toHaveLength(1);
  });

  it.for(["secret-metadata", "secret-metadata/dev", "secrets/.staging", "secrets/.committed"])(
    "at DATA/%s is never written through, and no Secret is ours by what is behind it",
    async (place, context) => {
      const folder = await makeWorkspace(context, { "a.yaml": [secret("other", "x")] });
      const cluster = await folder.open();
      const created = await cluster.createSecret(draft());
      const precious = await makePrecious(context);
      await rm(join(folder.data, place), { recursive: true });
      await symlink(precious.folder, join(folder.data, place));
      await expect(cluster.replaceSecret(created, draft("value-2"))).rejects.toThrow();
      await cluster.createSecret(draft("value-1", "second")).catch(() => {});
      await precious.isUntouched();
      expect(await readFile(join(folder.data, "secrets/dev/reader/api-key"), "utf8")).toBe("value-1");
      await cluster.close();
      await folder.open();
      await precious.isUntouched();
    },
  );

  it("in the place of a draft is not written through", async (context) => {
    const folder = await makeWorkspace(context);
    const cluster = await folder.open();
    const precious = await makePrecious(context);
    await mkdir(join(folder.data, "objects/dev/PlatformKey"), { recursive: true });
    await mkdir(join(folder.data, "status/dev/PlatformKey"), { recursive: true });
    for (const draftFile of ["objects", "status"].map((root) => join(folder.data, root, "dev/PlatformKey"))) {
      await symlink(join(precious.folder, "thesis.txt"), join(draftFile, "reader.json.tmp"));
    }
    await folder.write("a.yaml", key("reader"));
    await until("the object", () => cluster.get("PlatformKey", "dev", "reader"));
    await until("its status file", () => folder.shown("PlatformKey", "reader"));
    await precious.isUntouched();
  });
});
