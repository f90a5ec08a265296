import type { AddressGuard } from "./addresses.ts";

type Waiting = {
  readonly hostname: string;
  readonly since: number;
  begin(holder: string): void;
  giveUp(): void;
};

/** What bounds look-ups. */
type LookupBounds = {
  /** How many names are looked up at once; of one holder it is one. */
  readonly most: number;
  /** How long the caller of a look-up waits. Milliseconds. */
  readonly patienceMs: number;
  /** For whom a name is looked up at present. */
  readonly holdersOf: (hostname: string) => Iterable<string>;
};

/**
 * Bounds how many names are looked up at once by all guards that are made with it. Further look-ups wait for their
 * turn, and for the end of their holder's own: the servers of a name may take as long as they like. One whose turn
 * comes after its time is given up: its caller waits no more.
 *
 * @param monotonic milliseconds on a clock that never jumps
 * @returns wraps a guard, so that the limit applies to it
 */
export function lookupLimit(
  { most, patienceMs, holdersOf }: LookupBounds,
  monotonic: () => number = () => performance.now(),
): (guard: AddressGuard) => AddressGuard {
  let queue: Waiting[] = [];
  const busy = new Set<string>();

  /** A holder of a name of which none is looked up; the name stands for itself where it has none. */
  function freeHolder(hostname: string): string | undefined {
    const holders = [...holdersOf(hostname)];
    return (holders.length > 0 ? holders : [hostname]).find((holder) => !busy.has(holder));
  }

  function goOn(): void {
    const waiting = queue;
    queue = [];
    for (const next of waiting) {
      const holder = busy.size < most ? freeHolder(next.hostname) : undefined;
      if (holder === undefined) queue.push(next);
      else if (monotonic() - next.since > patienceMs) next.giveUp();
      else next.begin(holder);
    }
  }

  return ({ allows, lookup }) => ({
    allows,
    lookup(hostname, options, callback) {
      queue.push({
        hostname,
        since: monotonic(),
        begin(holder) {
          busy.add(holder);
          lookup(hostname, options, (...found) => {
            busy.delete(holder);
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
