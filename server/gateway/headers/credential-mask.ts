import { ByteSearch } from "./byte-search.ts";

/** Shorter than any provider's credential: masking one so short would hit ordinary text. */
const SHORTEST = 8;
const ASTERISK = 0x2a;

/** A credential as it is looked for: made once for many answers. */
export type Needle = {
  readonly text: string;
  readonly search: ByteSearch;
  /** In bytes; 0 where it is too short to be masked. */
  readonly masked: number;
};

export function needleOf(credential: string): Needle {
  const bytes = Buffer.from(credential);
  const isShort = credential.length < SHORTEST;
  return { text: credential, search: new ByteSearch(bytes), masked: isShort ? 0 : bytes.length };
}

/** Whether a text that an upstream returns has its credential in it. */
export function holdsCredential({ text, masked }: Needle, returned: string): boolean {
  return masked > 0 && returned.includes(text);
}

/** The part of a header's value that may be shown. */
export function maskHeader(needle: Needle, value: string): string {
  const { text, masked } = needle;
  // Most values are shorter: they are not copied.
  return masked === 0 || value.length < text.length ? value : maskWhole(needle, Buffer.from(value)).toString();
}

/** What of a body that is whole may be shown. */
export function maskWhole(needle: Needle, bytes: Buffer): Buffer {
  return maskUpTo(needle, bytes).shown;
}

/** The same, with where the last credential in it ends; 0 for none. */
function maskUpTo({ search, masked }: Needle, bytes: Buffer): { readonly shown: Buffer; readonly end: number } {
  let at = masked === 0 ? -1 : search.indexOf(bytes);
  if (at === -1) return { shown: bytes, end: 0 };
  const copy = Buffer.from(bytes);
  let end = 0;
  for (; at !== -1; at = search.indexOf(copy, end)) {
    end = at + masked;
    copy.fill(ASTERISK, at, end);
  }
  return { shown: copy, end };
}

/**
 * Takes a provider's credential out of what an upstream returns, for upstreams that echo what they were sent (threats
 * b40). Each letter becomes an asterisk, so that lengths stay; what does not hold the credential passes as it is,
 * without a copy.
 */
export class CredentialMask {
  readonly #needle: Needle;
  /** How many bytes wait, which are as many of the credential's first. */
  #held = 0;

  constructor(needle: Needle) {
    this.#needle = needle;
  }

  /** Takes the next chunk; returns what may go on. An end that may be a credential's beginning waits for the next. */
  push(chunk: Buffer): Buffer {
    const { search, masked } = this.#needle;
    if (masked === 0) return chunk;
    if (this.#held === 0) return this.#look(chunk);
    const before = search.beginning(this.#held);
    // However small the chunks are that an upstream cuts its answer into, what waits is not looked at again with each.
    const held = search.goOn(this.#held, chunk);
    if (held === undefined) return this.#look(Buffer.concat([before, chunk]));
    this.#held = held;
    const shown = before.length + chunk.length - held;
    if (shown <= before.length) return before.subarray(0, shown);
    return Buffer.concat([before, chunk.subarray(0, shown - before.length)]);
  }

  /** What was waiting for a next chunk, when there is none. */
  flush(): Buffer {
    const rest = this.#needle.search.beginning(this.#held);
    this.#held = 0;
    return rest;
  }

  #look(bytes: Buffer): Buffer {
    const { shown, end } = maskUpTo(this.#needle, bytes);
    this.#held = this.#needle.search.beginningAtEnd(shown, end);
    return this.#held === 0 ? shown : shown.subarray(0, shown.length - this.#held);
  }
}
