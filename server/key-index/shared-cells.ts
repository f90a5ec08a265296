/** What every thread of a server reads at every decision, in one piece of shared memory that one thread writes. */
export type SharedCells = {
  readonly buffer: SharedArrayBuffer;
  /** How many messages have been broadcast. */
  readonly broadcasts: Int32Array;
  /** Four doubles: the lease. A double that is aligned is read and written whole wherever Node runs. */
  readonly lease: Float64Array;
  /** The last change applied. */
  readonly seq: Float64Array;
};

const DOUBLE = Float64Array.BYTES_PER_ELEMENT;

/** @param buffer of another thread's cells; new ones where it is left out */
export function sharedCells(buffer = new SharedArrayBuffer(6 * DOUBLE)): SharedCells {
  return {
    buffer,
    broadcasts: new Int32Array(buffer, 0, 1),
    lease: new Float64Array(buffer, DOUBLE, 4),
    seq: new Float64Array(buffer, 5 * DOUBLE, 1),
  };
}
