import { promisify } from "node:util";
import { brotliCompress, gzip, type ZlibOptions } from "node:zlib";

/** Bytes of a file in each coding that it is sent in: encoded once, when the coding is first requested. */
export type EncodedAsset = Readonly<Record<"br" | "gzip" | "identity", () => Promise<Buffer>>>;

/**
 * Compression in other threads than the serving thread, which decides calls: Brotli takes tens of milliseconds for a
 * script.
 */
const [toBrotli, toGzip] = [promisify(brotliCompress), promisify<Buffer, ZlibOptions, Buffer>(gzip)];

/** Codings that compress, the smallest result first. */
const COMPRESSED = ["br", "gzip"] as const;

/**
 * Encodes a file that is the same for all callers. Other content must not be compressed: the length of a compressed
 * answer may reveal secrets in it.
 */
export function encodedAsset(content: Buffer): EncodedAsset {
  return {
    br: once(() => toBrotli(content)),
    gzip: once(() => toGzip(content, { level: 9 })),
    identity: async () => content,
  };
}

/**
 * Returns the coding to answer a client in.
 *
 * @param accepted its `Accept-Encoding`
 */
export function codingFor(accepted = ""): keyof EncodedAsset {
  const offers = accepted
    .toLowerCase()
    .split(",")
    .map((offer) => offer.replaceAll(/[ \t]/g, "").split(";"));
  const takes = (coding: string) => offers.some(([name, q = ""]) => name === coding && !/^q=0(\.0*)?$/.test(q));
  return COMPRESSED.find(takes) ?? "identity";
}

function once(make: () => Promise<Buffer>): () => Promise<Buffer> {
  let made: Promise<Buffer> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
