import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import type { Needle } from "../headers/credential-mask.ts";

/** An upstream's error is text for a person: one that is longer, or unpacks to more than the limit, is not inspected. */
export const MAX_ENCODED = 64 * 1024;
const LIMIT = { maxOutputLength: 1024 * 1024 };

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body, LIMIT),
  "x-gzip": (body) => gunzipSync(body, LIMIT),
  deflate: (body) => inflateSync(body, LIMIT),
  br: (body) => brotliDecompressSync(body, LIMIT),
  zstd: (body) => zstdDecompressSync(body, LIMIT),
};

/** The text of an encoded error; undefined for one that cannot be inspected, such as of stacked encodings. */
export function decodedError(body: Buffer, encoding: string): Buffer | undefined {
  try {
    return DECODERS[encoding.trim().toLowerCase()]?.(body);
  } catch {
    return undefined;
  }
}

/**
 * Whether an encoded error may be shown: it can be decoded, and does not hold the credential that was sent (threats
 * b40).
 */
export function mayBeShown(body: Buffer, encoding: string, { search }: Needle): boolean {
  const text = decodedError(body, encoding);
  return text !== undefined && search.indexOf(text) === -1;
}
