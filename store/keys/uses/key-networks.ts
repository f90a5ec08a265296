import { type CallerNetwork, INTROSPECTION, MAX_CALLER_NETWORKS } from "../../../domain/access/caller-network.ts";
import type { Db } from "../../database/change.ts";
import type { Store } from "../../database/store.ts";
import { type NotesOf, notesKnownSince, pruneNotes, readNotes, recordNotes } from "./daily-notes.ts";

/** Notes of the networks that keys were called from (docs/decisions/caller-networks.md). */
const NETWORKS: NotesOf = {
  ...{ table: "key_networks", known: "networks_known" },
  most: MAX_CALLER_NETWORKS,
  besides: INTROSPECTION,
};

/** Call with a key from a network on a day, such as `2026-11-25`. */
export type NotedNetwork = { readonly keyId: string; readonly network: string; readonly day: string };

/** Adds networks, and keeps the latest of each key. */
export function recordNetworks(store: Store, noted: readonly NotedNetwork[]): Promise<void> {
  return recordNotes(
    store,
    NETWORKS,
    noted.map(({ keyId, network, day }) => ({ keyId, what: network, day })),
  );
}

/** Reads the networks that keys were called from within the time that notes are kept, by key id, the latest first. */
export async function readNetworks(db: Db, keyIds: readonly string[]): Promise<ReadonlyMap<string, CallerNetwork[]>> {
  const notes = await readNotes(db, NETWORKS, keyIds);
  return new Map(
    [...Map.groupBy(notes, ({ keyId }) => keyId)].map(([keyId, callers]) => [
      keyId,
      callers.map(({ what, day }) => ({ network: what, lastSeenOn: day })),
    ]),
  );
}

/** Reads the time since which the notes of networks are complete, in milliseconds since the epoch. */
export function networksKnownSince(db: Db): Promise<number> {
  return notesKnownSince(db, NETWORKS);
}

/** Deletes old networks of at most `most` keys, and returns the number of keys that had some. */
export function pruneNetworks(store: Store, most: number): Promise<number> {
  return pruneNotes(store, NETWORKS, most);
}
