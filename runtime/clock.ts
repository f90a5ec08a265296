/** Clock that is passed as an argument, so that tests can move the time. */
export type Clock = {
  /** Returns milliseconds since the epoch: for expiry, and for anything that is stored. */
  now(): number;
  /** Returns milliseconds on a clock that never jumps: for the lease. */
  monotonic(): number;
};

/** Clock of the system. Its monotonic time is the same on every thread, which that of `performance.now()` is not. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
};
