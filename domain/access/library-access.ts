import type { KeyRecord } from "./key-record.ts";

/** True if the key may reach a library of its own team. The caller has checked the team. */
export function mayReachLibrary(key: KeyRecord, libraryId: string): boolean {
  return key.libraryIds === null || key.libraryIds.includes(libraryId);
}

/**
 * Returns the library of a call that names none (spec §2.6): the key's own default, else the team's; undefined if there
 * is none, or if the key may not reach it.
 */
export function defaultLibraryOf(key: KeyRecord): string | undefined {
  const library = key.mcpDefaultLibraryId ?? key.teamDefaultLibraryId;
  return library !== null && mayReachLibrary(key, library) ? library : undefined;
}
