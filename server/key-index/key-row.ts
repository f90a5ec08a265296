import type { KeyRecord } from "../../domain/access/key-record.ts";
import { unpackKeyId } from "./key-id.ts";
import type { KeyTable } from "./key-table.ts";
import type { NumberedTerms } from "./terms-catalogue.ts";

/**
 * A key version as a row of a table has it. It does not hold on to the table: an answer that streams for an hour must not
 * keep one alive that has been replaced.
 */
export class KeyRow implements KeyRecord {
  readonly row: number;
  /** The cell of its key's rate limit; 0 where it has none. */
  readonly limit: number;
  /** Of the table that `row` counts in. */
  readonly generation: number;
  readonly version: number;
  readonly expiresAt: number;
  readonly #terms: NumberedTerms;
  readonly #first: number;
  readonly #second: number;
  readonly #third: number;
  readonly #last: number;

  constructor(table: KeyTable, row: number, generation: number, terms: NumberedTerms) {
    this.row = row;
    this.generation = generation;
    this.version = terms.identity === undefined ? table.versionOf(row) : terms.identity.version;
    this.expiresAt = table.expiresAt(row);
    this.limit = table.limitOf(row);
    this.#terms = terms;
    this.#first = table.idWord(row, 0);
    this.#second = table.idWord(row, 1);
    this.#third = table.idWord(row, 2);
    this.#last = table.idWord(row, 3);
  }

  /** Written out when it is asked for: most requests end without. */
  get keyId(): string {
    return this.#terms.identity?.keyId ?? unpackKeyId(this.#first, this.#second, this.#third, this.#last);
  }
  get teamId(): string {
    return this.#terms.teamId;
  }
  get namespace(): string {
    return this.#terms.namespace;
  }
  get teamHoldsNamespace(): boolean {
    return this.#terms.teamHoldsNamespace;
  }
  get state(): KeyRecord["state"] {
    return this.#terms.state;
  }
  get versionState(): KeyRecord["versionState"] {
    return this.#terms.versionState;
  }
  get scopes(): KeyRecord["scopes"] {
    return this.#terms.scopes;
  }
  get boundGatewayId(): string | null {
    return this.#terms.boundGatewayId;
  }
  get libraryIds(): KeyRecord["libraryIds"] {
    return this.#terms.libraryIds;
  }
  get mcpDefaultLibraryId(): string | null {
    return this.#terms.mcpDefaultLibraryId;
  }
  get teamDefaultLibraryId(): string | null {
    return this.#terms.teamDefaultLibraryId;
  }
  get allowedModels(): KeyRecord["allowedModels"] {
    return this.#terms.allowedModels;
  }
  get concurrent(): KeyRecord["concurrent"] {
    return this.#terms.concurrent;
  }
  get rateLimit(): KeyRecord["rateLimit"] {
    return this.#terms.rateLimit;
  }
}
