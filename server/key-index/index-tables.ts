import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import { packVersion } from "../context/packed-key-id.ts";
import { GatewayTable } from "./gateway-table.ts";
import type { InternedAttributes } from "./key-attributes.ts";
import { KeyRow } from "./key-row.ts";
import type { KeyTable } from "./key-table.ts";
import { LimitCells } from "./limit-cells.ts";
import { TeamTable } from "./team-table.ts";

/** A table and what its rows refer to. */
export type KeyRows = {
  readonly table: KeyTable;
  readonly attributes: InternedAttributes;
  readonly generation: number;
};

/** What can be asked of an index, on the thread that writes it and on those that mirror it. */
export abstract class IndexTables {
  protected rows: KeyRows;
  protected limits = new LimitCells();
  protected gateways = new GatewayTable();
  protected teams = new TeamTable();

  constructor(rows: KeyRows) {
    this.rows = rows;
  }

  /** The present record of one version of a key. */
  findVersion(keyId: string, version: number): KeyRecord | undefined {
    for (const row of this.rows.table.rowsOf(packVersion(keyId, version, false))) {
      const record = this.recordOf(row);
      if (record?.version === version) return record;
    }
    return undefined;
  }

  /** What the bearer of a token may do, for each team that is meant; see {@link TeamTable}. */
  findMember(token: MemberToken, named: string | null): KeyRecord[] {
    return this.teams.findMember(token, named);
  }

  /** What a version that was found before is now: the same record where nothing has taken its place. */
  presentOf(record: KeyRecord): KeyRecord | undefined {
    if (record.membership !== undefined) return this.teams.presentOf(record);
    const isSame = record instanceof KeyRow && record.generation === this.rows.generation;
    if (isSame && this.rows.table.isPublished(record.row)) return record;
    return this.findVersion(record.keyId, record.version);
  }

  /**
   * Judges a request by its key's rate limit, and charges it when it is admitted.
   *
   * @param now nanoseconds on the clock that all threads share
   * @returns undefined for a key without a limit
   */
  chargeRequest(key: KeyRecord, now: number): RateVerdict | undefined {
    if (!(key instanceof KeyRow) || key.limit === 0 || key.rateLimit === null) return undefined;
    return this.limits.charge(key.limit, key.rateLimit, now);
  }

  /** Notes that a key was used: the last time, and how often. */
  noteUse(key: KeyRecord, at: number): void {
    const isHere = key instanceof KeyRow && key.generation === this.rows.generation;
    const found = isHere ? key : this.findVersion(key.keyId, key.version);
    if (found instanceof KeyRow) this.rows.table.noteUse(found.row, at);
  }

  protected recordOf(row: number): KeyRow | undefined {
    const { table, attributes, generation } = this.rows;
    return row === 0 ? undefined : new KeyRow(table, row, generation, attributes.get(table.attributesOf(row)));
  }
}
