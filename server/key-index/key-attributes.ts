import type { KeyAttributes } from "../../domain/access/key-record.ts";

/** Attributes in the form in which a row refers to them. */
export type RowAttributes = KeyAttributes & {
  /** Id and number of a version, if one of them does not fit into the row's words. */
  readonly identity?: { readonly keyId: string; readonly version: number };
};

/** The attributes of all rows of a table, each combination once; a row has the number of its combination. */
export class InternedAttributes {
  readonly #attributes: RowAttributes[] = [];
  readonly #numbers = new Map<string, number>();
  /**
   * Numbers by object. One reading of the store gives equal attributes as one object: most are found without being
   * written out.
   */
  readonly #ofObject = new WeakMap<RowAttributes, number>();

  get size(): number {
    return this.#attributes.length;
  }

  all(): readonly RowAttributes[] {
    return this.#attributes;
  }

  /** Adds the attributes that another thread has interned next. */
  add(attributes: RowAttributes): void {
    this.#attributes.push(attributes);
  }

  /** @throws RangeError for a number that was never given */
  get(number: number): RowAttributes {
    const attributes = this.#attributes[number];
    if (attributes === undefined)
      throw new RangeError(`a row refers to attributes ${number} of ${this.#attributes.length}`);
    return attributes;
  }

  numberOf(attributes: RowAttributes): number {
    const known = this.#ofObject.get(attributes);
    if (known !== undefined) return known;
    const text = JSON.stringify(attributes);
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#attributes.push(attributes) - 1;
      this.#numbers.set(text, number);
    }
    this.#ofObject.set(attributes, number);
    return number;
  }
}
