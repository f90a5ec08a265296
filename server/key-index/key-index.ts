import { type OwnedLimits, routeLimits } from "../../domain/access/declared-limits.ts";
import type { GatewayRecord, KeyAttributes, KeyRecord } from "../../domain/access/key-record.ts";
import type { TeamRecord } from "../../domain/access/membership.ts";
import type { DeclaredLimits } from "../../domain/access/rate-limit.ts";
import { tokensId } from "../../domain/access/token-limit.ts";
import type { IndexedKey } from "../../store/keys/rows/key-records.ts";
import { packVersion } from "../context/packed-key-id.ts";
import type { Broadcast } from "./index-messages.ts";
import { IndexTables, type KeyRows } from "./index-tables.ts";
import { InternedAttributes, type RowAttributes } from "./key-attributes.ts";
import { KeyRow } from "./key-row.ts";
import { KeyTable } from "./key-table.ts";

/** States of a version that has not ended. No version comes back from any other state, also not from an unknown one. */
const LIVING: ReadonlySet<string> = new Set<KeyRecord["versionState"]>(["reserved", "active", "retiring"]);
/** Ended versions of a key that stay findable, so that the cause of a refusal can be counted. */
const ENDED_KEPT = 8;
/** Spare rows for changes to come: this many, or one for every `KEYS_PER_SPARE_ROW` keys if that is more. */
const SPARE_ROWS = 1_024;
const KEYS_PER_SPARE_ROW = 32;
/** Rows that are copied between two iterations of the event loop. */
const CHUNK = 10_000;

/** Uses of one version of a key: the time of the last, and their number. */
export type VersionUse = {
  readonly keyId: string;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly requests: number;
};

/**
 * Key versions by the digest of their secret, and gateways by public id, as decisions read them. It is filled from one
 * snapshot and then changed entity by entity; whether it is current, the lease says.
 */
export class KeyIndex extends IndexTables {
  /** Tables that were replaced, with the number of drains since: another thread may just be using one. */
  #former: readonly { readonly rows: KeyRows; readonly drains: number }[] = [];
  #keyCount = 0;
  #importedFormatCount = 0;
  #broadcast: Broadcast = () => {};
  /** Ids of the limits that a gateway's routes have, by the gateway's id. */
  readonly #routeCells = new Map<string, ReadonlySet<string>>();

  /**
   * @param keys number of keys that are expected
   * @param former the index that this one is to replace: {@link drainUses} takes the uses noted there too
   */
  constructor(keys = 0, former?: KeyIndex) {
    super(emptyRows(keys, former === undefined ? 0 : former.rows.generation + 1));
    if (former !== undefined) this.#former = [...former.#former, { rows: former.rows, drains: 0 }];
  }

  get keyCount(): number {
    return this.#keyCount;
  }

  /** Bytes that the tables of keys and the cells of limits take. */
  get bytes(): number {
    return this.rows.table.bytes + this.limits.bytes;
  }

  get gatewayCount(): number {
    return this.gateways.size;
  }

  findKey(digest: string): KeyRecord | undefined {
    return this.recordOf(this.rows.table.find(digest));
  }

  findGateway(publicId: string): GatewayRecord | undefined {
    return this.gateways.find(publicId);
  }

  publicIdOf(gatewayId: string): string | undefined {
    return this.gateways.publicIdOf(gatewayId);
  }

  acceptsImportedFormat(): boolean {
    return this.#importedFormatCount > 0;
  }

  /** Adds one version to what is there, for filling an index from a snapshot. */
  add(key: IndexedKey): void {
    this.#publish(this.#write(key), 0);
  }

