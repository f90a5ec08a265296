/** Size in bytes from which on a piece is kept as it is. Smaller pieces are copied together. */
const SMALL_PIECE = 2 * 1024;
const BLOCK = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Collects a body as it comes. A body may come in a million pieces of one byte: kept one by one, each would take a
 * hundred times its size, and joining them again with each piece would be quadratic.
 */
export class BodyPieces {
  #pieces: Buffer[] = [];
  #block = NOTHING;
  /** Start of the part of the block that is filled and not yet among the pieces. */
  #from = 0;
  #to = 0;
  #size = 0;

  /** Size of the body in bytes. */
  get size(): number {
    return this.#size;
  }

  /** Number of buffers that hold the body. */
  get buffers(): number {
    return this.#pieces.length + (this.#to > this.#from ? 1 : 0);
  }

  add(piece: Buffer): void {
    const isFirst = this.#size === 0;
    this.#size += piece.length;
    // Most bodies come in one piece: it is not copied, and has no list that could take more.
    if (isFirst) {
      this.#pieces = [piece];
      return;
    }
    if (piece.length >= SMALL_PIECE) {
      this.#closePart();
      this.#pieces.push(piece);
      return;
    }
    if (this.#to + piece.length > this.#block.length) {
      this.#closePart();
      this.#block = Buffer.allocUnsafeSlow(BLOCK);
      this.#from = this.#to = 0;
    }
    this.#to += piece.copy(this.#block, this.#to);
  }

  /** Returns the whole body, without a copy if it has one piece. */
  whole(): Buffer {
    this.#closePart();
    const [first = NOTHING] = this.#pieces;
    return this.#pieces.length > 1 ? Buffer.concat(this.#pieces, this.#size) : first;
  }

  /** Buffers that hold the body, in order. */
  get parts(): readonly Buffer[] {
    this.#closePart();
    return this.#pieces;
  }

  #closePart(): void {
    if (this.#to > this.#from) this.#pieces.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}
