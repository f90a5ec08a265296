/** Objects of a data folder that `up` would remove, given a folder of manifests that has been still for long enough. */
import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { type Absence, devicesOf, type Origin } from "../../controller/cluster/files/manifests/absence.ts";
import { createDeclarationReader } from "../../controller/cluster/files/manifests/declarations.ts";
import { createFolderReader, type FolderReading, QUIET_MS } from "../../controller/cluster/files/manifests/folder.ts";
import { findMissing } from "../../controller/cluster/files/manifests/missing.ts";
import { openOrigins } from "../../controller/cluster/files/manifests/origins.ts";
import { decideRemoval } from "../../controller/cluster/files/manifests/removal.ts";
import { titleOf } from "../../controller/cluster/titles.ts";
import type { WorldObject } from "../../domain/manifest/set/manifest-world.ts";
import { systemClock } from "../../runtime/clock.ts";

/** Returns the folder if the paths are exactly one folder, else undefined. */
export function onlyFolder(paths: readonly string[]): string | undefined {
  const [path, ...more] = paths;
  const isFolder = path !== undefined && more.length === 0 && statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? path : undefined;
}

/**
 * Decides by the rules of `up` which objects go, from the file where it last saw each. A folder at another path is
 * taken as put in the place of the folder that `up` reads.
 */
export async function decideFolderRemoval(
  folder: string,
  data: string,
  held: readonly WorldObject[],
): Promise<SettledRemoval> {
  const origins = await openOrigins(data);
  const heldBy = new Map(held.map((object) => [titleOf(object), object]));
  const reading = await readStill(folder, data);
  const readDeclarations = createDeclarationReader({
    spec: (ref) => heldBy.get(titleOf(ref))?.spec,
    // What is declared of Secrets is not planned.
    secrets: { compare: () => "none", isDeclared: () => false },
    sighting: origins.get,
  });
  const now = readDeclarations(reading.files, reading.unreadable === undefined);
  const originOf = (key: string) => relocated(origins.get(key)?.origin, reading);
  const missing = findMissing(held, originOf, now, reading);
  return decideSettled({ unreadable: reading.unreadable, documents: now.documents }, missing, held);
}

export type SettledRemoval = {
  readonly remove: readonly WorldObject[];
  readonly hold: readonly { readonly missing: WorldObject; readonly why: string }[];
};

/** Decides on removal as `up` does once the folder has been still for long enough. */
export function decideSettled(
  view: { readonly unreadable?: string | undefined; readonly documents: number },
  missing: readonly (WorldObject & { readonly absence: Absence })[],
  held: readonly WorldObject[],
): SettledRemoval {
  const { documents, unreadable } = view;
  const decision = decideRemoval({ unreadable, documents, unchangedFor: Number.POSITIVE_INFINITY }, missing, held);
  return decision.isSettled && missing.length > 0 ? decision : { remove: [], hold: [] };
}

/** Longest wait, in milliseconds, for files that are still being written. */
const MAX_WAIT_MS = 3_000;

/**
 * Reads the folder once nothing in it is being written. If that does not end in time, the folder counts as unreadable.
 */
async function readStill(root: string, data: string): Promise<FolderReading> {
  const read = createFolderReader({ root, clock: systemClock, arrivals: { take: () => false }, except: data });
  const startedAt = systemClock.monotonic();
  for (;;) {
    const reading = await read();
    const [pending] = reading.pending;
    if (pending === undefined) return asRenamed(reading);
    if (systemClock.monotonic() - startedAt >= MAX_WAIT_MS)
      return { ...reading, unreadable: `${pending} is being written` };
    await delay(QUIET_MS);
  }
}

/** Marks every file as replaced whole, as by a rename, so that none of them counts as cut off. */
const asRenamed = (reading: FolderReading): FolderReading => ({
  ...reading,
  files: reading.files.map((file) => ({ ...file, cameWhole: true })),
});

/** Returns the origin as if the folder were where `up` reads, with files that are not the same ones as before. */
function relocated(origin: Origin | undefined, { root, foundEntries }: FolderReading): Origin | undefined {
  if (origin === undefined || origin.root === root) return origin;
  return { ...origin, root, inode: "", devices: devicesOf(origin.file, foundEntries) };
}
