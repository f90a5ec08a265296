/**
 * Objects that `up` keeps as before although their declaration is gone or faulty, for commands that show the keys. If
 * `up` no longer runs, these are the ones it kept last; nothing ends before it runs and decides again.
 */

import { type HeldNote, readHeld } from "../../controller/cluster/files/held.ts";
import { listTitles } from "../../controller/cluster/titles.ts";

/** Reason, and the titles of the objects that are held for it. */
type HeldGroup = { readonly why: string; readonly titles: string };

/** Largest number of titles that are shown. */
export const MAX_TITLES = 5;

export const heldText = (isRunning: boolean): string =>
  isRunning ? "held as before" : "held when keyplane up ended, and decided on anew once it runs";

/**
 * Returns the held objects by reason.
 *
 * @param kind restricts them to this kind
 */
export async function heldGroups(data: string, kind?: HeldNote["kind"]): Promise<HeldGroup[]> {
  const held = (await readHeld(data)).filter((note) => kind === undefined || note.kind === kind);
  return [...Map.groupBy(held, ({ why }) => why)].map(([why, notes]) => ({
    why,
    titles: listTitles(notes, MAX_TITLES),
  }));
}

/** Returns the reasons by the identity that `get -o json` shows of an object: kind, namespace and name. */
export async function heldReasons(data: string): Promise<ReadonlyMap<string, string>> {
  return new Map((await readHeld(data)).map((note) => [`${note.kind}/${note.namespace}/${note.name}`, note.why]));
}
