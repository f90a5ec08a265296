import { ByteSearch } from "./byte-search.ts";

/** Shorter than any provider's credential: masking one so short would hit ordinary text. */
const SHORTEST = 8;
const ASTERISK = 0x2a;
const NOTHING = Buffer.alloc(0);

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

/** The part of a header's value that may be shown. */
export function maskHeader(needle: Needle, value: string): string {
  const { text, masked } = needle;
  // Most values are shorter: they are not copied.
  return masked === 0 || value.length < text.length ? value : maskWhole(needle, Buffer.from(value)).toString();
}

/** What of a body that is whole may be shown. */
export function maskWhole({ search, masked }: Needle, bytes: Buffer): Buffer {
  let at = masked === 0 ? -1 : search.indexOf(bytes);
  if (at === -1) return bytes;
  const copy = Buffer.from(bytes);
  for (; at !== -1; at = search.indexOf(copy, at + masked)) copy.fill(ASTERISK, at, at + masked);
  return copy;
}

/**
 * Takes a provider's credential out of what an upstream returns, for upstreams that echo what they were sent (threats
 * b40). Each letter becomes an asterisk, so that lengths stay; what does not hold the credential passes as it is,
 * without a copy.
 */
export class CredentialMask {
  readonly #needle: Needle;
  #held: Buffer = NOTHING;

  constructor(needle: Needle) {
    this.#needle = needle;
  }

  /** Takes the next chunk; returns what may go on. An end that may be a credential's beginning waits for the next. */
  push(chunk: Buffer): Buffer {
    if (this.#needle.masked === 0) return chunk;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const shown = maskWhole(this.#needle, bytes);
    const held = this.#needle.search.beginningAtEnd(shown);
    this.#held = held === 0 ? NOTHING : shown.subarray(shown.length - held);
    return held === 0 ? shown : shown.subarray(0, shown.length - held);
  }

  /** What was waiting for a next chunk, when there is none. */
  flush(): Buffer {
    const rest = this.#held;
    this.#held = NOTHING;
    return rest;
  }
}
