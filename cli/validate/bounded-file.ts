import { closeSync, openSync, readSync } from "node:fs";

/** Bytes that are read at once, of what says no size, such as a pipe. */
const PIECE_BYTES = 64 * 1024;

/**
 * Reads a file, a pipe or a device up to a bound, and one byte more, by which what is too long is known.
 *
 * @param most in bytes
 */
export function readBounded(path: string, most: number): Buffer {
  const file = openSync(path, "r");
  try {
    const pieces: Buffer[] = [];
    for (let left = most + 1; left > 0; left -= pieces.at(-1)?.length ?? 0) {
      const piece = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES));
      const bytes = readSync(file, piece);
      if (bytes === 0) break;
      pieces.push(piece.subarray(0, bytes));
    }
    return Buffer.concat(pieces);
  } finally {
    closeSync(file);
  }
}
