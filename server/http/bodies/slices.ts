/** Work that can stop and go on: does a slice of about so many steps, and returns true if it is done. */
type SlicedWork = (steps: number) => boolean;

/**
 * Number of steps in a slice. A step is a few nanoseconds, so that a slice stays far below the 50 ms that a call may
 * hold up others.
 */
export const SLICE_STEPS = 250_000;

type QueuedWork = {
  readonly work: SlicedWork;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

const waiting: QueuedWork[] = [];

/**
 * Does work in slices, with other requests between them: one slice of all such work in each iteration of the event
 * loop, in round robin. Work that its first slice completes is done at once.
 *
 * @returns undefined if the work is done, else a promise for its end, which is rejected with what the work throws
 */
export function inSlices(work: SlicedWork): Promise<void> | undefined {
  if (work(SLICE_STEPS)) return undefined;
  return new Promise((resolve, reject) => {
    if (waiting.push({ work, resolve, reject }) === 1) setImmediate(takeSlice);
  });
}

function takeSlice(): void {
  const [first] = waiting;
  if (first === undefined) return;
  waiting.shift();
  try {
    if (first.work(SLICE_STEPS)) first.resolve();
    else waiting.push(first);
  } catch (error) {
    first.reject(error);
  }
  if (waiting.length > 0) setImmediate(takeSlice);
}
