import { sql } from "kysely";
import { MAX_USED_LIBRARIES, type UsedLibrary } from "../../../domain/access/used-library.ts";
import type { Db } from "../../database/change.ts";
import type { Store } from "../../database/store.ts";
import { type NotesOf, notesKnownSince, pruneNotes, readNotes, recordNotes } from "./daily-notes.ts";

/** Notes of the libraries that keys have used (docs/decisions/advice.md). */
const LIBRARIES: NotesOf = {
  ...{ table: "key_libraries_used", known: "libraries_known" },
  most: MAX_USED_LIBRARIES,
};

/** Use of a library by a key on a day, such as `2026-11-25`. */
export type NotedLibrary = { readonly keyId: string; readonly libraryId: string; readonly day: string };

/** Adds libraries, and keeps the latest of each key. */
export function recordLibraries(store: Store, noted: readonly NotedLibrary[]): Promise<void> {
  return recordNotes(
    store,
    LIBRARIES,
    noted.map(({ keyId, libraryId, day }) => ({ keyId, what: libraryId, day })),
  );
}

/** Reads the libraries that a key has used lately, the latest first, and the number that it may reach now. */
export async function librariesOfKey(
  db: Db,
  keyId: string,
): Promise<{ readonly used: UsedLibrary[]; readonly reachable: number }> {
  const notes = await readNotes(db, LIBRARIES, [keyId]);
  const { rows } = await sql<{ id: string | null; namespace: string; name: string; reachable: number }>`
    with reached as (
      select l.id, l.namespace, l.name from keys k join libraries l on l.team_id = k.team_id and l.state = 'active'
      where k.id = ${keyId} and (k.library_mode = 'all'
        or exists (select from key_libraries n where n.key_id = k.id and n.library_id = l.id))
    )
    select c.reachable, l.id, l.namespace, l.name from (select count(*)::integer as reachable from reached) c
    left join reached l on l.id = any(${notes.map(({ what }) => what)}::text[])`.execute(db);
  const known = new Map(rows.map(({ id, namespace, name }) => [id, { namespace, name }]));
  return {
    used: notes.map(({ what, day }) => ({ library: known.get(what) ?? null, lastUsedOn: day })),
    reachable: rows[0]?.reachable ?? 0,
  };
}

/** Reads the time since which the notes of libraries are complete, in milliseconds since the epoch. */
export function librariesKnownSince(db: Db): Promise<number> {
  return notesKnownSince(db, LIBRARIES);
}

/** Deletes old libraries of at most `most` keys, and returns the number of keys that had some. */
export function pruneLibraries(store: Store, most: number): Promise<number> {
  return pruneNotes(store, LIBRARIES, most);
}
