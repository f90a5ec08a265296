/** Workloads that mount a key's Secret: they read it again on a 401, and must never be left without a key that works. */
import { setTimeout as delay } from "node:timers/promises";
import { keyDigest, keyPrefix } from "../../domain/key/secret/key-format.ts";
import { BOUND } from "../oracle/judgement.ts";
import type { ModelDeclaration } from "../oracle/model.ts";
import { call, hex } from "../oracle/probers.ts";
import type { Report } from "../oracle/report.ts";
import { decode } from "../oracle/secrets.ts";
import type { Standing, Standings } from "../oracle/standings.ts";
import { secretsPath, type WatchedObject } from "../oracle/watch.ts";
import type { Stage } from "./stage.ts";

/** Times that a workload reads its Secret and calls, and the pause between them in milliseconds. */
const ATTEMPTS = 4;
const RETRY_MS = 400;
const PAUSE_MS = 120;
const AT_ONCE = 2;

/**
 * Runs until the signal. Whom to be, and which replica to call, comes by chance and not by the seed: it changes nothing.
 *
 * @param standings of a fresh look
 */
export async function runWorkloads(
  stage: Stage,
  report: Report,
  standings: () => Promise<Standings>,
  signal: AbortSignal,
): Promise<void> {
  const { model, world } = stage;
  async function one(): Promise<void> {
    while (!signal.aborted) {
      const keys = [...model.declared.values()];
      const key = keys[Math.floor(Math.random() * keys.length)];
      const url = world.serverUrls[Math.floor(Math.random() * world.serverUrls.length)];
      // No answer of the API server, or of a replica, is no wrong answer.
      if (key !== undefined && url !== undefined) await work(key, url).catch(() => {});
      await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** One request of a workload, with as many reads of its Secret as it takes. */
  async function work(key: ModelDeclaration, url: string): Promise<void> {
    let last: string | undefined;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const value = await readKey(key);
      const answer = value === undefined ? undefined : await call(url, value);
      if (answer?.status !== 401 || value === undefined) return;
      last = value;
      await delay(RETRY_MS);
    }
    if (last === undefined) return;
    const [digest, askedAt] = [hex(keyDigest(last)), performance.now()];
    const now = await standings();
    const own = now.get(digest);
    const wrong = wrongWith(own, now, askedAt);
    const byHand = model.edited.get(`${key.namespace}/${key.secretName}`) === last;
    if (wrong !== undefined && !byHand && (await readKey(key)) === last) {
      report.violation({ rule: "I2/6.5", subject: `${key.title} ${keyPrefix(last)}`, what: wrong });
    }
  }

  async function readKey({ namespace, secretName, dataKey }: ModelDeclaration): Promise<string | undefined> {
    const { status, body } = await world.kubernetes.request("GET", `${secretsPath(namespace)}/${secretName}`);
    return status === 200 ? decode((body as WatchedObject).data, dataKey) : undefined;
  }

  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** Why a Secret's value that is refused should not have been in it; undefined where that is as it should be. */
function wrongWith(own: Standing | undefined, all: Standings, now: number): string | undefined {
  if (own === undefined || !own.ended) return undefined;
  // A version that ended while its key goes on, long enough for its Secret to have been written before.
  const active = [...all.values()].find(({ keyId, versionState }) => keyId === own.keyId && versionState === "active");
  if (active?.usableSince === undefined || own.endedSince === undefined) return undefined;
  if (now < Math.max(active.usableSince, own.endedSince) + BOUND) return undefined;
  return `its Secret holds version ${own.version}, ${own.versionState}, while version ${active.version} is active`;
}
