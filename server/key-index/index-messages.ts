import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import type { TeamRecord } from "../../domain/access/membership.ts";
import type { RowAttributes } from "./key-attributes.ts";
import type { KeyTableBuffers } from "./key-table.ts";

/**
 * Messages about an index to other threads, in this order: what a row refers to is sent before the row can be found.
 * The rows themselves are in shared memory, and are not sent.
 */
export type IndexMessage =
  | {
      readonly kind: "tables";
      readonly buffers: KeyTableBuffers;
      readonly generation: number;
      readonly attributes: readonly RowAttributes[];
      readonly limits: readonly SharedArrayBuffer[];
      readonly ownedCells: ReadonlyMap<string, number>;
      readonly gateways: readonly GatewayRecord[];
      readonly teams: readonly TeamRecord[];
      readonly acceptsImportedFormat: boolean;
    }
  | { readonly kind: "attributes"; readonly attributes: RowAttributes }
  | { readonly kind: "limits"; readonly buffer: SharedArrayBuffer }
  /** Cell of a limit that is not the request rate of a key; 0 if its owner has none any more. */
  | { readonly kind: "owned_cell"; readonly owner: string; readonly cell: number }
  | { readonly kind: "gateway"; readonly gateway: GatewayRecord }
  | { readonly kind: "gateway_removed"; readonly gatewayId: string }
  | { readonly kind: "team"; readonly team: TeamRecord }
  | { readonly kind: "team_removed"; readonly teamId: string }
  | { readonly kind: "imported_format"; readonly acceptsImportedFormat: boolean }
  | { readonly kind: "placeholders"; readonly records: ReadonlyMap<string, KeyRecord> }
  /** Notice that something was applied: open streams are to be decided again. */
  | { readonly kind: "changed" };

export type Broadcast = (message: IndexMessage) => void;
