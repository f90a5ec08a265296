/** Converts a digest of 32 latin1 characters, the form that our functions use, to the value of a `bytea`. */
export function toDigest(latin1: string): Buffer {
  return Buffer.from(latin1, "latin1");
}

/** Converts a `bytea` digest, as either driver gives it, to 32 latin1 characters. */
export function fromDigest(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
