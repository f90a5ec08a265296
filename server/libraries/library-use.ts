import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { ServerDeps } from "../product/deps.ts";

/** Notes that a call has read or written in a library, by its id. */
export type NoteLibrary = (libraryId: string) => void;

/** Who a call of the memory is by, and what notes the libraries that it uses. */
export type LibraryUser = { readonly key: KeyRecord; readonly noteLibrary: NoteLibrary };

/** The user of libraries that a key is in one call. */
export function libraryUser({ usage, clock }: Pick<ServerDeps, "usage" | "clock">, key: KeyRecord): LibraryUser {
  const at = clock.now();
  return { key, noteLibrary: (libraryId) => usage.noteLibrary(key, libraryId, at) };
}
