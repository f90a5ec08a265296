import { ByteSearch } from "./byte-search.ts";

/**
 * Characters of the shortest credential that is masked: a provider's is longer, and a shorter one would hit ordinary
 * text.
 */
const SHORTEST = 8;
const ASTERISK = 0x2a;
/** Pattern of a credential's parts that JSON and URLs write as they are, whatever they escape around them (threats b418). */
const PART = /[\w.-]{16,}/g;
/** Parts that are searched for at most, the longest: each is another search through all of an answer. */
const MOST_PARTS = 4;

/** A credential in the form in which it is searched for, made once for many answers. */
export type Needle = {
  readonly text: string;
  readonly search: ByteSearch;
  /** Length in bytes; 0 if the credential is too short to be masked. */
  readonly masked: number;
  /** Part of the credential that is searched for in what is left; undefined for most, which have no other characters. */
  readonly part: Needle | undefined;
};

export function needleOf(credential: string): Needle {
  const parts = [...new Set(credential.match(PART))].filter((part) => part !== credential);
  const longest = parts.sort((one, other) => other.length - one.length).slice(0, MOST_PARTS);
  return needleBefore(longest.reduceRight<Needle | undefined>(needleBefore, undefined), credential);
}

function needleBefore(part: Needle | undefined, text: string): Needle {
  const bytes = Buffer.from(text);
  return { text, search: new ByteSearch(bytes), masked: text.length < SHORTEST ? 0 : bytes.length, part };
}

/** True if a text that an upstream returns has its credential in it, or a part of that. */
export function holdsCredential({ text, masked, part }: Needle, returned: string): boolean {
  return (masked > 0 && returned.includes(text)) || (part !== undefined && holdsCredential(part, returned));
}

/** Returns a header's value with the credential masked. */
export function maskHeader(needle: Needle, value: string): string {
  const { text, masked, part } = needle;
  // Most values are shorter: they are not copied.
  const shown =
    masked === 0 || value.length < text.length ? value : maskUpTo(needle, Buffer.from(value)).shown.toString();
  return part === undefined ? shown : maskHeader(part, shown);
}

/** Returns a whole body with the credential masked. */
export function maskWhole(needle: Needle, bytes: Buffer): Buffer {
  const { shown } = maskUpTo(needle, bytes);
  return needle.part === undefined ? shown : maskWhole(needle.part, shown);
}

/** Masks the credential, and returns the position behind its last occurrence too; 0 for none. */
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
 * Masks a provider's credential in what an upstream returns, for upstreams that echo what they were sent (threats b40).
 * Each byte becomes an asterisk, so that lengths stay; what does not hold the credential passes as it is, without a
 * copy.
 */
export class CredentialMask {
  readonly #needle: Needle;
  /** Mask for what this one lets pass; undefined for most credentials. */
  readonly #next: CredentialMask | undefined;
  /** Number of bytes that are held back: they equal the first bytes of the credential. */
  #held = 0;

  constructor(needle: Needle) {
    this.#needle = needle;
    this.#next = needle.part && new CredentialMask(needle.part);
  }

  /** Takes the next chunk; returns what may go on. A suffix that may begin the credential waits for the next chunk. */
  push(chunk: Buffer): Buffer {
    const shown = this.#push(chunk);
    return this.#next === undefined ? shown : this.#next.push(shown);
  }

  #push(chunk: Buffer): Buffer {
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

  /** Returns what was held back for a next chunk, when there is none. */
  flush(): Buffer {
    const rest = this.#needle.search.beginning(this.#held);
    this.#held = 0;
    return this.#next === undefined ? rest : Buffer.concat([this.#next.push(rest), this.#next.flush()]);
  }

  #look(bytes: Buffer): Buffer {
    const { shown, end } = maskUpTo(this.#needle, bytes);
    this.#held = this.#needle.search.beginningAtEnd(shown, end);
    return this.#held === 0 ? shown : shown.subarray(0, shown.length - this.#held);
  }
}
