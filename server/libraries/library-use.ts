import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { ServerDeps } from "../product/deps.ts";

/** Notes that a call has read or written in a library, by its id. */
export type NoteLibrary = (libraryId: string) => void;

/** Key that a call of the memory uses, with the function that notes the libraries which it uses. */
export type LibraryUser = { readonly key: KeyRecord; readonly noteLibrary: NoteLibrary };

/** Returns the user of libraries for one call by a key. */
export function libraryUser({ usage, clock }: Pick<ServerDeps, "usage" | "clock">, key: KeyRecord): LibraryUser {
  const at = clock.now();
  return { key, noteLibrary: (libraryId) => usage.noteLibrary(key, libraryId, at) };
}
