/** A `Secret` manifest that cannot be seen when its reader starts anew: what was in it is not known, and not gone. */
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import { until } from "../../../../env/until.ts";
import { key, makeWorkspace, type OpenCluster, secret, type Workspace } from "../harness.ts";

const FILE = "sub/provider.yaml";
const PROVIDER = secret("provider", "sk-first");

const makeFolder = (context: TestContext) =>
  makeWorkspace(context, { [FILE]: [PROVIDER], "other.yaml": [key("other")] });
const read = async (cluster: OpenCluster) => (await cluster.readSecret("dev", "provider"))?.data;
const isUnreadable = (cluster: OpenCluster) =>
  cluster.readSecret("dev", "provider").then(
    () => false,
    (error: { code?: string }) => error.code === "Forbidden",
  );
const isAnnounced = ({ changes }: OpenCluster) =>
  changes.some((change) => change.of === "secret" && change.name === "provider");

/** Waits until the folder has been looked at once more. */
async function lookAgain(folder: Workspace, cluster: OpenCluster, marker: string): Promise<void> {
  folder.pass(3_600_000);
  await folder.write("marker.yaml", key(marker));
  await until("a look", () => cluster.get("PlatformKey", "dev", marker));
  folder.pass(3_600_000);
}

const LOSSES: readonly (readonly [string, (at: (path: string) => string) => Promise<void>, string])[] = [
  ["its file is empty", (at) => writeFile(at(FILE), ""), `${FILE} is empty`],
  ["its file is cut off", (at) => writeFile(at(FILE), "apiVersion: v1\nki"), "may hide them"],
  ["it has a fault", (at) => writeFile(at(FILE), PROVIDER.replace("sk-first", "[]")), ""],
  ["its folder is empty", (at) => rm(at(FILE)), "the folder sub is empty"],
  ["another file declares it, too", (at) => writeFile(at(FILE), `${PROVIDER}---\n${secret("provider", "b")}`), ""],
];

describe.concurrent("c49: a Secret that cannot be seen at a start cannot be read, and is not gone:", () => {
  test.for(LOSSES)("%s", async ([, lose, why], context) => {
    const folder = await makeFolder(context);
    const first = await folder.open();
    expect(await read(first)).toEqual({ "api-key": "sk-first" });
    await first.close();
    await lose((path) => join(folder.manifests, path));

    const again = await folder.open();
    expect(await isUnreadable(again)).toBe(true);
    await lookAgain(folder, again, "marker");
    await until("what is held is said", async () =>
      why === "" ? true : (await folder.held()).some(({ kind, why: said }) => kind === "Secret" && said.includes(why)),
    );
    expect(await isUnreadable(again)).toBe(true);
    await again.close();

    const third = await folder.open();
    expect(await isUnreadable(third)).toBe(true);
    await folder.write(FILE, secret("provider", "sk-next"));
    await until("it is announced", () => isAnnounced(third));
    expect(await read(third)).toEqual({ "api-key": "sk-next" });
    await until("nothing is held", async () => !(await folder.held()).some(({ kind }) => kind === "Secret"));
  });
});

test("c49: a Secret cannot be read, and is not gone, when its manifests are not mounted at a start", async (context) => {
  const folder = await makeFolder(context);
  await (await folder.open()).close();
  await rename(folder.manifests, `${folder.manifests}-away`);
  await mkdir(folder.manifests);
  const again = await folder.open();
  folder.pass(3_600_000);
  await until("it is held", async () => (await folder.held()).some(({ kind }) => kind === "Secret"));
  expect(await isUnreadable(again)).toBe(true);
  await rename(`${folder.manifests}-away/sub`, join(folder.manifests, "sub"));
  await until("it is announced", () => isAnnounced(again));
  expect(await read(again)).toEqual({ "api-key": "sk-first" });
});

describe.concurrent("a Secret whose file was deleted while nothing ran", () => {
  test("is gone once that is believed, which is announced, and stays so", async (context) => {
    const folder = await makeWorkspace(context, { "provider.yaml": [PROVIDER], "other.yaml": [key("other")] });
    await (await folder.open()).close();
    await folder.remove("provider.yaml");
    const again = await folder.open();
    expect(await isUnreadable(again)).toBe(true);
    folder.pass(2_000);
    await until("its end", async () => isAnnounced(again) && (await read(again)) === undefined);
    await again.close();
    expect(await read(await folder.open())).toBeUndefined();
  });

  test("is that of the file that declared it in vain, once that counts", async (context) => {
    const folder = await makeWorkspace(context, { "provider.yaml": [PROVIDER], "other.yaml": [key("other")] });
    const first = await folder.open();
    await folder.write("z.yaml", secret("provider", "sk-second"));
    await until("it is said", () => first.said("z.yaml:3").length > 0);
    await first.close();
    await folder.remove("provider.yaml");
    const again = await folder.open();
    expect(await isUnreadable(again)).toBe(true);
    folder.pass(2_000);
    await until("it counts", () => isAnnounced(again));
    expect(await read(again)).toEqual({ "api-key": "sk-second" });
  });
});

test("a Secret that was never declared without a fault is none, also after a restart", async (context) => {
  const folder = await makeWorkspace(context, {
    "a.yaml": [PROVIDER.replace("sk-first", "[]")],
    "other.yaml": [key("other")],
  });
  for (const _ of ["first", "again"]) {
    const cluster = await folder.open();
    expect(await read(cluster)).toBeUndefined();
    await cluster.close();
  }
});
