import type { AddressGuard } from "./addresses.ts";

type Waiting = {
  readonly hostname: string;
  readonly since: number;
  begin(holder: string): void;
  giveUp(): void;
};

/** A look-up of so long is slow, as is its holder until one of theirs is not. Milliseconds. */
const SLOW_MS = 1_000;
/** Slow holders that are remembered. */
const MAX_SLOW = 10_000;

/** What bounds look-ups. */
type LookupBounds = {
  /** How many names are looked up at once; of one holder it is one, and of all slow ones together. */
  readonly most: number;
  /** How long the caller of a look-up waits. Milliseconds. */
  readonly patienceMs: number;
  /** For whom a name is looked up at present. */
  readonly holdersOf: (hostname: string) => Iterable<string>;
};

/**
 * Bounds how many names are looked up at once by all guards that are made with it. Further look-ups wait for their
 * turn, and for the end of their holder's own: the servers of a name may take as long as they like. Holders whose last
 * look-up was slow share one place. One whose turn comes after its time is given up: its caller waits no more.
 *
 * @param monotonic milliseconds on a clock that never jumps
 * @returns wraps a guard, so that the limit applies to it
 */
export function lookupLimit(
  { most, patienceMs, holdersOf }: LookupBounds,
  monotonic: () => number = () => performance.now(),
): (guard: AddressGuard) => AddressGuard {
  let queue: Waiting[] = [];
  /** The holders of those under way, and since when each is. */
  const busy = new Map<string, number>();
  const slow = new Set<string>();

  const takesLong = (holder: string): boolean => monotonic() - (busy.get(holder) ?? Infinity) > SLOW_MS;

  /** A holder of a name whose turn it may be; the name stands for itself where it has none. */
  function freeHolder(hostname: string): string | undefined {
    const holders = [...holdersOf(hostname)];
    const isSlowBusy = [...busy.keys()].some((holder) => slow.has(holder) || takesLong(holder));
    return (holders.length > 0 ? holders : [hostname]).find(
      (holder) => !busy.has(holder) && !(isSlowBusy && slow.has(holder)),
    );
  }

  function end(holder: string): void {
    if (!takesLong(holder)) slow.delete(holder);
    else if (slow.size < MAX_SLOW) slow.add(holder);
    busy.delete(holder);
  }

  function goOn(): void {
    const waiting = queue;
    queue = [];
    for (const next of waiting) {
      if (monotonic() - next.since > patienceMs) {
        next.giveUp();
        continue;
      }
      const holder = busy.size < most ? freeHolder(next.hostname) : undefined;
      if (holder === undefined) queue.push(next);
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
          busy.set(holder, monotonic());
          lookup(hostname, options, (...found) => {
            end(holder);
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
