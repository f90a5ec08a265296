import {
  chmodSync,
  chownSync,
  closeSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { distrustOf } from "../../runtime/distrust.ts";

const ME = process.geteuid?.() ?? 0;
const isRoot = ME === 0;
const OTHER = 54_321;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-distrust-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function makeFolder(name: string, mode: number, uid = ME): string {
  const path = join(folder, name);
  mkdirSync(path);
  chmodSync(path, mode);
  if (uid !== ME) chownSync(path, uid, uid);
  return path;
}

function makeLink(name: string, target: string): string {
  symlinkSync(target, join(folder, name));
  return join(folder, name);
}

function make(name: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, "x");
  chmodSync(path, mode);
  return path;
}

test("b327: a file that this user alone can change is taken, also one that others can read; a folder and a device are none", () => {
  for (const mode of [0o400, 0o600, 0o644, 0o664, 0o755]) expect(distrustOf(make("file", mode))).toBeUndefined();
  chmodSync(folder, 0o770);
  expect(distrustOf(make("file", 0o600))).toBeUndefined();
  for (const path of [folder, join(folder, "nothing"), "/dev/null"]) expect(distrustOf(path)).toBeUndefined();
});

test("b327: a file that every user can write is refused, also through a link, and where it is root's", () => {
  const open = make("open", 0o646);
  symlinkSync(open, join(folder, "link"));
  const refused = { why: "every user of this machine can change it", isRefused: true };
  expect([distrustOf(open), distrustOf(join(folder, "link"))]).toEqual([refused, refused]);
  if (isRoot) expect(distrustOf(open, OTHER)).toEqual(refused);
});

test("b327: another user's file is refused, but to root, which reads what others mount", () => {
  const path = make("file", 0o644);
  if (isRoot) chownSync(path, OTHER, OTHER);
  const uid = isRoot ? OTHER : ME;
  const why = `it belongs to another user (uid ${uid}), who can change it`;
  expect(distrustOf(path, uid + 1)).toEqual({ why, isRefused: true });
  if (isRoot) expect(distrustOf(path, 0)).toEqual({ why, isRefused: false });
});

test.runIf(isRoot)(
  "b327: a Secret or ConfigMap that Kubernetes mounts is taken by whichever user a pod runs as",
  () => {
    // Its files are links to those of a version, all of them root's.
    mkdirSync(join(folder, "..2026_11_27"));
    make("..2026_11_27/prices.yaml", 0o644);
    symlinkSync("..2026_11_27", join(folder, "..data"));
    symlinkSync("..data/prices.yaml", join(folder, "prices.yaml"));
    expect(distrustOf(join(folder, "prices.yaml"), 1_000_680_000)).toBeUndefined();
  },
);

test("b327: a file in a folder that every user can write is refused, but in one such as /tmp", () => {
  for (const [name, mode] of [
    ["above", 0o777],
    ["above/folder", 0o755],
  ] as const)
    makeFolder(name, mode);
  const why = `every user of this machine can exchange it, in ${join(folder, "above")}`;
  for (const path of [make("above/file", 0o600), make("above/folder/file", 0o600)]) {
    expect(distrustOf(path)).toEqual({ why, isRefused: true });
    expect(distrustOf(relative(process.cwd(), path))).toEqual({ why, isRefused: true });
    expect(distrustOf(path, undefined, false)).toBeUndefined();
  }
  chmodSync(join(folder, "above"), 0o1777);
  expect(distrustOf(join(folder, "above/folder/file"))).toBeUndefined();
});

test.runIf(isRoot)("b327: a file in another user's folder is refused, but to root", () => {
  chmodSync(folder, 0o755);
  chownSync(folder, OTHER + 1, OTHER + 1);
  makeFolder("theirs", 0o755, OTHER);
  const path = make("theirs/file", 0o644);
  const why = `its folder ${join(folder, "theirs")} belongs to another user (uid ${OTHER}), who can exchange it`;
  expect(distrustOf(path, OTHER + 1)).toEqual({ why, isRefused: true });
  expect(distrustOf(path, 0)).toEqual({ why, isRefused: false });
  expect(distrustOf(path, OTHER)?.why).toContain(`${folder} belongs to another user`);
});

test("b327: each link on the way to a file is looked at, and where it stands, as is the file's own place", () => {
  const file = make("file", 0o600);
  const open = makeFolder("open", 0o777);
  makeFolder("mine", 0o700);
  make("open/file", 0o600);
  const refused = { why: `every user of this machine can exchange it, in ${open}`, isRefused: true };
  for (const path of [
    makeLink("open/to-mine", file),
    makeLink("to-open", "open/file"),
    makeLink("over-open", "open/to-mine"),
    join(makeLink("to-folder", "open"), "file"),
    join(makeLink("open/to-here", folder), "file"),
    join(makeLink("to-here", "open/to-here"), "file"),
  ]) {
    expect([path, distrustOf(path)]).toEqual([path, refused]);
  }
  // As the system reads it: what is above the folder that the link leads to.
  expect(distrustOf(`${makeLink("mine/up", "../open")}/../file`)).toBeUndefined();
  expect(distrustOf(`${makeLink("mine/down", "../open")}/../open/file`)).toEqual(refused);
});

test.runIf(isRoot)("b327: another user's link in a folder that users share is refused", () => {
  chmodSync(folder, 0o1777);
  const link = makeLink("link", make("file", 0o644));
  lchownSync(link, OTHER, OTHER);
  expect(distrustOf(link, OTHER + 1)?.isRefused).toBe(true);
  expect(distrustOf(link, OTHER)).toBeUndefined();
});

test("b327: what is given as a descriptor is taken where its file is removed by now", () => {
  const path = make("file", 0o600);
  const input = openSync(path, "r");
  rmSync(path);
  expect(distrustOf(`/dev/fd/${input}`)).toBeUndefined();
  closeSync(input);
});
