import type { AddressGuard } from "./addresses.ts";

type Waiting = { readonly since: number; begin(): void; giveUp(): void };

/**
 * Bounds how many names are looked up at once by all guards that are made with it. Further look-ups wait for their
 * turn. One whose turn comes after its time is given up: its caller waits no more.
 *
 * @param patienceMs how long the caller of a look-up waits
 * @param monotonic milliseconds on a clock that never jumps
 * @returns wraps a guard, so that the limit applies to it
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
