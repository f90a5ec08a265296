/** One run: everybody is at work while faults strike, then all must come to rest, and what came of it is judged. */
import { setTimeout as delay } from "node:timers/promises";
import { putBack } from "../../env/database/put-back.ts";
import { randomFrom } from "../../env/random.ts";
import { until } from "../../env/until.ts";
import type { Report } from "../../oracle/report.ts";
import { NAMESPACE_OF_PRODUCT } from "../workload/manifests.ts";
import { type Calls, recordCalls, type Struck } from "./calls.ts";
import { startClients } from "./clients.ts";
import { useConsole } from "./console-user.ts";
import { checkAtoms, checkCalls, checkKeys, checkLogs, comeToRest } from "./end.ts";
import { keepEvidence } from "./evidence.ts";
import { followLogs } from "./logs.ts";
import { playFaults } from "./play.ts";
import type { Site } from "./site.ts";
import { summarize } from "./summary.ts";
import { AT_HOME, ELSEWHERE, GATEWAY_KEY, MEMORY_KEY, ON_KEYS, useKubectl } from "./users.ts";
import { type Keys, startWitness, watchKeys } from "./witness.ts";

export type RunOptions = { readonly seed: number; readonly minutes: number };

/** What there was of it: where one is 0 nothing was shown. */
export type Amounts = Readonly<Record<"faults" | "secrets" | "receipts" | "atoms" | "looks", number>>;

/** How long people go on before the database is put back, and how long what they did may take. Milliseconds. */
const FORGOTTEN_MS = 5_000;

/** @returns what there was of it, and all of it as a page */
export async function runInstallation(
  site: Site,
  options: RunOptions,
  report: Report,
): Promise<{ readonly amounts: Amounts; readonly page: string }> {
  const [over, isRestored] = [new AbortController(), new AbortController()];
  const logs = followLogs(site.cluster, NAMESPACE_OF_PRODUCT, over.signal);
  const calls = recordCalls();
  let isWhole = false;
  try {
    const keys = watchKeys(site, report, over.signal);
    const clientKey = (name: string) => keys.present.get(`${site.namespaces[0]}/${name}`) ?? "";
    await until("the clients have their keys", () => [GATEWAY_KEY, MEMORY_KEY].every((name) => clientKey(name) !== ""));
    await comeToRest(site, report);
    const { answers, looks } = startWitness(site, keys, report, isRestored.signal);
    const { struck, saved, receipts, acts } = await useAndBreak({ site, keys, calls, clientKey, report }, options);
    report.log("the last fault is over, and no user does anything any more");

    await comeToRest(site, report);
    await checkKeys(site, keys, report);
    await checkAtoms(site.url, clientKey(MEMORY_KEY), saved, report);
    checkCalls(calls, struck, report);
    report.note(`the monotonic clock says ${Math.round(performance.now())} ms`);
    // From here on the store is no witness of what was before.
    isRestored.abort();
    await restore(site, keys, options, report);
    const { held } = keys.secrets;
    await checkLogs(
      site,
      logs,
      held.map(({ value }) => value),
      report,
    );
    const amounts = { faults: struck.length, secrets: held.length, receipts, atoms: saved.length, looks: looks() };
    isWhole = report.violations.length === 0;
    const { violations } = report;
    return { amounts, page: summarize({ ...options, struck, calls, acts, answers, amounts, violations }) };
  } finally {
    isRestored.abort();
    over.abort();
    if (!isWhole) report.log(`evidence: ${await keepEvidence(report, logs, calls)}`);
  }
}

type Scene = {
  readonly site: Site;
  readonly keys: Keys;
  readonly calls: Calls;
  /** What the Secret of a client's key holds at the moment. */
  readonly clientKey: (name: string) => string;
  readonly report: Report;
};

type Outcome = {
  readonly struck: readonly Struck[];
  readonly saved: readonly string[];
  readonly receipts: number;
  readonly acts: readonly ReadonlyMap<string, number>[];
};

/** Everybody is at work until the last fault is over. */
async function useAndBreak(
  { site, keys: { secrets }, calls, clientKey, report }: Scene,
  { seed, minutes }: RunOptions,
): Promise<Outcome> {
  const { url, namespaces } = site;
  const over = new AbortController();
  const [gatewayKey, memoryKey] = [() => clientKey(GATEWAY_KEY), () => clientKey(MEMORY_KEY)];
  const saved = startClients({ url, calls, gatewayKey, memoryKey, signal: over.signal });
  const people = [AT_HOME, ELSEWHERE].map((acts, nth) =>
    useKubectl(personAt(site, namespaces[nth] ?? "", seed + nth, report), acts, over.signal),
  );
  const atConsole = useConsole(site, { calls, secrets, report }, over.signal);
  const struck = await playFaults(site, seed, minutes * 60_000, report).finally(() => over.abort());
  return { struck, saved, receipts: await atConsole, acts: await Promise.all(people) };
}

const personAt = ({ cluster }: Site, namespace: string, seed: number, report: Report) => ({
  ...{ cluster, namespace, report, declared: new Set<string>(), random: randomFrom(seed) },
});

/** What the store has forgotten is made good from the declarations. */
async function restore(site: Site, keys: Keys, { seed }: RunOptions, report: Report): Promise<void> {
  await putBack(
    site.postgres,
    (line) => report.log(line),
    async () => {
      const person = personAt(site, site.namespaces[0], seed, report);
      await useKubectl(person, ON_KEYS, AbortSignal.timeout(FORGOTTEN_MS));
      await delay(FORGOTTEN_MS);
    },
  );
  await comeToRest(site, report);
  await checkKeys(site, keys, report);
}
