/** What a buffer of its own takes beside its bytes: measured with bodies in chunks of one byte. */
const LEAST_HELD = 512;

/** What a piece of a body takes of memory, in bytes, where it is kept as it came: the framework keeps each so. */
export function heldBytes(piece: Buffer): number {
  return Math.max(piece.length, LEAST_HELD);
}
