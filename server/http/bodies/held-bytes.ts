/** Bytes that a buffer of its own takes at least, measured with bodies in chunks of one byte. */
const LEAST_HELD = 512;

/** Returns the bytes of memory that a piece of a body takes if it is kept as it came, as the framework keeps it. */
export function heldBytes(piece: Buffer): number {
  return Math.max(piece.length, LEAST_HELD);
}
