import type { AddressGuard } from "./addresses.ts";

type Waiting = { readonly since: number; begin(): void; giveUp(): void };

/**
 * Bounds how many names are looked up at once by all guards that are made with it. The others wait for their turn; what
 * comes to it after its time is not looked up any more, so that no more wait than are wanted.
 *
 * @param patienceMs how long whoever asks waits
 * @param monotonic milliseconds on a clock that never jumps
 * @returns makes a guard that is bound by it of one that is not
 */
export function lookupLimit(
  most: number,
  patienceMs: number,
  monotonic: () => number = () => performance.now(),
): (guard: AddressGuard) => AddressGuard {
  const queue: Waiting[] = [];
  let underWay = 0;

  function goOn(): void {
    while (underWay < most) {
      const next = queue.shift();
      if (next === undefined) return;
      if (monotonic() - next.since > patienceMs) next.giveUp();
      else next.begin();
    }
  }

  return ({ allows, lookup }) => ({
    allows,
    lookup(hostname, options, callback) {
      queue.push({
        since: monotonic(),
        begin() {
          underWay += 1;
          lookup(hostname, options, (...found) => {
            underWay -= 1;
            goOn();
            callback(...found);
          });
        },
        giveUp: () => callback(new LookupTimeoutError(), ""),
      });
      goOn();
    },
  });
}

class LookupTimeoutError extends Error {
  readonly code = "LOOKUP_TIMEOUT";
  constructor() {
    super("the name was not looked up in time: others took longer");
    this.name = "LookupTimeoutError";
  }
}
