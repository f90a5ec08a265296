/**
 * Leader election as client-go has it, on a Lease. A leader that cannot renew its lease stops before another can take
 * it: it knows by its own clocks alone until when it leads, also after it was paused or its event loop stood still.
 */
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../../domain/error-text.ts";
import type { LogLine } from "../../../runtime/log-line.ts";
import { createLeaseRecord, type LeaseRecordOptions } from "./lease-record.ts";
import { type Moment, TERM_MS, termLeft, untilLook, untilRenewal } from "./lease-timing.ts";

export type LeaseOptions = Omit<LeaseRecordOptions, "now"> & {
  readonly clock: { now(): number; monotonic(): number };
  readonly random: () => number;
  readonly log: LogLine;
  /**
   * Called after each attempt at the lease, with true if the API server answered that the lease is ours or another's.
   */
  readonly onAttempt?: (isAnswered: boolean) => void;
};

/**
 * Error if the leadership was lost while there was work to do. A caller that gets it has to end the process: nothing
 * that the process holds is current.
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
 * @param lead leads; its signal ends with `signal`, or with the leadership, and from then on writes to the cluster are
 * refused
 * @throws LeadershipLostError, and whatever `lead` throws
 */
export async function runAsLeader(
  options: LeaseOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { api, identity, clock, random, log, onAttempt = () => {} } = options;
  const now = (): Moment => ({ wall: clock.now(), steady: clock.monotonic() });
  const record = createLeaseRecord({ ...options, now });
  /** Time at which the last write that gave us the lease was sent; undefined while we do not lead. */
  const term: { sent: Moment | undefined } = { sent: undefined };
  const left = () => (term.sent === undefined ? 0 : termLeft(term.sent, now()));

  /** Makes one attempt at taking or renewing the lease. */
  async function take(timeLeft: () => number): Promise<"ours" | "another's" | "unknown"> {
    try {
      const sent = await record.take(timeLeft);
      onAttempt(true);
      if (sent === undefined) return "another's";
      term.sent = sent;
      return "ours";
    } catch (error) {
      onAttempt(false);
      log("warn", `while renewing the lease: ${errorText(error)}`);
      return "unknown";
    }
  }

  /** Renews for as long as this leads; fails if a renewal came too late. */
  async function renew(over: AbortSignal): Promise<void> {
    let begun = term.sent ?? now();
    for (;;) {
      await delay(Math.min(untilRenewal(begun, now()), left()), undefined, { signal: over }).catch(() => {});
      if (over.aborted) return;
      begun = now();
      const lost = left() === 0 || (await take(left)) === "another's";
      if (!lost || over.aborted) continue;
      term.sent = undefined;
      throw new LeadershipLostError();
    }
  }

  // The term counts from when the request that takes the lease is sent: each request has a whole term.
  while ((await take(() => TERM_MS)) !== "ours") {
    await delay(untilLook(record.respectLeft(), random()), undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
  }
  log("info", `${identity} leads`);
  api.guardWrites(() => left() > 0);
  const over = new AbortController();
  const leading = lead(AbortSignal.any([signal, over.signal])).finally(() => over.abort());
  const renewing = renew(over.signal);
  try {
    await Promise.all([leading, renewing]);
  } finally {
    over.abort();
    await Promise.allSettled([leading, renewing]);
    const { sent } = term;
    // From here on nothing is written but the release of the lease.
    term.sent = undefined;
    const rest = () => (sent === undefined ? 0 : termLeft(sent, now()));
    if (rest() > 0)
      await record.release(rest).catch((error: unknown) => log("warn", `the lease stays: ${errorText(error)}`));
  }
}
