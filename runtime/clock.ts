/** Time comes in as an argument, so that tests can move it. */
export type Clock = {
  /** Milliseconds since the epoch: for expiry, and for anything that is stored. */
  now(): number;
  /** Milliseconds on a clock that never jumps: for the lease. */
  monotonic(): number;
};

/** The system's clock. Its monotonic time is the same on every thread, which `performance.now()` is not. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
};
