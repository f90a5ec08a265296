/** A digest at our functions, 32 latin1 characters, to what a `bytea` takes. */
export function toDigest(latin1: string): Buffer {
  return Buffer.from(latin1, "latin1");
}

/** A `bytea` digest as either driver gives it, to 32 latin1 characters. */
export function fromDigest(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
