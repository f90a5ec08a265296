import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

function make(name: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, "x");
  chmodSync(path, mode);
  return path;
}

test("b327: a file that this user alone can change is taken, also one that others can read; a folder and a device are none", () => {
  for (const mode of [0o400, 0o600, 0o644, 0o664, 0o755]) expect(distrustOf(make("file", mode))).toBeUndefined();
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
