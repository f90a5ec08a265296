import { promisify } from "node:util";
import { brotliCompress, gzip, type ZlibOptions } from "node:zlib";

/** How a file's bytes come in each coding that it is sent in: made once, when they are first asked for. */
export type EncodedAsset = Readonly<Record<"br" | "gzip" | "identity", () => Promise<Buffer>>>;

/** Off the serving thread, which decides calls: Brotli takes tens of milliseconds for a script. */
const [toBrotli, toGzip] = [promisify(brotliCompress), promisify<Buffer, ZlibOptions, Buffer>(gzip)];

/** The smallest first. */
const COMPRESSED = ["br", "gzip"] as const;

/** Only of a file that is the same for all: the length of a compressed answer may say what is secret in it. */
export function encodedAsset(content: Buffer): EncodedAsset {
  return {
    br: once(() => toBrotli(content)),
    gzip: once(() => toGzip(content, { level: 9 })),
    identity: async () => content,
  };
}

/**
 * The coding in which a client is answered.
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
