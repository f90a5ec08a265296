/** Values that every thread of a server reads at every decision, in shared memory that a single thread writes. */
export type SharedCells = {
  readonly buffer: SharedArrayBuffer;
  /** Number of messages that have been broadcast. */
  readonly broadcasts: Int32Array;
  /** Four doubles: the lease. A double that is aligned is read and written whole wherever Node runs. */
  readonly lease: Float64Array;
  /** The last change applied. */
  readonly seq: Float64Array;
  /** About how many replicas there are; 0 if it is not known. */
  readonly replicas: Float64Array;
};

const DOUBLE = Float64Array.BYTES_PER_ELEMENT;

/** @param buffer memory of another thread's cells; new memory if it is left out */
export function sharedCells(buffer = new SharedArrayBuffer(7 * DOUBLE)): SharedCells {
  return {
    buffer,
    broadcasts: new Int32Array(buffer, 0, 1),
    lease: new Float64Array(buffer, DOUBLE, 4),
    seq: new Float64Array(buffer, 5 * DOUBLE, 1),
    replicas: new Float64Array(buffer, 6 * DOUBLE, 1),
  };
}

/** Returns about how many threads of all replicas serve: each replica has as many. */
export function threadsOf({ replicas }: SharedCells, workers: number): number {
  return Math.max(replicas[0] ?? 1, 1) * workers;
}
