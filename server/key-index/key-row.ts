import type { KeyRecord } from "../../domain/access/key-record.ts";
import { unpackKeyId } from "../context/packed-key-id.ts";
import type { RowAttributes } from "./key-attributes.ts";
import type { KeyTable } from "./key-table.ts";

/**
 * A key version as a row of a table has it. It does not hold on to the table: an answer that streams for an hour must
 * not keep a table alive that has been replaced.
 */
export class KeyRow implements KeyRecord {
  readonly row: number;
  /** Cell of its key's rate limit; 0 if it has none. */
  readonly limit: number;
  /** Generation of the table that `row` is a number in. */
  readonly generation: number;
  readonly version: number;
  readonly expiresAt: number;
  readonly #attributes: RowAttributes;
  readonly #first: number;
  readonly #second: number;
  readonly #third: number;
  readonly #last: number;
  #keyId: string | undefined;

  constructor(table: KeyTable, row: number, generation: number, attributes: RowAttributes) {
    this.row = row;
    this.generation = generation;
    this.version = attributes.identity === undefined ? table.versionOf(row) : attributes.identity.version;
    this.expiresAt = table.expiresAt(row);
    this.limit = table.limitOf(row);
    this.#attributes = attributes;
    this.#first = table.idWord(row, 0);
    this.#second = table.idWord(row, 1);
    this.#third = table.idWord(row, 2);
    this.#last = table.idWord(row, 3);
  }

  /** Id of the key. It is written out when it is asked for: most requests end without. */
  get keyId(): string {
    this.#keyId ??= this.#attributes.identity?.keyId ?? unpackKeyId(this.#first, this.#second, this.#third, this.#last);
    return this.#keyId;
  }
  get teamId(): string {
    return this.#attributes.teamId;
  }
  get namespace(): string {
    return this.#attributes.namespace;
  }
  get teamHoldsNamespace(): boolean {
    return this.#attributes.teamHoldsNamespace;
  }
  get state(): KeyRecord["state"] {
    return this.#attributes.state;
  }
  get versionState(): KeyRecord["versionState"] {
    return this.#attributes.versionState;
  }
  get scopes(): KeyRecord["scopes"] {
    return this.#attributes.scopes;
  }
  get boundGatewayId(): string | null {
    return this.#attributes.boundGatewayId;
  }
  get libraryIds(): KeyRecord["libraryIds"] {
    return this.#attributes.libraryIds;
  }
  get mcpDefaultLibraryId(): string | null {
    return this.#attributes.mcpDefaultLibraryId;
  }
  get teamDefaultLibraryId(): string | null {
    return this.#attributes.teamDefaultLibraryId;
  }
  get allowedModels(): KeyRecord["allowedModels"] {
    return this.#attributes.allowedModels;
  }
  get concurrent(): KeyRecord["concurrent"] {
    return this.#attributes.concurrent;
  }
  get tokenLimit(): KeyRecord["tokenLimit"] {
    return this.#attributes.tokenLimit;
  }
  get subject(): KeyRecord["subject"] {
    return this.#attributes.subject;
  }
  get allowedCIDRs(): KeyRecord["allowedCIDRs"] {
    return this.#attributes.allowedCIDRs;
  }
  get teamAllowedCIDRs(): KeyRecord["teamAllowedCIDRs"] {
    return this.#attributes.teamAllowedCIDRs;
  }
  get budgets(): KeyRecord["budgets"] {
    return this.#attributes.budgets;
  }
  get teamLimits(): KeyRecord["teamLimits"] {
    return this.#attributes.teamLimits;
  }
  get rateLimit(): KeyRecord["rateLimit"] {
    return this.#attributes.rateLimit;
  }
}
