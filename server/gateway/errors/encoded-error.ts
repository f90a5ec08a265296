import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import type { Needle } from "../headers/credential-mask.ts";

/** Bytes at most of an error that is inspected: it is text for a person. Below, what it may unpack to. */
export const MAX_ENCODED = 64 * 1024;
const LIMIT = { maxOutputLength: 1024 * 1024 };

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body, LIMIT),
  "x-gzip": (body) => gunzipSync(body, LIMIT),
  deflate: (body) => inflateSync(body, LIMIT),
  br: (body) => brotliDecompressSync(body, LIMIT),
  zstd: (body) => zstdDecompressSync(body, LIMIT),
};

/** Decodes an encoded error; undefined if it cannot be inspected, for example because its encodings are stacked. */
export function decodedError(body: Buffer, encoding: string): Buffer | undefined {
  try {
    return DECODERS[encoding.trim().toLowerCase()]?.(body);
  } catch {
    return undefined;
  }
}

/**
 * True if an encoded error may be shown: it can be decoded, and does not hold the credential that was sent, if any
 * (threats b40), or a part of it.
 */
export function mayBeShown(body: Buffer, encoding: string, needle: Needle): boolean {
  const text = decodedError(body, encoding);
  return text !== undefined && (needle.text === "" || !isIn(text, needle));
}

function isIn(text: Buffer, { search, part }: Needle): boolean {
  return search.indexOf(text) !== -1 || (part !== undefined && isIn(text, part));
}
