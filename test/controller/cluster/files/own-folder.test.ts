import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, chown, lstat, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { openFilesCluster } from "../../../../controller/cluster/files/cluster.ts";
import { closeOwnFolder } from "../../../../controller/cluster/files/own-folder.ts";
import { makeFolder } from "./harness.ts";

/** Root gives files to another user, and is one for a moment. */
const isRoot = process.geteuid?.() === 0;
const OTHER = 54_321;

let data: string;
let warnings: string[];
beforeEach(async (context) => {
  data = join(await makeFolder(context), "data");
  warnings = [];
  await mkdir(data);
});

/** Makes something in the folder, of this user. */
async function make(name: string, mode: number, isFolder = false): Promise<string> {
  const path = join(data, name);
  await (isFolder ? mkdir(path) : writeFile(path, "x"));
  await chmod(path, mode);
  return path;
}

const close = (me?: number) => closeOwnFolder(data, (message) => warnings.push(message), me);
const modeOf = async (path: string) => (await lstat(path)).mode & 0o7777;

test("b455: nothing of a data folder in a Git repository is added to it", async () => {
  const [git, manifests] = [(...args: string[]) => execFileSync("git", args, { cwd: data }), `${data}-manifests`];
  git("init", "--quiet");
  await mkdir(manifests);
  const inGit = join(data, "below");
  await mkdir(inGit);
  for (let opened = 0; opened < 2; opened++) {
    const clock = { now: Date.now, monotonic: () => performance.now() };
    const cluster = await openFilesCluster({
      ...{ manifests, data: inGit, clock, randomUuid: randomUUID },
      log: () => {},
    });
    await cluster.close();
  }
  expect(String(git("status", "--porcelain", "--untracked-files=all"))).toBe("");
});

test("b326: a data folder is closed, with what is in it, however it was found", async () => {
  await chmod(data, 0o777);
  const folders = [await make("db", 0o755, true), await make("secrets", 0o777, true)];
  const files = [await make("bootstrap-token", 0o644), await make("secrets/planted", 0o666)];
  await symlink("/etc/passwd", join(data, "link"));
  const linked = await modeOf("/etc/passwd");
  await close();
  for (const path of [data, ...folders]) expect([path, await modeOf(path)]).toEqual([path, 0o700]);
  for (const path of files) expect([path, await modeOf(path)]).toEqual([path, 0o600]);
  expect([await modeOf("/etc/passwd"), warnings]).toEqual([linked, []]);
});

test("b326: a data folder of another user is refused, for root too, and left as it is", async () => {
  await chmod(data, 0o777);
  if (isRoot) await chown(data, OTHER, OTHER);
  const refused = expect(close(isRoot ? 0 : OTHER)).rejects;
  await refused.toThrow(/data belongs to another user \(uid \d+\), who can put a token .* choose another --data/);
  expect(await modeOf(data)).toBe(0o777);
});

test.runIf(isRoot).each(["bootstrap-token", "encryption-key", "secrets", "secrets/dev"])(
  "b326: %s of another user in a data folder is refused, for root too",
  async (name) => {
    await make("secrets", 0o777, true);
    const path = name === "secrets" ? join(data, name) : await make(name, 0o600);
    await chown(path, OTHER, OTHER);
    await expect(close()).rejects.toThrow(`${path} belongs to another user (uid ${OTHER}): move it away`);
  },
);

test.runIf(isRoot).each([
  ["secrets/dev/openai/api-key", 0o755],
  ["secrets/dev/openai/api-key", 0o700],
  ["secrets/dev/openai", 0o700],
  ["objects/dev/PlatformKey/agent.json", 0o755],
  ["webhooks/dev", 0o711],
])("b326: another user's %s is refused in folders of mode %o too", async (name, mode) => {
  const parts = name.split("/");
  for (const depth of parts.keys()) if (depth > 0) await make(parts.slice(0, depth).join("/"), mode, true);
  const path = await make(name, 0o600);
  await chown(path, OTHER, OTHER);
  await expect(close()).rejects.toThrow(`${path} belongs to another user (uid ${OTHER}): move it away`);
});

test.runIf(isRoot)("b326: what only root can list is left to root, such as a disk's lost+found", async () => {
  for (const path of [dirname(data), data]) await chown(path, OTHER, OTHER);
  await make("lost+found", 0o700, true);
  await make("lost+found/file", 0o600);
  await asUser(close);
  expect(await modeOf(data)).toBe(0o700);
});

test.runIf(isRoot).each<[mode: number, group: number, says: RegExp | undefined]>([
  [0o777, 0, /data can be written by others on this machine, and this user cannot close it: choose another --data/],
  [0o1777, 0, /choose another --data/],
  [0o775, OTHER, /choose another --data/],
  [0o755, 0, undefined],
])("b326: of a folder of root's with mode %o, a user takes what no one else can write", async (mode, group, says) => {
  await chmod(dirname(data), 0o755);
  await chown(data, 0, group);
  await chmod(data, mode);
  const said = await asUser(() => close().then(() => undefined, String));
  expect(said).toEqual(says === undefined ? undefined : expect.stringMatching(says));
});

/** Runs with the rights of another user: files see the effective one alone. */
async function asUser<T>(body: () => Promise<T>): Promise<T> {
  process.seteuid?.(OTHER);
  try {
    return await body();
  } finally {
    process.seteuid?.(0);
  }
}
