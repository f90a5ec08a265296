import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import { UNSTORED_VERSION } from "../../domain/access/key-record.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import type { Changes, Snapshot } from "../../store/feed/change-feed.ts";
import { openGateway, type SealedGateway } from "../../store/gateways/gateways.ts";
import type { IndexedKey } from "../../store/keys/rows/key-records.ts";
import type { Placeholder } from "../context/placeholders.ts";
import type { Broadcast } from "./index-messages.ts";
import type { OwnedRate } from "./index-tables.ts";
import { KeyIndex, type VersionUse } from "./key-index.ts";
import type { KeyIndexView } from "./key-index-view.ts";
import type { Lease } from "./lease.ts";
import { PlaceholderKeys, resolvePlaceholders } from "./placeholder-keys.ts";
import type { SharedCells } from "./shared-cells.ts";

/** Rows that a change of a key may take: one for each of its versions that ends by not being given. */
const ROWS_PER_KEY = 4;

export type ServedStateDeps = {
  readonly keyring: Keyring;
  readonly placeholders: readonly Placeholder[];
  readonly log: Logger;
  /** Sends the other threads of this server what they decide by. */
  readonly broadcast?: Broadcast;
};

/** State that this replica decides by, as the store's answers make it: the index, and the placeholders beside it. */
export class ServedState implements KeyIndexView {
  readonly #deps: ServedStateDeps;
  readonly #lease: Lease;
  readonly #cells: SharedCells;
  #index = new KeyIndex();
  #placeholders = new PlaceholderKeys();
  /** Ids of gateways whose credential none of our encryption keys opens. */
  readonly #unreadable = new Set<string>();

  constructor(deps: ServedStateDeps, lease: Lease, cells: SharedCells) {
    this.#deps = deps;
    this.#lease = lease;
    this.#cells = cells;
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

  get unreadableGateways(): number {
    return this.#unreadable.size;
  }

  isCurrent(): boolean {
    return this.#lease.holds();
  }

  lastSeq(): number {
    return this.#cells.seq[0] ?? 0;
  }

  findKey(digest: string): KeyRecord | undefined {
    return this.#index.findKey(digest) ?? this.#placeholders.find(digest);
  }

  findGateway(publicId: string): GatewayRecord | undefined {
    return this.#index.findGateway(publicId);
  }

  publicIdOf(gatewayId: string): string | undefined {
    return this.#index.publicIdOf(gatewayId);
  }

  acceptsImportedFormat(): boolean {
    return this.#placeholders.exist || this.#index.acceptsImportedFormat();
  }

  chargeRates(rates: readonly OwnedRate[], now: number): RateVerdict[] {
    return this.#index.chargeRates(rates, now);
  }

  judgeRates(rates: readonly OwnedRate[], now: number): RateVerdict[] {
    return this.#index.judgeRates(rates, now);
  }

  chargeUsed(rate: OwnedRate, now: number): void {
    this.#index.chargeUsed(rate, now);
  }

  refundRate(rate: OwnedRate, unpaid: number, chargedAt: number): void {
    this.#index.refundRate(rate, unpaid, chargedAt);
  }

  findMember(token: MemberToken, named: string | null): KeyRecord[] {
    return this.#index.findMember(token, named);
  }

  /** Notes the use of a key. Uses of placeholders and by members are not noted. */
  noteUse(key: KeyRecord, at: number): void {
    if (key.version !== UNSTORED_VERSION) this.#index.noteUse(key, at);
  }

  /** Takes all uses that were noted since the last time. */
  drainUses(now: number): VersionUse[] {
    return this.#index.drainUses(now);
  }

  findPresent(record: KeyRecord): KeyRecord | undefined {
    const isPlaceholder = record.version === UNSTORED_VERSION && record.membership === undefined;
    return isPlaceholder ? this.#placeholders.findPresent(record) : this.#index.presentOf(record);
  }

  /** Returns an index to fill with a snapshot's keys, for {@link replace}. */
  emptyIndex(keys: number): KeyIndex {
    return new KeyIndex(keys, this.#index);
  }

  /** Replaces the old index by an index that was filled, when all else is there too: it is never empty, never half. */
  replace(index: KeyIndex, { gateways, teams }: Snapshot): void {
    this.#unreadable.clear();
    for (const gateway of gateways) index.applyGateway(this.#open(gateway));
    for (const team of teams) index.applyTeam(team);
    this.#index = index;
    if (this.#deps.broadcast !== undefined) index.broadcastTo(this.#deps.broadcast);
    this.#resolvePlaceholders();
    this.#deps.broadcast?.({ kind: "changed" });
  }

  /** Applies the present state of what changed. */
  async apply({ changes, keys, gateways, teams, removed }: Changes): Promise<void> {
    await this.#index.prepareFor(keys.length + changes.length * ROWS_PER_KEY);
    const versions = byKey(keys);
    for (const { kind, ref } of changes) {
      // A key of which nothing is given has no living version any more.
      if (kind === "key" && !versions.has(ref)) versions.set(ref, []);
    }
    // Before the keys that are held to their limits: those have somewhere to be counted.
    for (const team of teams) this.#index.applyTeam(team);
    for (const [keyId, given] of versions) this.#index.applyKey(keyId, given);
    for (const keyId of removed.keyIds) this.#index.removeKey(keyId);
    for (const gatewayId of removed.gatewayIds) {
      this.#index.removeGateway(gatewayId);
      this.#unreadable.delete(gatewayId);
    }
    for (const gateway of gateways) this.#index.applyGateway(this.#open(gateway));
    for (const teamId of removed.teamIds) this.#index.removeTeam(teamId);
    if (teams.length + removed.teamIds.length > 0) this.#resolvePlaceholders();
    this.#deps.broadcast?.({ kind: "changed" });
  }

  /** Opens a gateway's credentials. A credential that does not open closes its own upstream, not the whole replica. */
  #open(gateway: SealedGateway): GatewayRecord {
    this.#unreadable.delete(gateway.gatewayId);
    return openGateway(gateway, this.#deps.keyring, (error) => {
      this.#unreadable.add(gateway.gatewayId);
      this.#deps.log.error({ error, gatewayId: gateway.gatewayId }, "a gateway's credential cannot be read");
    });
  }

  #resolvePlaceholders(): void {
    const { placeholders, log } = this.#deps;
    const { records, unresolved } = resolvePlaceholders(placeholders, this.#index.allTeams());
    this.#placeholders = new PlaceholderKeys(records);
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
