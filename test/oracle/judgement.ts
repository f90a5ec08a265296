/** Whether an answer of a replica was right: pure, from what the store said before and after it. */
import { LEASE_MS } from "../../domain/protocol.ts";
import type { Standing } from "./standings.ts";

/** An answer to a request with a secret. Times are of the monotonic clock, in milliseconds. */
export type TimedAnswer = {
  readonly status: number;
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The same moments by the wall clock, for deadlines. */
  readonly sentAtWall: number;
  readonly receivedAtWall: number;
};

/** What a noisy machine may add to the lease, during which a replica may serve by an old view. Milliseconds. */
const ALLOWANCE = 1_000;
export const BOUND = LEASE_MS + ALLOWANCE;

export type Verdict = { readonly rule: string; readonly what: string };

/** Statuses of a request that was let in by its secret, whatever came of it. */
const ACCEPTED: ReadonlySet<number> = new Set([200, 403, 404, 429]);

export const isAccepted = (status: number) => ACCEPTED.has(status);

/** What is known of a secret beside what the store says of it. Times are of the monotonic clock, in milliseconds. */
export type KnownSecret = {
  /** When a Secret was first seen to hold it. */
  readonly seenAt: number;
  /** When a receipt said that every replica refuses it; undefined without one. */
  readonly refusedFrom: number | undefined;
};

/**
 * Judges an answer.
 *
 * @param standing by a look that began after the answer had come; undefined where the store does not know the secret
 * @returns what is wrong, or undefined
 */
export function judgeAnswer(
  answer: TimedAnswer,
  standing: Standing | undefined,
  known: KnownSecret,
): Verdict | undefined {
  if (isAccepted(answer.status)) return judgeReceipt(answer, known) ?? judgeAcceptance(answer, standing);
  if (answer.status === 401) return judgeRefusal(answer, standing, known.seenAt);
  return undefined;
}

function judgeReceipt({ status, sentAt }: TimedAnswer, { refusedFrom }: KnownSecret): Verdict | undefined {
  if (refusedFrom === undefined || sentAt < refusedFrom) return undefined;
  return { rule: "I9", what: `${status} ${Math.round(sentAt - refusedFrom)} ms after its receipt` };
}

function judgeAcceptance(
  { status, sentAt, sentAtWall }: TimedAnswer,
  standing: Standing | undefined,
): Verdict | undefined {
  if (standing === undefined) return { rule: "I3", what: `a value that is no key was answered with ${status}` };
  const { endedSince, refusedSince, until, untilSince } = standing;
  const isLate = (since: number | undefined) => since !== undefined && sentAt > since + BOUND;
  const late = (since = 0) => `${((sentAt - since) / 1_000).toFixed(1)} s after that was seen committed`;
  if (isLate(endedSince)) {
    return {
      rule: "I5/I9",
      what: `version ${standing.version} is ${standing.versionState}; ${status} ${late(endedSince)}`,
    };
  }
  if (isLate(refusedSince)) return { rule: "I9", what: `the key is to be refused; ${status} ${late(refusedSince)}` };
  if (until !== null && sentAtWall > until + ALLOWANCE && isLate(untilSince)) {
    return { rule: "c10", what: `its deadline passed ${Math.round(sentAtWall - until)} ms before; ${status}` };
  }
  return undefined;
}

function judgeRefusal(answer: TimedAnswer, standing: Standing | undefined, deliveredAt: number): Verdict | undefined {
  if (standing?.usableSince === undefined) return undefined;
  const { usableSince, until, untilSince } = standing;
  if (until !== null && answer.receivedAtWall > until - ALLOWANCE) return undefined;
  // What was minted works everywhere from the moment it can be read; what was learned or changed does after the bound.
  const since = Math.max(deliveredAt, usableSince + BOUND, untilSince + BOUND);
  if (answer.sentAt < since) return undefined;
  return {
    rule: "I2",
    what: `version ${standing.version} is ${standing.versionState} and usable, and was answered with 401`,
  };
}
