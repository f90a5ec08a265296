/** What every thread of a server reads at every decision, in one piece of shared memory that one thread writes. */
export type SharedCells = {
  readonly buffer: SharedArrayBuffer;
  /** How many messages have been broadcast. */
  readonly broadcasts: Int32Array;
  /** Four doubles: the lease. A double that is aligned is read and written whole wherever Node runs. */
  readonly lease: Float64Array;
  /** The last change applied. */
  readonly seq: Float64Array;
  /** About how many replicas there are; 0 where it is not known. */
  readonly replicas: Float64Array;
};

const DOUBLE = Float64Array.BYTES_PER_ELEMENT;

/** @param buffer of another thread's cells; new ones where it is left out */
export function sharedCells(buffer = new SharedArrayBuffer(7 * DOUBLE)): SharedCells {
  return {
    buffer,
    broadcasts: new Int32Array(buffer, 0, 1),
    lease: new Float64Array(buffer, DOUBLE, 4),
    seq: new Float64Array(buffer, 5 * DOUBLE, 1),
    replicas: new Float64Array(buffer, 6 * DOUBLE, 1),
  };
}

/** About how many threads of all replicas serve: each replica has as many. */
export function threadsOf({ replicas }: SharedCells, workers: number): number {
  return Math.max(replicas[0] ?? 1, 1) * workers;
}
