import { type CallersTeam, type KeyRecord, unstoredKey } from "../../domain/access/key-record.ts";
import { SCOPES, scopeSet } from "../../domain/access/scopes.ts";
import type { Placeholder } from "../context/placeholders.ts";

/**
 * Returns the records that placeholders stand for, by digest: every scope, all libraries, unbound.
 *
 * @returns `unresolved` counts placeholders whose team does not exist, or which name none although there is not exactly
 *   one
 */
export function resolvePlaceholders(
  placeholders: readonly Placeholder[],
  teams: readonly CallersTeam[],
): { records: Map<string, KeyRecord>; unresolved: number } {
  const records = new Map<string, KeyRecord>();
  for (const [index, { digest, team }] of placeholders.entries()) {
    const matching = team === null ? teams : teams.filter(({ name }) => name === team);
    const [only, ...others] = matching;
    if (only === undefined || others.length > 0) continue;
    const record = unstoredKey(only, {
      keyId: `placeholder_${index + 1}`,
      state: "active",
      expiresAt: Number.POSITIVE_INFINITY,
      scopes: scopeSet(SCOPES),
      libraryIds: null,
    });
    records.set(digest, record);
  }
  return { records, unresolved: placeholders.length - records.size };
}

/**
 * Placeholder keys as a decision finds them. A stored key goes before a placeholder of the same text, also when it is
 * revoked.
 */
export class PlaceholderKeys {
  readonly #records: ReadonlyMap<string, KeyRecord>;

  /** @param records by digest */
  constructor(records: ReadonlyMap<string, KeyRecord> = new Map()) {
    this.#records = records;
  }

  get exist(): boolean {
    return this.#records.size > 0;
  }

  find(digest: string): KeyRecord | undefined {
    // A map makes a hash of the text that it is asked for, even where it is empty: of a flood of unknown keys, each.
    return this.exist ? this.#records.get(digest) : undefined;
  }

  /** Returns what a placeholder that was found before is now. */
  findPresent({ keyId }: KeyRecord): KeyRecord | undefined {
    return [...this.#records.values()].find((record) => record.keyId === keyId);
  }
}
