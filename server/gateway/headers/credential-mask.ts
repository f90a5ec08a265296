/** Shorter than any provider's credential: masking one so short would hit ordinary text. */
const SHORTEST = 8;
const ASTERISK = 0x2a;
const NOTHING = Buffer.alloc(0);

/** A credential as it is looked for: made once for many answers. No bytes where it is too short to be masked. */
export type Needle = { readonly text: string; readonly bytes: Buffer };

export function needleOf(credential: string): Needle {
  return { text: credential, bytes: credential.length < SHORTEST ? NOTHING : Buffer.from(credential) };
}

/** The part of a header's value that may be shown. */
export function maskHeader({ text, bytes }: Needle, value: string): string {
  return bytes.length === 0 || !value.includes(text) ? value : value.replaceAll(text, "*".repeat(text.length));
}

/** What of a body that is whole may be shown. */
export function maskWhole({ bytes }: Needle, body: Buffer): Buffer {
  return bytes.length === 0 ? body : masked(bytes, body);
}

function masked(needle: Buffer, bytes: Buffer): Buffer {
  let at = bytes.indexOf(needle);
  if (at === -1) return bytes;
  const copy = Buffer.from(bytes);
  for (; at !== -1; at = copy.indexOf(needle, at)) copy.fill(ASTERISK, at, at + needle.length);
  return copy;
}

/**
 * Takes a provider's credential out of what an upstream returns, for upstreams that echo what they were sent (threats
 * b40). Each letter becomes an asterisk, so that lengths stay; what does not hold the credential passes as it is,
 * without a copy.
 */
export class CredentialMask {
  readonly #needle: Buffer;
  #held: Buffer = NOTHING;

  constructor({ bytes }: Needle) {
    this.#needle = bytes;
  }

  /** Takes the next chunk; returns what may go on. An end that may be a credential's beginning waits for the next. */
  push(chunk: Buffer): Buffer {
    if (this.#needle.length === 0) return chunk;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const shown = masked(this.#needle, bytes);
    const held = this.#beginningAtEnd(shown);
    this.#held = held === 0 ? NOTHING : shown.subarray(shown.length - held);
    return held === 0 ? shown : shown.subarray(0, shown.length - held);
  }

  /** What was waiting for a next chunk, when there is none. */
  flush(): Buffer {
    const rest = this.#held;
    this.#held = NOTHING;
    return rest;
  }

  /** The length of the longest end of the bytes that begins the credential. */
  #beginningAtEnd(bytes: Buffer): number {
    const first = this.#needle[0] ?? 0;
    const from = Math.max(0, bytes.length - this.#needle.length + 1);
    for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
      if (bytes.subarray(at).equals(this.#needle.subarray(0, bytes.length - at))) return bytes.length - at;
    }
    return 0;
  }
}
