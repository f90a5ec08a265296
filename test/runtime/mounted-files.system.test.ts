import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { distrustOf } from "../../runtime/distrust.ts";

const OTHER = 54_321;

/** Whether another user's file is refused on a mount of this mode; undefined where a test may mount nothing. */
function isRefusedOn(mode: string): boolean | undefined {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-mounted-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = join(folder, "mount");
  mkdirSync(at);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", `mode=${mode}`, "tmpfs", at]).status !== 0) return undefined;
  try {
    const path = join(at, "password");
    writeFileSync(path, "x");
    chownSync(path, OTHER, OTHER);
    return distrustOf(path, OTHER + 1)?.isRefused;
  } finally {
    spawnSync("umount", [at]);
  }
}

test("b327: what another container of a pod writes is taken, and nothing from a folder that users share", () => {
  expect([false, undefined]).toContain(isRefusedOn("0777"));
  expect([true, undefined]).toContain(isRefusedOn("1777"));
});
