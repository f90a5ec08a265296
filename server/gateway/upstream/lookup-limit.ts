import type { LookupFunction } from "node:net";
import { SlowOwners } from "../../../runtime/slow-owners.ts";
import type { AddressGuard } from "./addresses.ts";

type QueuedLookup = {
  readonly hostname: string;
  /** Holder of the look-up; undefined if its holders are found by its name. */
  readonly holder: string | undefined;
  readonly since: number;
  begin(holder: string): void;
  giveUp(): void;
};

/** Milliseconds from which on a look-up is slow, and so is its holder until a look-up of that holder is not. */
const SLOW_MS = 1_000;
/** Names of one holder that may wait: with each that comes, all that wait are looked at (threats b153). */
const MAX_WAITING = 256;

/** Bounds of look-ups. */
type LookupBounds = {
  /** Names that are looked up at once; of one holder it is one, and of all slow holders together. */
  readonly most: number;
  /** Milliseconds that the caller of a look-up waits. */
  readonly patienceMs: number;
  /** Returns the holders that a name is looked up for at present, for guards that are wrapped for no holder. */
  readonly holdersOf?: (hostname: string) => Iterable<string>;
};

/** Wraps a guard, so that the limit applies to it; for one holder alone if it is given. */
type LimitGuard = (guard: AddressGuard, holder?: string) => AddressGuard;
type Callback = Parameters<LookupFunction>[2];

/**
 * Bounds how many names are looked up at once by all guards that are made with it. Further look-ups wait for a slot,
 * and for the end of their holder's own: the servers of a name may take as long as they like. Holders whose last
 * look-up was slow share one slot. A name that a guard looks up already is not looked up beside it. A look-up is given
 * up if its slot comes after its time, since its caller waits no more, and if its holder has too many that wait.
 *
 * @param monotonic milliseconds on a clock that never jumps
 */
export function lookupLimit(
  { most, patienceMs, holdersOf = () => [] }: LookupBounds,
  monotonic: () => number = () => performance.now(),
): LimitGuard {
  let queue: QueuedLookup[] = [];
  /** Number of names in the queue, by holder. */
  const waitingOf = new Map<string, number>();
  /** Time at which each look-up under way began, by holder. */
  const busy = new Map<string, number>();
  const slow = new SlowOwners(SLOW_MS, monotonic);

  const sinceOf = (holder: string): number => busy.get(holder) ?? Infinity;

  /** Returns a holder of a name that may be looked up now; a name without a holder stands for itself. */
  function freeHolder({ hostname, holder: own }: QueuedLookup): string | undefined {
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
    /** Callers that wait for each look-up, by its name and options. */
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
