import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { migrate } from "../../../store/database/migrate/migrate.ts";
import type { Store } from "../../../store/database/store.ts";

const run = promisify(execFile);
const CHECKOUT = join(import.meta.dirname, "../../..");

/** What an upgrade comes from, and may have to go back to: to be moved on with each release. */
const PREVIOUS = "e9e27372c86f7f25eacdf4c31af0cbd54c015758";

/** A folder with a version of Keyplane that can be run. */
export type Version = { readonly root: string; remove(): Promise<void> };

export const thisVersion: Version = { root: CHECKOUT, remove: async () => {} };

/**
 * Brings a database to the schema of the previous version, by its code: that is taken out of the checkout's history, and
 * run with what is installed here.
 *
 * @throws where the history is not there, as in a shallow clone
 */
export async function migrateAsPrevious(store: Store): Promise<void> {
  const version = await takeOut(["domain", "runtime", "store"]);
  try {
    await symlink(join(CHECKOUT, "node_modules"), join(version.root, "node_modules"));
    const its: { migrate: typeof migrate } = await import(join(version.root, "store/database/migrate/migrate.ts"));
    await its.migrate(store);
  } finally {
    await version.remove();
  }
}

/** Takes the previous version out of the checkout's history, and installs what it needs; throws likewise. */
export async function takeOutPrevious(): Promise<Version> {
  const version = await takeOut([]);
  await run("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: version.root });
  return version;
}

/** @param folders all of it where none is named */
async function takeOut(folders: readonly string[]): Promise<Version> {
  const root = await mkdtemp(join(tmpdir(), "keyplane-previous-"));
  const archive = join(root, "archive.tar");
  await run("git", ["archive", "--output", archive, PREVIOUS, ...folders], { cwd: CHECKOUT });
  await run("tar", ["--extract", "--file", archive, "--directory", root]);
  return { root, remove: () => rm(root, { recursive: true }) };
}
