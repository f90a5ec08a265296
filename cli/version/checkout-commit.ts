import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the commit of a checkout, with `-dirty` if files differ from it.
 *
 * @param root the checkout's own root: a folder within another checkout has no commit of its own
 * @returns null if it is not a checkout, or git fails
 */
export function checkoutCommit(root: string): string | null {
  if (!existsSync(join(root, ".git"))) return null;
  try {
    const args = ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"];
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}
