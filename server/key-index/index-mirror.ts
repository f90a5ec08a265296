import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import { UNSTORED_VERSION } from "../../domain/access/key-record.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import { GatewayTable } from "./gateway-table.ts";
import type { IndexMessage } from "./index-messages.ts";
import { IndexTables, type KeyRows } from "./index-tables.ts";
import { InternedAttributes } from "./key-attributes.ts";
import type { KeyIndexView } from "./key-index-view.ts";
import type { KeyRow } from "./key-row.ts";
import { KeyTable } from "./key-table.ts";
import type { Lease } from "./lease.ts";
import { LimitCells } from "./limit-cells.ts";
import { PlaceholderKeys } from "./placeholder-keys.ts";
import type { SharedCells } from "./shared-cells.ts";
import { TeamTable } from "./team-table.ts";

type MirrorDeps = {
  readonly port: MessagePort;
  readonly cells: SharedCells;
  readonly lease: Lease;
  /** Called when something was applied that open streams may depend on: perhaps in the middle of a decision. */
  readonly onChanged: () => void;
};

/**
 * The index of another thread, by which a worker decides. Its rows are shared with that thread; all else comes as
 * messages, which are read before a decision that begins after they were broadcast: also by a worker that has not been
 * idle since.
 */
export class IndexMirror extends IndexTables implements KeyIndexView {
  readonly #deps: MirrorDeps;
  #received = 0;
  #acceptsImportedFormat = false;
  #placeholders = new PlaceholderKeys();

  constructor(deps: MirrorDeps) {
    super({ table: KeyTable.allocate(0), attributes: new InternedAttributes(), generation: -1 });
    this.#deps = deps;
    deps.port.on("message", (message: IndexMessage) => this.#take(message));
  }

  isCurrent(): boolean {
    return this.#deps.lease.holds();
  }

  lastSeq(): number {
    return this.#deps.cells.seq[0] ?? 0;
  }

  acceptsImportedFormat(): boolean {
    this.#receive();
    return this.#placeholders.exist || this.#acceptsImportedFormat;
  }

  findKey(digest: string): KeyRecord | undefined {
    this.#receive();
    const row = this.rows.table.find(digest);
    return row === 0 ? this.#placeholders.find(digest) : this.recordOf(row);
  }

  /**
   * Takes in what was broadcast before the row, if that was published just now. The rows may be of former tables by
   * then: what they refer to was broadcast before the tables that replace them.
   */
  protected override recordOf(row: number, rows: KeyRows = this.rows): KeyRow | undefined {
    if (!this.#isWhole(row, rows)) this.#receive();
    return super.recordOf(row, rows);
  }

  /** True if all that the row refers to is here. */
  #isWhole(row: number, { table, attributes }: KeyRows): boolean {
    const limit = table.limitOf(row);
    return row === 0 || (table.attributesOf(row) < attributes.size && (limit === 0 || this.limits.has(limit)));
  }

  findGateway(publicId: string): GatewayRecord | undefined {
    this.#receive();
    return this.gateways.find(publicId);
  }

  publicIdOf(gatewayId: string): string | undefined {
    this.#receive();
    return this.gateways.publicIdOf(gatewayId);
  }

  override findMember(token: MemberToken, named: string | null): KeyRecord[] {
    this.#receive();
    return super.findMember(token, named);
  }

  findPresent(record: KeyRecord): KeyRecord | undefined {
    this.#receive();
    const isPlaceholder = record.version === UNSTORED_VERSION && record.membership === undefined;
    return isPlaceholder ? this.#placeholders.findPresent(record) : this.presentOf(record);
  }

  #receive(): void {
    const { port, cells } = this.#deps;
    // A message that comes by an event may be there before it is counted.
    while (((Atomics.load(cells.broadcasts, 0) - this.#received) | 0) > 0) {
      const received: { message: IndexMessage } | undefined = receiveMessageOnPort(port);
      // What is counted was sent before: it is there.
      if (received === undefined) throw new Error("a broadcast message is missing");
      this.#take(received.message);
    }
  }

  #take(message: IndexMessage): void {
    this.#received++;
    switch (message.kind) {
      case "tables":
        this.rows = {
          table: new KeyTable(message.buffers),
          attributes: new InternedAttributes(),
          generation: message.generation,
        };
        for (const attributes of message.attributes) this.rows.attributes.add(attributes);
        this.limits = new LimitCells();
        for (const buffer of message.limits) this.limits.add(buffer);
        this.ownedCells = new Map(message.ownedCells);
        this.gateways = new GatewayTable();
        for (const gateway of message.gateways) this.gateways.apply(gateway);
        this.teams = new TeamTable();
        for (const team of message.teams) this.teams.apply(team);
        this.#acceptsImportedFormat = message.acceptsImportedFormat;
        break;
      case "attributes":
        this.rows.attributes.add(message.attributes);
        break;
      case "limits":
        this.limits.add(message.buffer);
        break;
      case "owned_cell":
        if (message.cell === 0) this.ownedCells.delete(message.owner);
        else this.ownedCells.set(message.owner, message.cell);
        break;
      case "gateway":
        this.gateways.apply(message.gateway);
        break;
      case "gateway_removed":
        this.gateways.remove(message.gatewayId);
        break;
      case "team":
        this.teams.apply(message.team);
        break;
      case "team_removed":
        this.teams.remove(message.teamId);
        break;
      case "imported_format":
        this.#acceptsImportedFormat = message.acceptsImportedFormat;
        break;
      case "placeholders":
        this.#placeholders = new PlaceholderKeys(message.records);
        break;
      case "changed":
        this.#deps.onChanged();
    }
  }
}