  /**
   * Applies the present state of a key. A version that the index has and `versions` does not has ended. A version that
   * has ended stays so, whatever an older row says of it (threats b30).
   *
   * @param versions all of its living versions, and perhaps some that have ended
   */
  applyKey(keyId: string, versions: readonly IndexedKey[]): void {
    for (const _ of this.#growTable(this.#rowsOf(keyId).length + versions.length));
    const { table } = this.rows;
    const before = this.#rowsOf(keyId);
    const absent = new Set(before);
    const limit = this.#limitOf(before);
    for (const key of versions) {
      const known = table.find(key.digest);
      absent.delete(known);
      if (known !== 0 && this.#hasEnded(known) && !hasEnded(key.attributes)) continue;
      this.#publish(this.#write(key), known);
    }
    for (const row of absent) if (!this.#hasEnded(row)) this.#end(row);
    this.#dropOldest(keyId);
    const after = this.#rowsOf(keyId);
    if (limit !== 0 && this.#limitOf(after) === 0) this.limits.giveBack(limit);
    if (!after.some((row) => this.recordOf(row)?.tokenLimit)) this.#setCell(tokensId(keyId), false);
  }

  /** Forgets a key and all its versions. */
  removeKey(keyId: string): void {
    const rows = this.#rowsOf(keyId);
    const limit = this.#limitOf(rows);
    for (const row of rows) this.#takeOut(row);
    if (limit !== 0) this.limits.giveBack(limit);
    this.#setCell(tokensId(keyId), false);
  }

  /** Makes space for so many more rows, over several iterations of the event loop. */
  async prepareFor(rows: number): Promise<void> {
    for (const _ of this.#growTable(rows)) await new Promise(setImmediate);
  }

  /** Takes all uses that were noted since the last call. A version may be there twice. */
  drainUses(now: number): VersionUse[] {
    const uses: VersionUse[] = [];
    for (const { table, attributes } of [...this.#former.map(({ rows }) => rows), this.rows]) {
      table.drainUses(now, (row, at, requests) => {
        const { keyId, version } = new KeyRow(table, row, 0, attributes.get(table.attributesOf(row)));
        uses.push({ keyId, version, at, requests });
      });
    }
    this.#former = this.#former.filter(({ drains }) => drains === 0).map(({ rows }) => ({ rows, drains: 1 }));
    return uses;
  }

  /** Applies the present state of a gateway. */
  applyGateway(gateway: GatewayRecord): void {
    this.#giveRouteCells(
      gateway.gatewayId,
      gateway.routes.flatMap((route) => routeLimits(gateway, route) ?? []),
    );
    this.gateways.apply(gateway);
    this.#broadcast({ kind: "gateway", gateway });
  }

  removeGateway(gatewayId: string): void {
    this.#giveRouteCells(gatewayId, []);
    this.gateways.remove(gatewayId);
    this.#broadcast({ kind: "gateway_removed", gatewayId });
  }

  /** Returns every team, as it is now. */
  allTeams(): TeamRecord[] {
    return this.teams.all();
  }

  /** Applies the present state of a team. */
  applyTeam(team: TeamRecord): void {
    this.#giveCell(team.teamId, team.limits);
    this.teams.apply(team);
    this.#broadcast({ kind: "team", team });
  }

  removeTeam(teamId: string): void {
    this.#giveCell(teamId, null);
    this.teams.remove(teamId);
    this.#broadcast({ kind: "team_removed", teamId });
  }

  /** Gives an owner a cell for each rate of its limits, and takes back any other. */
  #giveCell(owner: string, limits: DeclaredLimits | null): void {
    this.#setCell(owner, limits !== null && limits.rate !== null);
    this.#setCell(tokensId(owner), limits?.tokens !== undefined);
  }

  #setCell(owner: string, isCounted: boolean): void {
    const known = this.ownedCells.get(owner);
    if (isCounted === (known !== undefined)) return;
    if (known === undefined) this.ownedCells.set(owner, this.#takeLimit());
    else {
      this.ownedCells.delete(owner);
      this.limits.giveBack(known);
    }
    this.#broadcast({ kind: "owned_cell", owner, cell: this.ownedCells.get(owner) ?? 0 });
  }

  #giveRouteCells(gatewayId: string, limits: readonly OwnedLimits[]): void {
    const ids = new Set(limits.map(({ id }) => id));
    for (const id of this.#routeCells.get(gatewayId) ?? []) if (!ids.has(id)) this.#giveCell(id, null);
    for (const { id, ...declared } of limits) this.#giveCell(id, declared);
    if (ids.size > 0) this.#routeCells.set(gatewayId, ids);
    else this.#routeCells.delete(gatewayId);
  }

  /** Broadcasts everything, and from here on each change. */
  broadcastTo(broadcast: Broadcast): void {
    this.#broadcast = broadcast;
    this.#broadcastTables();
  }

  #broadcastTables(): void {
    const { table, attributes, generation } = this.rows;
    this.#broadcast({
      kind: "tables",
      buffers: table.buffers,
      generation,
      attributes: attributes.all(),
      limits: this.limits.buffers,
      ownedCells: this.ownedCells,
      gateways: this.gateways.all(),
      teams: this.teams.all(),
      acceptsImportedFormat: this.acceptsImportedFormat(),
    });
  }

  #rowsOf(keyId: string): number[] {
    return this.rows.table.rowsOf(packVersion(keyId, 0, false));
  }

