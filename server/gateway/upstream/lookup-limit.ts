import type { LookupFunction } from "node:net";
import { SlowOwners } from "../../../runtime/slow-owners.ts";
import type { AddressGuard } from "./addresses.ts";

type Waiting = {
  readonly hostname: string;
  /** For whom; undefined where its holders are looked for by its name. */
  readonly holder: string | undefined;
  readonly since: number;
  begin(holder: string): void;
  giveUp(): void;
};

/** A look-up of so long is slow, as is its holder until one of theirs is not. Milliseconds. */
const SLOW_MS = 1_000;
/** Names of one holder that wait: with each that comes, all that wait are looked at (threats b153). */
const MAX_WAITING = 256;

/** What bounds look-ups. */
type LookupBounds = {
  /** How many names are looked up at once; of one holder it is one, and of all slow ones together. */
  readonly most: number;
  /** How long the caller of a look-up waits. Milliseconds. */
  readonly patienceMs: number;
  /** For whom a name is looked up at present, for guards that are wrapped for no holder. */
  readonly holdersOf?: (hostname: string) => Iterable<string>;
};

/** Wraps a guard, so that the limit applies to it; for one holder alone where it is given. */
type LimitGuard = (guard: AddressGuard, holder?: string) => AddressGuard;
type Callback = Parameters<LookupFunction>[2];

/**
 * Bounds how many names are looked up at once by all guards that are made with it. Further look-ups wait for their
 * turn, and for the end of their holder's own: the servers of a name may take as long as they like. Holders whose last
 * look-up was slow share one place. A name that a guard looks up already is not looked up beside it. One whose turn
 * comes after its time is given up: its caller waits no more. So is one whose holder has many that wait.
 *
 * @param monotonic milliseconds on a clock that never jumps
 */
export function lookupLimit(
  { most, patienceMs, holdersOf = () => [] }: LookupBounds,
  monotonic: () => number = () => performance.now(),
): LimitGuard {
  let queue: Waiting[] = [];
  /** How many names of each holder are in the queue. */
  const waitingOf = new Map<string, number>();
  /** The holders of those under way, and since when each is. */
  const busy = new Map<string, number>();
  const slow = new SlowOwners(SLOW_MS, monotonic);

  const sinceOf = (holder: string): number => busy.get(holder) ?? Infinity;

  /** A holder of a name whose turn it may be; the name stands for itself where it has none. */
  function freeHolder({ hostname, holder: own }: Waiting): string | undefined {
    const holders = own === undefined ? [...holdersOf(hostname)] : [own];
    const isSlowBusy = [...busy.keys()].some((holder) => slow.has(holder) || slow.takesLong(sinceOf(holder)));
    return (holders.length > 0 ? holders : [hostname]).find(
      (holder) => !busy.has(holder) && !(isSlowBusy && slow.has(holder)),
    );
  }

  function end(holder: string): void {
    slow.noteEnd(holder, sinceOf(holder));
    busy.delete(holder);
  }

  function count(holder: string | undefined, more: 1 | -1): void {
    if (holder === undefined) return;
    const waiting = (waitingOf.get(holder) ?? 0) + more;
    if (waiting > 0) waitingOf.set(holder, waiting);
    else waitingOf.delete(holder);
  }

  function goOn(): void {
    const waiting = queue;
    queue = [];
    for (const next of waiting) {
      if (monotonic() - next.since > patienceMs) {
        next.giveUp();
        continue;
      }
      const holder = busy.size < most ? freeHolder(next) : undefined;
      if (holder === undefined) queue.push(next);
      else next.begin(holder);
    }
  }

  return ({ allows, lookup }, holder) => {
    /** Those that wait for each look-up, by its name and options. */
    const callers = new Map<string, Callback[]>();
    return {
      allows,
      lookup(hostname, options, callback) {
        const key = JSON.stringify([hostname, options]);
        const waiting = callers.get(key);
        if (waiting !== undefined) {
          waiting.push(callback);
          return;
        }
        const answer: Callback = (...found) => {
          const all = callers.get(key) ?? [];
          callers.delete(key);
          for (const each of all) each(...found);
        };
        if (holder !== undefined && (waitingOf.get(holder) ?? 0) >= MAX_WAITING) {
          process.nextTick(callback, new LookupTimeoutError(), "");
          return;
        }
        callers.set(key, [callback]);
        count(holder, 1);
        queue.push({
          hostname,
          holder,
          since: monotonic(),
          begin(busyHolder) {
            count(holder, -1);
            busy.set(busyHolder, monotonic());
            lookup(hostname, options, (...found) => {
              end(busyHolder);
              goOn();
              answer(...found);
            });
          },
          giveUp() {
            count(holder, -1);
            answer(new LookupTimeoutError(), "");
          },
        });
        goOn();
      },
    };
  };
}

class LookupTimeoutError extends Error {
  readonly code = "LOOKUP_TIMEOUT";
  constructor() {
    super("the name was not looked up in time: others took longer");
    this.name = "LookupTimeoutError";
  }
}
