import type { Clock } from "../server/deps.ts";

/** The system's clock. Its monotonic time is the same on every thread, which `performance.now()` is not. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
};
