import type { KeyTerms } from "../../domain/access/key-record.ts";

/** Terms as a row refers to them. */
export type NumberedTerms = KeyTerms & {
  /** Of a version whose id or number the row's words have no place for. */
  readonly identity?: { readonly keyId: string; readonly version: number };
};

/** The terms of all rows of a table, each combination once; a row has its number. */
export class TermsCatalogue {
  readonly #terms: NumberedTerms[] = [];
  readonly #numbers = new Map<string, number>();
  /** One reading of the store gives equal terms as one object: most are found without being written out. */
  readonly #ofObject = new WeakMap<NumberedTerms, number>();

  get size(): number {
    return this.#terms.length;
  }

  all(): readonly NumberedTerms[] {
    return this.#terms;
  }

  /** Takes in terms that another thread's catalogue has next. */
  add(terms: NumberedTerms): void {
    this.#terms.push(terms);
  }

  /** @throws RangeError for a number that was never given */
  get(number: number): NumberedTerms {
    const terms = this.#terms[number];
    if (terms === undefined) throw new RangeError(`a row refers to terms ${number} of ${this.#terms.length}`);
    return terms;
  }

  numberOf(terms: NumberedTerms): number {
    const known = this.#ofObject.get(terms);
    if (known !== undefined) return known;
    const text = JSON.stringify(terms);
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#terms.push(terms) - 1;
      this.#numbers.set(text, number);
    }
    this.#ofObject.set(terms, number);
    return number;
  }
}
