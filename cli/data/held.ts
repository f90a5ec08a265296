/**
 * What `up` holds as it was before, though its declaration is gone or faulty, for those who look at the keys. Where it
 * runs no longer, this is what it held last: nothing ends, nor waits to end, before it decides anew.
 */

import { type HeldNote, readHeld } from "../../controller/cluster/files/held.ts";
import { listTitles } from "../../controller/cluster/titles.ts";

/** One reason, and all that is held for it. */
type HeldGroup = { readonly why: string; readonly titles: string };

/** So many are named. */
export const MAX_TITLES = 5;

export const heldText = (isRunning: boolean): string =>
  isRunning ? "held as before" : "held when keyplane up ended, and decided on anew once it runs";

/** @param kind of this kind alone */
export async function heldGroups(data: string, kind?: HeldNote["kind"]): Promise<HeldGroup[]> {
  const held = (await readHeld(data)).filter((note) => kind === undefined || note.kind === kind);
  return [...Map.groupBy(held, ({ why }) => why)].map(([why, notes]) => ({
    why,
    titles: listTitles(notes, MAX_TITLES),
  }));
}

/** By what `get -o json` shows of each object: kind, namespace and name. */
export async function heldReasons(data: string): Promise<ReadonlyMap<string, string>> {
  return new Map((await readHeld(data)).map((note) => [`${note.kind}/${note.namespace}/${note.name}`, note.why]));
}
