import type { KeyRecord } from "../../domain/access/key-record.ts";
import { MAX_USED_LIBRARIES } from "../../domain/access/used-library.ts";
import type { NotedLibrary } from "../../store/keys/uses/key-libraries.ts";
import { KeyRow } from "../key-index/key-row.ts";
import { KeysOfDay } from "./keys-of-day.ts";
import type { OfTeam } from "./waiting-notes.ts";

/** Notes which libraries keys use, each once a day: a call costs a look-up by its key's row for each. */
export class UsedLibraries {
  /** Ids of the libraries of a key. */
  readonly #keys = new KeysOfDay<Set<string>>(() => new Set());
  #drained: OfTeam<NotedLibrary>[] = [];

  /**
   * Notes a library that a call of a key has read or written in. Libraries of placeholder keys and of members are not
   * noted.
   *
   * @param at milliseconds since the epoch, by the database's clock
   */
  note(key: KeyRecord, libraryId: string, at: number): void {
    if (!(key instanceof KeyRow)) return;
    const known = this.#keys.find(key, at);
    if (known.has(libraryId) || known.size >= MAX_USED_LIBRARIES) return;
    known.add(libraryId);
    this.#drained.push({ teamId: key.teamId, keyId: key.keyId, libraryId, day: this.#keys.day });
  }

  /** Takes what was noted since the last time. */
  drain(): OfTeam<NotedLibrary>[] {
    const drained = this.#drained;
    this.#drained = [];
    return drained;
  }
}
