import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CHECKOUT = join(import.meta.dirname, "../../..");

/** What an upgrade comes from, and may have to go back to: to be moved on with each release. */
const PREVIOUS = "e31e13707ae4265063869f85c1fbbf6358d90bd8";

/** A folder with a version of Keyplane that can be run. */
export type Version = { readonly root: string; remove(): Promise<void> };

export const thisVersion: Version = { root: CHECKOUT, remove: async () => {} };

/**
 * Takes the previous version out of the checkout's history, and installs what it needs.
 *
 * @throws where the history is not there, as in a shallow clone
 */
export async function takeOutPrevious(): Promise<Version> {
  const root = await mkdtemp(join(tmpdir(), "keyplane-previous-"));
  const archive = join(root, "archive.tar");
  await run("git", ["archive", "--output", archive, PREVIOUS], { cwd: CHECKOUT });
  await run("tar", ["--extract", "--file", archive, "--directory", root]);
  await run("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: root });
  return { root, remove: () => rm(root, { recursive: true }) };
}