  #hasEnded(row: number): boolean {
    const { table, attributes } = this.rows;
    return hasEnded(attributes.get(table.attributesOf(row)));
  }

  /** Returns the cell of the rate limit that a key's rows share; 0 if none of them has one. */
  #limitOf(rows: readonly number[]): number {
    for (const row of rows) if (this.rows.table.limitOf(row) !== 0) return this.rows.table.limitOf(row);
    return 0;
  }

  #write({ digest, keyId, version, importedFormat, expiresAt, attributes }: IndexedKey): number {
    for (const _ of this.#growTable(1));
    const packed = packVersion(keyId, version, importedFormat);
    const numbered = packed.whole ? attributes : { ...attributes, identity: { keyId, version } };
    const limit = attributes.rateLimit === null ? 0 : this.#limitOf(this.#rowsOf(keyId)) || this.#takeLimit();
    if (attributes.tokenLimit !== null) this.#setCell(tokensId(keyId), true);
    const fields = { ...packed, expiresAt, limit, attributes: this.#numberOf(numbered) };
    return this.rows.table.append(digest, fields);
  }

  #numberOf(attributes: RowAttributes): number {
    const known = this.rows.attributes.size;
    const number = this.rows.attributes.numberOf(attributes);
    if (number === known) this.#broadcast({ kind: "attributes", attributes });
    return number;
  }

  #takeLimit(): number {
    const known = this.limits.buffers.length;
    const cell = this.limits.take();
    const buffer = this.limits.buffers[known];
    if (buffer !== undefined) this.#broadcast({ kind: "limits", buffer });
    return cell;
  }

  #publish(row: number, replaced: number): void {
    this.#count(row, 1);
    if (replaced !== 0) this.#count(replaced, -1);
    this.rows.table.publish(row);
  }

  #end(row: number): void {
    const { table, attributes } = this.rows;
    const retired: RowAttributes = { ...attributes.get(table.attributesOf(row)), versionState: "retired" };
    this.#publish(table.appendCopy(table, row, this.#numberOf(retired)), row);
  }

  #takeOut(row: number): void {
    this.#count(row, -1);
    this.rows.table.takeOut(row);
  }

  #count(row: number, by: 1 | -1): void {
    this.#keyCount += by;
    const accepted = this.acceptsImportedFormat();
    if (this.rows.table.isImportedFormat(row)) this.#importedFormatCount += by;
    const accepts = this.acceptsImportedFormat();
    if (accepts !== accepted) this.#broadcast({ kind: "imported_format", acceptsImportedFormat: accepts });
  }

  /** Drops the oldest of a key's ended versions when there are too many: a key that rotates for years must not grow. */
  #dropOldest(keyId: string): void {
    const rows = this.#rowsOf(keyId);
    if (rows.length <= ENDED_KEPT) return;
    const versionOf = (row: number) => this.recordOf(row)?.version ?? 0;
    const ended = rows.filter((row) => this.#hasEnded(row)).sort((a, b) => versionOf(b) - versionOf(a));
    for (const row of ended.slice(ENDED_KEPT)) this.#takeOut(row);
  }

  /**
   * Moves to a larger table if the rows would not fit, leaving out rows that are found no more; yields now and then.
   */
  *#growTable(rows: number): Generator<void> {
    const old = this.rows;
    if (old.table.capacity >= rows) return;
    const next = emptyRows(this.#keyCount + rows, old.generation + 1);
    for (let row = 1; row <= old.table.lastRow; row++) {
      if (row % CHUNK === 0) yield;
      if (!old.table.isPublished(row)) continue;
      const attributes = next.attributes.numberOf(old.attributes.get(old.table.attributesOf(row)));
      next.table.publish(next.table.appendCopy(old.table, row, attributes));
    }
    this.rows = next;
    this.#broadcastTables();
    this.#former = [...this.#former, { rows: old, drains: 0 }];
  }
}

function emptyRows(keys: number, generation: number): KeyRows {
  const spare = Math.max(SPARE_ROWS, Math.ceil(keys / KEYS_PER_SPARE_ROW));
  return { table: KeyTable.allocate(keys + spare), attributes: new InternedAttributes(), generation };
}

function hasEnded({ state, versionState }: KeyAttributes): boolean {
  return state === "revoked" || !LIVING.has(versionState);
}
