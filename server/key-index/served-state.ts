import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import type { Logger } from "../../runtime/log.ts";
import { KeyringError } from "../../store/database/errors.ts";
import type { Changes, Snapshot } from "../../store/feed/change-feed.ts";
import { openGateway, type SealedGateway } from "../../store/gateways.ts";
import type { Keyring } from "../../store/keyring.ts";
import type { IndexedKey } from "../../store/keys/key-records.ts";
import type { Broadcast } from "./index-messages.ts";
import { KeyIndex, type VersionUse } from "./key-index.ts";
import { PLACEHOLDER_VERSION, type Placeholder, resolvePlaceholders, type Team } from "./placeholders.ts";

/** Rows that a key which changes may take: its versions anew, where they end by not being given. */
const ROWS_PER_KEY = 4;

export type ServedStateDeps = {
  readonly keyring: Keyring;
  readonly placeholders: readonly Placeholder[];
  readonly log: Logger;
  /** Tells the other threads of this server what they decide by. */
  readonly broadcast?: Broadcast;
};

/** What the store's answers make of this replica's tables: the index, and the placeholders beside it. */
export class ServedState {
  readonly #deps: ServedStateDeps;
  #index = new KeyIndex();
  #teams = new Map<string, Team>();
  #placeholders: ReadonlyMap<string, KeyRecord> = new Map();

  constructor(deps: ServedStateDeps) {
    this.#deps = deps;
  }

  get keyCount(): number {
    return this.#index.keyCount;
  }

  get keyBytes(): number {
    return this.#index.bytes;
  }

  get gatewayCount(): number {
    return this.#index.gatewayCount;
  }

  /** A stored key goes before a placeholder of the same text, also when it is revoked. */
  findKey(digest: string): KeyRecord | undefined {
    const found = this.#index.findKey(digest);
    // A map makes a hash of the text that it is asked for, even where it is empty: of a flood of unknown keys, each.
    return found === undefined && this.#placeholders.size > 0 ? this.#placeholders.get(digest) : found;
  }

  findGateway(publicId: string): GatewayRecord | undefined {
    return this.#index.findGateway(publicId);
  }

  acceptsImportedFormat(): boolean {
    return this.#placeholders.size > 0 || this.#index.acceptsImportedFormat();
  }

  /** Judges a request by its key's rate limit, and charges it; undefined for a key without one. */
  chargeRequest(key: KeyRecord, now: number): RateVerdict | undefined {
    return this.#index.chargeRequest(key, now);
  }

  /** Notes the use of a key. A placeholder's is nobody's. */
  noteUse(key: KeyRecord, at: number): void {
    if (key.version !== PLACEHOLDER_VERSION) this.#index.noteUse(key, at);
  }

  /** Takes all uses that were noted since the last time. */
  drainUses(now: number): VersionUse[] {
    return this.#index.drainUses(now);
  }

  /** What a version that was found before is now; undefined where the index has it no more. */
  findPresent(record: KeyRecord): KeyRecord | undefined {
    if (record.version !== PLACEHOLDER_VERSION) return this.#index.presentOf(record);
    return [...this.#placeholders.values()].find(({ keyId }) => keyId === record.keyId);
  }

  /** An index to fill with a snapshot's keys, for {@link replace}. */
  emptyIndex(keys: number): KeyIndex {
    return new KeyIndex(keys, this.#index);
  }

  /** Puts an index that was filled in the old one's place when all else is there too: never empty, never half. */
  replace(index: KeyIndex, { gateways, teams }: Snapshot): void {
    for (const gateway of gateways) index.applyGateway(this.#open(gateway));
    this.#index = index;
    if (this.#deps.broadcast !== undefined) index.broadcastTo(this.#deps.broadcast);
    this.#teams = new Map(teams.map((team) => [team.teamId, team]));
    this.#resolvePlaceholders();
    this.#deps.broadcast?.({ kind: "changed" });
  }

  /** Takes in the present state of what changed. */
  async apply({ changes, keys, gateways, teams, removed }: Changes): Promise<void> {
    await this.#index.prepareFor(keys.length + changes.length * ROWS_PER_KEY);
    const versions = byKey(keys);
    for (const { kind, ref } of changes) {
      // A key of which nothing is given has no living version any more.
      if (kind === "key" && !versions.has(ref)) versions.set(ref, []);
    }
    for (const [keyId, given] of versions) this.#index.applyKey(keyId, given);
    for (const keyId of removed.keyIds) this.#index.removeKey(keyId);
    for (const gatewayId of removed.gatewayIds) this.#index.removeGateway(gatewayId);
    for (const gateway of gateways) this.#index.applyGateway(this.#open(gateway));
    for (const teamId of removed.teamIds) this.#teams.delete(teamId);
    for (const team of teams) this.#teams.set(team.teamId, team);
    if (teams.length + removed.teamIds.length > 0) this.#resolvePlaceholders();
    this.#deps.broadcast?.({ kind: "changed" });
  }

  /** A credential that does not open closes its own gateway's upstreams, not the whole replica. */
  #open(gateway: SealedGateway): GatewayRecord {
    try {
      return openGateway(gateway, this.#deps.keyring);
    } catch (error) {
      if (!(error instanceof KeyringError)) throw error;
      this.#deps.log.error({ error, gatewayId: gateway.gatewayId }, "a gateway's credential cannot be read");
      return {
        ...gateway,
        upstreams: gateway.upstreams.map(({ sealed: _, ...upstream }) => ({ ...upstream, credential: null })),
      };
    }
  }

  #resolvePlaceholders(): void {
    const { placeholders, log } = this.#deps;
    const { records, unresolved } = resolvePlaceholders(placeholders, [...this.#teams.values()]);
    this.#placeholders = records;
    this.#deps.broadcast?.({ kind: "placeholders", records });
    if (unresolved > 0) {
      log.warn({ count: unresolved }, "placeholder keys name no team that exists, or none where there are several");
    }
  }
}

function byKey(keys: readonly IndexedKey[]): Map<string, IndexedKey[]> {
  const grouped = new Map<string, IndexedKey[]>();
  for (const key of keys) {
    const versions = grouped.get(key.keyId);
    if (versions === undefined) grouped.set(key.keyId, [key]);
    else versions.push(key);
  }
  return grouped;
}
