/** Keys of another tenant that are minted, used on every replica, and revoked: the prober of revocation. */
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../env/until.ts";
import { isAccepted, judgeAnswer, type TimedAnswer } from "../../oracle/judgement.ts";
import { call } from "../../oracle/probers.ts";
import type { Report } from "../../oracle/report.ts";
import type { Standing } from "../../oracle/standings.ts";
import type { Installation, Replica } from "./installation.ts";
import { GATEWAYS, type TenantKey } from "./tenants.ts";

/** The gateway answers it by itself: what it takes to be let through, and nothing else. */
const PATH = `/g/${GATEWAYS.others.routes}/v1/models`;
const ASK_EVERY_MS = 20;
const NEXT_KEY_MS = 200;
/** How long a key is asked with after it is refused everywhere, beyond the bound that is judged. */
const ASKED_AFTER_MS = 7_000;
/** So many keys are in their last seconds at a time. */
const AT_ONCE = 8;

export type Revocations = {
  /** Milliseconds from the moment that a revocation was known to be committed to the last accept; 0 for none after. */
  readonly lateAccepts: readonly number[];
  readonly done: Promise<void>;
};

type ReplicaAnswer = TimedAnswer & { readonly replica: string };

export function startRevocations(installation: Installation, report: Report, signal: AbortSignal): Revocations {
  const lateAccepts: number[] = [];

  async function one(): Promise<void> {
    const answers: ReplicaAnswer[] = [];
    const key = await installation.makeKey("others", ["gateway:routes"]);
    const usableSince = performance.now();
    const enough = new AbortController();
    const asking = installation.replicas.map((replica) => ask(replica, key, answers, enough.signal));
    try {
      const isUsed = () =>
        installation.replicas.every(({ name }) => answers.some((one) => one.replica === name && one.status === 200));
      await until("every replica lets the key in", isUsed, { timeoutMs: 40_000 });
      const { confirmed } = await installation.revoke(key);
      const endedSince = performance.now();
      const ends = confirmed.then(() => performance.now());
      await delay(ASKED_AFTER_MS);
      const confirmedAt = await ends;
      enough.abort();
      await Promise.all(asking);
      judgeAll(key, answers, { usableSince, endedSince, confirmedAt });
    } finally {
      enough.abort();
      await Promise.all(asking);
    }
  }

  function judgeAll(key: TenantKey, answers: readonly ReplicaAnswer[], times: Times): void {
    const accepts = answers.filter(({ status, receivedAt }) => isAccepted(status) && receivedAt > times.endedSince);
    lateAccepts.push(Math.max(0, ...accepts.map(({ sentAt }) => sentAt - times.endedSince)));
    for (const answer of answers) {
      const subject = `a revoked key on ${answer.replica}`;
      const known = { seenAt: times.usableSince, refusedFrom: times.confirmedAt };
      const wrong = judgeAnswer(answer, standingOf(key, answer, times), known);
      if (wrong !== undefined) report.violation({ rule: wrong.rule, subject, what: wrong.what });
      const isOther = !isAccepted(answer.status) && answer.status !== 401;
      if (isOther) report.violation({ rule: "others", subject, what: `its owner was answered ${answer.status}` });
    }
  }

  async function run(): Promise<void> {
    const under = new Set<Promise<void>>();
    while (!signal.aborted) {
      const probe = one()
        .catch((error: unknown) =>
          report.violation({ rule: "others", subject: "keys that are revoked", what: String(error).slice(0, 200) }),
        )
        .finally(() => under.delete(probe));
      under.add(probe);
      if (under.size >= AT_ONCE) await Promise.race(under);
      await delay(NEXT_KEY_MS, undefined, { signal }).catch(() => {});
    }
    await Promise.all(under);
  }

  return { lateAccepts, done: run() };
}

type Times = { readonly usableSince: number; readonly endedSince: number; readonly confirmedAt: number };

async function ask(
  { name, url }: Replica,
  key: TenantKey,
  answers: ReplicaAnswer[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const answer = await call(url, key.plaintext, PATH);
    if (answer !== undefined) answers.push({ ...answer, replica: name });
    await delay(ASK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

/** What the store said of the key when the answer had come, as the judgement of the chaos run takes it. */
function standingOf(key: TenantKey, { receivedAt }: TimedAnswer, { usableSince, endedSince }: Times): Standing {
  const ended = receivedAt > endedSince;
  return {
    digest: "",
    keyId: key.id,
    ownerUid: null,
    version: 1,
    versionState: ended ? "revoked" : "active",
    usableSinceMinted: true,
    usable: !ended,
    ended,
    until: null,
    seq: 0,
    interruptions: 0,
    refusedSince: ended ? endedSince : undefined,
    usableSince: ended ? undefined : usableSince,
    endedSince: ended ? endedSince : undefined,
    untilSince: Number.NEGATIVE_INFINITY,
  };
}
