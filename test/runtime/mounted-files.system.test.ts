import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { distrustOf } from "../../runtime/distrust.ts";
import { mountFolder } from "../env/mounted-folder.ts";

const OTHER = 54_321;

// As emptyDir is, on the node's disk and in memory.
test.each(["0777", "1777"])("b327: what another container of a pod writes is taken from a mount of mode %s", (mode) => {
  const path = join(mountFolder(mode), "password");
  writeFileSync(path, "x");
  chownSync(path, OTHER, OTHER);
  expect(distrustOf(path, OTHER + 1)?.isRefused).toBe(false);
});

test.each(["0777", "1777", "3777"])(
  "b327: a Secret or ConfigMap is taken as Kubernetes mounts it, with mode %s",
  (mode) => {
    const at = mountFolder(mode);
    mkdirSync(join(at, "..2026_11_27"));
    writeFileSync(join(at, "..2026_11_27/token"), "x");
    symlinkSync("..2026_11_27", join(at, "..data"));
    symlinkSync("..data/token", join(at, "token"));
    expect(distrustOf(join(at, "token"), OTHER)).toBeUndefined();
  },
);

test("b327: what is below another user's folder is taken from a mount there, and refused beside it", () => {
  const at = mountFolder("0777");
  const above = dirname(at);
  chownSync(above, OTHER, OTHER);
  for (const folder of [at, above]) writeFileSync(join(folder, "token"), "x");
  symlinkSync(join(at, "token"), join(above, "link"));
  expect(distrustOf(join(at, "token"), OTHER + 1)).toBeUndefined();
  for (const name of ["token", "link"]) expect(distrustOf(join(above, name), OTHER + 1)?.isRefused).toBe(true);
});

test("b327: a folder that every user can write is taken with a warning on a mount that all may write", () => {
  const at = mountFolder("0777");
  mkdirSync(join(at, "folder"));
  chmodSync(join(at, "folder"), 0o777);
  writeFileSync(join(at, "folder/token"), "x");
  expect(distrustOf(join(at, "folder/token"), OTHER)?.isRefused).toBe(false);
});
