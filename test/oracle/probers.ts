/** Clients that call every replica with every key that a Secret ever held. */
import { setTimeout as delay } from "node:timers/promises";
import { judgeAnswer, type TimedAnswer } from "./judgement.ts";
import type { Report } from "./report.ts";
import type { HeldValue, SecretLedger } from "./secrets.ts";
import type { SecretRows, Standings } from "./standings.ts";

/** Requests at once to a replica, and the pause of each between two. Milliseconds. */
const AT_ONCE = 3;
const PAUSE_MS = 120;
/** A secret whose standing has changed is called with more often for that long. */
const WATCHED_CLOSELY = 12_000;
const CLOSELY_EVERY_MS = 700;
/** A replica that is paused answers when it goes on, and then by what is true then. */
const ANSWER_TIMEOUT_MS = 40_000;

/** Calls a replica with a key. Undefined where it does not answer. */
export async function call(url: string, value: string, path = "/atoms?limit=1"): Promise<TimedAnswer | undefined> {
  const [sentAt, sentAtWall] = [performance.now(), Date.now()];
  try {
    const response = await fetch(url + path, {
      headers: { authorization: `Bearer ${value}` },
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    await response.arrayBuffer();
    return { status: response.status, sentAt, sentAtWall, receivedAt: performance.now(), receivedAtWall: Date.now() };
  } catch {
    return undefined;
  }
}

/** A call of a replica with a key. */
export type Ask = (url: string, value: string) => ReturnType<typeof call>;

/**
 * As {@link call}, and asks again while the replica has no view of the keys: one that got no processor for a lease's time
 * says so, and has it back a moment later.
 *
 * @param allowance how long, in milliseconds
 */
export async function callAtRest(url: string, value: string, allowance: number): Promise<TimedAnswer | undefined> {
  const deadline = performance.now() + allowance;
  for (;;) {
    const answer = await call(url, value);
    const isSure = answer !== undefined && answer.status !== 503;
    if (isSure || performance.now() > deadline) return answer;
    await delay(PAUSE_MS);
  }
}

export type Probers = {
  /** Judges what was answered before the look began. */
  onLook(look: SecretRows, standings: Standings): void;
  /** Answers by status, of all replicas. */
  readonly counts: ReadonlyMap<number, number>;
};

/** Runs until the signal. */
export function startProbers(
  urls: readonly string[],
  secrets: SecretLedger,
  report: Report,
  signal: AbortSignal,
): Probers {
  const counts = new Map<number, number>();
  let standings: Standings = new Map();
  let pending: { replica: number; held: HeldValue; answer: TimedAnswer }[] = [];
  const changedAt = new Map<string, number>();

  /** The next secret for a replica: one that has just changed, else the one after the last. */
  function createRotation(): () => HeldValue | undefined {
    const calledAt = new Map<string, number>();
    let next = 0;
    let closely = 0;
    return () => {
      const now = performance.now();
      const isDue = ({ digest, seenAt }: HeldValue) =>
        now - Math.max(seenAt, changedAt.get(digest) ?? 0) < WATCHED_CLOSELY &&
        now - (calledAt.get(digest) ?? 0) > CLOSELY_EVERY_MS;
      const hot = closely++ % 3 === 0 ? undefined : secrets.held.findLast(isDue);
      const chosen = hot ?? secrets.held[next++ % Math.max(1, secrets.held.length)];
      if (chosen !== undefined) calledAt.set(chosen.digest, now);
      return chosen;
    };
  }

  async function probe(replica: number, url: string, turn: () => HeldValue | undefined): Promise<void> {
    while (!signal.aborted) {
      const held = turn();
      const answer = held && (await call(url, held.value));
      if (held !== undefined && answer !== undefined) {
        counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
        pending.push({ replica, held, answer });
      }
      await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }

  urls.forEach((url, replica) => {
    const turn = createRotation();
    for (let n = 0; n < AT_ONCE; n++) void probe(replica, url, turn);
  });

  return {
    counts,
    onLook(look, now) {
      for (const [digest, { seq }] of now)
        if (standings.get(digest)?.seq !== seq) changedAt.set(latin1(digest), look.endedAt);
      standings = now;
      const ripe = pending.filter(({ answer }) => answer.receivedAt < look.beganAt);
      pending = pending.filter(({ answer }) => answer.receivedAt >= look.beganAt);
      for (const { replica, held, answer } of ripe) {
        const wrong = judgeAnswer(answer, standings.get(hex(held.digest)), held);
        if (wrong === undefined) continue;
        report.violation({
          rule: wrong.rule,
          subject: `${held.title} ${held.prefix}`,
          what: `server-${replica}: ${wrong.what}`,
        });
      }
    },
  };
}

export const hex = (digest: string) => Buffer.from(digest, "latin1").toString("hex");
const latin1 = (digest: string) => Buffer.from(digest, "hex").toString("latin1");
