import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import type { RateLimit, RateVerdict } from "../../domain/access/rate-limit.ts";
import { packVersion } from "../context/packed-key-id.ts";
import { GatewayTable } from "./gateway-table.ts";
import type { InternedAttributes } from "./key-attributes.ts";
import { KeyRow } from "./key-row.ts";
import type { KeyTable } from "./key-table.ts";
import { type CellLimit, LimitCells } from "./limit-cells.ts";
import { TeamTable } from "./team-table.ts";

/** A table and what its rows refer to. */
export type KeyRows = {
  readonly table: KeyTable;
  readonly attributes: InternedAttributes;
  readonly generation: number;
};

/** A rate limit and its owner: a key, or an owner that is known by its id alone, such as a team. */
export type OwnedRate = {
  readonly owner: KeyRecord | string;
  readonly limit: RateLimit;
  /** Number of requests that a request counts as; 1 if it is left out. */
  readonly amount?: number | undefined;
};

/** Part of an index that is the same on the thread that writes it and on the threads that mirror it. */
export abstract class IndexTables {
  protected rows: KeyRows;
  protected limits = new LimitCells();
  /** Cells of all limits but the request rates of keys, by the owner's id. */
  protected ownedCells = new Map<string, number>();
  protected gateways = new GatewayTable();
  protected teams = new TeamTable();

  constructor(rows: KeyRows) {
    this.rows = rows;
  }

  /** Returns the present record of one version of a key. */
  findVersion(keyId: string, version: number): KeyRecord | undefined {
    const { rows } = this;
    for (const row of rows.table.rowsOf(packVersion(keyId, version, false))) {
      const record = this.recordOf(row, rows);
      if (record?.version === version) return record;
    }
    return undefined;
  }

  /** Returns what the bearer of a token may do, for each requested team; see {@link TeamTable}. */
  findMember(token: MemberToken, named: string | null): KeyRecord[] {
    return this.teams.findMember(token, named);
  }

  /** Returns what a version that was found before is now: the same record if nothing has taken its place. */
  presentOf(record: KeyRecord): KeyRecord | undefined {
    if (record.membership !== undefined) return this.teams.presentOf(record);
    const isSame = record instanceof KeyRow && record.generation === this.rows.generation;
    if (isSame && this.rows.table.isPublished(record.row)) return record;
    return this.findVersion(record.keyId, record.version);
  }

  /**
   * Judges a request by several rate limits, and charges it to each if all admit it. A limit without a cell, such as a
   * limit that has just been declared, admits and counts nothing.
   *
   * @param now nanoseconds on the clock that all threads share
   * @returns the verdict of each limit, in their order
   */
  chargeRates(rates: readonly OwnedRate[], now: number): RateVerdict[] {
    return this.limits.chargeAll(rates.map(this.#inCell), now);
  }

  /** Returns what {@link chargeRates} would return, and charges nothing. */
  judgeRates(rates: readonly OwnedRate[], now: number): RateVerdict[] {
    return this.limits.judgeAll(rates.map(this.#inCell), now);
  }

  /**
   * Takes back what is unpaid of a request that was charged; nothing if the limit was read anew since.
   *
   * @param unpaid nanoseconds
   * @param chargedAt time of the charge, as of {@link chargeRates}
   */
  refundRate(rate: OwnedRate, unpaid: number, chargedAt: number): void {
    this.limits.refund(this.#inCell(rate).cell, unpaid, chargedAt);
  }

  /** Charges what was used already, even if nothing is left of the limit. */
  chargeUsed(rate: OwnedRate, now: number): void {
    this.limits.chargeUsed(this.#inCell(rate), now);
  }

  readonly #inCell = ({ owner, limit, amount }: OwnedRate): CellLimit => {
    const cell = typeof owner === "string" ? (this.ownedCells.get(owner) ?? 0) : this.#cellOfKey(owner);
    return { cell: this.limits.has(cell) ? cell : 0, limit, amount };
  };

  #cellOfKey(key: KeyRecord): number {
    if (!(key instanceof KeyRow)) return 0;
    if (key.generation === this.rows.generation) return key.limit;
    const present = this.findVersion(key.keyId, key.version);
    return present instanceof KeyRow ? present.limit : 0;
  }

  /** Notes that a key was used: the time of the last use, and the number of uses. */
  noteUse(key: KeyRecord, at: number): void {
    const isHere = key instanceof KeyRow && key.generation === this.rows.generation;
    const found = isHere ? key : this.findVersion(key.keyId, key.version);
    // The tables may have been replaced while it was looked for: the row is another key's then.
    const isRow = found instanceof KeyRow && found.generation === this.rows.generation;
    if (isRow) this.rows.table.noteUse(found.row, at);
  }

  protected recordOf(row: number, { table, attributes, generation }: KeyRows = this.rows): KeyRow | undefined {
    return row === 0 ? undefined : new KeyRow(table, row, generation, attributes.get(table.attributesOf(row)));
  }
}
