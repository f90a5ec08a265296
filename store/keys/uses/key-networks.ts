import { type CallerNetwork, MAX_CALLER_NETWORKS } from "../../../domain/access/caller-network.ts";
import type { Db } from "../../database/change.ts";
import type { Store } from "../../database/store.ts";
import { type NotesOf, notesKnownSince, pruneNotes, readNotes, recordNotes } from "./daily-notes.ts";

/** From which networks keys were called (docs/decisions/caller-networks.md). */
const NETWORKS: NotesOf = {
  ...{ table: "key_networks", known: "networks_known" },
  most: MAX_CALLER_NETWORKS,
};

/** That a key was called from a network on a day, as `2026-11-25`. */
export type NotedNetwork = { readonly keyId: string; readonly network: string; readonly day: string };

/** Adds networks, and keeps the last ones of each key. */
export function recordNetworks(store: Store, noted: readonly NotedNetwork[]): Promise<void> {
  return recordNotes(
    store,
    NETWORKS,
    noted.map(({ keyId, network, day }) => ({ keyId, what: network, day })),
  );
}

/** The networks that keys were called from within what is kept, by the key's id: the last first. */
export async function readNetworks(db: Db, keyIds: readonly string[]): Promise<ReadonlyMap<string, CallerNetwork[]>> {
  const notes = await readNotes(db, NETWORKS, keyIds);
  return new Map(
    [...Map.groupBy(notes, ({ keyId }) => keyId)].map(([keyId, callers]) => [
      keyId,
      callers.map(({ what, day }) => ({ network: what, lastSeenOn: day })),
    ]),
  );
}

/** Since when networks are noted, and none of them was lost, in milliseconds since the epoch. */
export function networksKnownSince(db: Db): Promise<number> {
  return notesKnownSince(db, NETWORKS);
}

/** Forgets networks of so many keys at once, and returns of how many there were some. */
export function pruneNetworks(store: Store, most: number): Promise<number> {
  return pruneNotes(store, NETWORKS, most);
}
