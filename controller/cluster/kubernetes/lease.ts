/**
 * Leader election as client-go has it, on a Lease. A leader that cannot renew its lease stops before another can take
 * it: it knows by its own clocks alone until when it leads, also when it was paused or its event loop stood still.
 */
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../../domain/error-text.ts";
import type { LogLine } from "../../log-line.ts";
import { createLeaseRecord, type LeaseRecordOptions } from "./lease-record.ts";

/**
 * How long a leader believes in its lease, which others respect for 15 s, and how often it is renewed. Milliseconds.
 */
export const RENEW_DEADLINE_MS = 10_000;
const RETRY_MS = 2_000;
/** Without an answer by then a renewal is tried again. */
export const ANSWER_TIMEOUT_MS = 4_000;

export type LeaseOptions = LeaseRecordOptions & {
  readonly random: () => number;
  readonly log: LogLine;
  /** Told after each attempt at the lease whether the API server let us have it, or see that it is another's. */
  readonly onAttempt?: (isAnswered: boolean) => void;
};

/**
 * The leadership was lost while there was work to do. Who gets this ends the process: nothing that it holds is current.
 */
export class LeadershipLostError extends Error {
  constructor() {
    super("the leadership was lost: another controller may lead by now");
    this.name = "LeadershipLostError";
  }
}

/**
 * Waits to become the leader, leads until `lead` ends, then gives the lease back.
 *
 * @param lead its signal ends with `signal`, or with the leadership; from then on writes to the cluster are refused
 * @throws LeadershipLostError, and whatever `lead` throws
 */
export async function runAsLeader(
  options: LeaseOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { api, identity, random, log, onAttempt = () => {} } = options;
  const record = createLeaseRecord(options);
  const term = createTerm(options.clock);

  /** One attempt at taking or renewing the lease, counted from before it was sent. */
  async function take(timeoutMs: number): Promise<"ours" | "another's" | "unknown"> {
    const since = term.mark();
    try {
      const isOurs = await record.take(timeoutMs);
      onAttempt(true);
      if (!isOurs) return "another's";
      term.begin(since);
      return "ours";
    } catch (error) {
      onAttempt(false);
      log("warn", `while renewing the lease: ${errorText(error)}`);
      return "unknown";
    }
  }

  /** Renews for as long as somebody leads; fails when that came too late. */
  async function renew(over: AbortSignal): Promise<void> {
    for (;;) {
      await delay(Math.min(RETRY_MS, term.left()), undefined, { signal: over }).catch(() => {});
      if (over.aborted) return;
      const lost = !term.holds() || (await take(Math.min(ANSWER_TIMEOUT_MS, term.left()))) === "another's";
      if (!lost || over.aborted) continue;
      term.end();
      throw new LeadershipLostError();
    }
  }

  while ((await take(ANSWER_TIMEOUT_MS)) !== "ours") {
    await delay(RETRY_MS * (1 + random() / 5), undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
  }
  log("info", `${identity} leads`);
  api.guardWrites(term.holds);
  const over = new AbortController();
  const leading = lead(AbortSignal.any([signal, over.signal])).finally(() => over.abort());
  try {
    await Promise.all([leading, renew(over.signal)]);
  } finally {
    over.abort();
    await leading.catch(() => {});
    const isOurs = term.holds();
    term.end();
    if (isOurs)
      await record
        .release(ANSWER_TIMEOUT_MS)
        .catch((error: unknown) => log("warn", `the lease stays: ${errorText(error)}`));
  }
}

/** A moment on both clocks: the steady one stands still while a machine is suspended, the other one may be set. */
type Moment = { readonly wall: number; readonly steady: number };

function createTerm({ now, monotonic }: LeaseOptions["clock"]) {
  let since: Moment | undefined;
  const left = () => {
    if (since === undefined) return 0;
    return Math.max(0, RENEW_DEADLINE_MS - Math.max(monotonic() - since.steady, now() - since.wall));
  };
  return {
    mark: (): Moment => ({ wall: now(), steady: monotonic() }),
    begin(moment: Moment) {
      since = moment;
    },
    end() {
      since = undefined;
    },
    /** Milliseconds until the leadership ends unless it is renewed. */
    left,
    holds: () => left() > 0,
  };
}
