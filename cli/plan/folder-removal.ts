/** What of a data folder `up` would remove on a folder of manifests, once that has been still for long enough. */
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

/** The one folder among the paths, if they are that and nothing else. */
export function onlyFolder(paths: readonly string[]): string | undefined {
  const [path, ...more] = paths;
  const isFolder = path !== undefined && more.length === 0 && statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? path : undefined;
}

/**
 * By the decision of `up`, from where it saw each object last. A folder at another place is taken as put in its place.
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
  const originOf = (key: string) => inPlace(origins.get(key)?.origin, reading);
  const missing = findMissing(held, originOf, now, reading);
  return decideSettled({ unreadable: reading.unreadable, documents: now.documents }, missing, held);
}

export type SettledRemoval = {
  readonly remove: readonly WorldObject[];
  readonly hold: readonly { readonly missing: WorldObject; readonly why: string }[];
};

/** The decision of `up` once time has passed. */
export function decideSettled(
  view: { readonly unreadable?: string | undefined; readonly documents: number },
  missing: readonly (WorldObject & { readonly absence: Absence })[],
  held: readonly WorldObject[],
): SettledRemoval {
  const { documents, unreadable } = view;
  const decision = decideRemoval({ unreadable, documents, unchangedFor: Number.POSITIVE_INFINITY }, missing, held);
  return decision.isSettled && missing.length > 0 ? decision : { remove: [], hold: [] };
}

/** How long what is being written is waited for. */
const MAX_WAIT_MS = 3_000;

/** Reads the folder once nothing in it is being written; where that does not end, it cannot be read in full. */
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

/** What replaces another file may come whole, by a rename, and then nothing in it is taken for cut off. */
const asRenamed = (reading: FolderReading): FolderReading => ({
  ...reading,
  files: reading.files.map((file) => ({ ...file, cameWhole: true })),
});

/** An origin as it would be if the folder were where `up` reads, and its files others than those of before. */
function inPlace(origin: Origin | undefined, { root, places }: FolderReading): Origin | undefined {
  if (origin === undefined || origin.root === root) return origin;
  return { ...origin, root, inode: "", devices: devicesOf(origin.file, places) };
}
