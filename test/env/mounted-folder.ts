import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/**
 * A folder of root's that is a file system of its own, which every user reaches, until the test ends.
 *
 * @param mode in octal digits, as `mount` takes it
 * @throws Error where this process may not mount anything
 */
export function mountFolder(mode: string): string {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-mounted-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  const at = join(folder, "mount");
  mkdirSync(at);
  execFileSync("mount", ["-t", "tmpfs", "-o", `mode=${mode}`, "tmpfs", at]);
  onTestFinished(() => void execFileSync("umount", [at]));
  return at;
}
