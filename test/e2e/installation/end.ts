/** What is judged when the last fault is over and no user does anything any more. */

import { until } from "../../env/until.ts";
import { checkEverySecret } from "../../oracle/every-secret.ts";
import { isAccepted } from "../../oracle/judgement.ts";
import { searchFor } from "../../oracle/plaintext.ts";
import { callAtRest } from "../../oracle/probers.ts";
import type { Report } from "../../oracle/report.ts";
import { type RuleBreach, strayKeys } from "../../oracle/rules.ts";
import { lookAtSecrets, takeIn } from "../../oracle/standings.ts";
import { type Calls, causeOf, type Struck } from "./calls.ts";
import type { Site } from "./site.ts";
import type { Keys } from "./witness.ts";

/** After the last fault, and the last act, everything is as declared within this time. Milliseconds. */
const REST_MS = 120_000;
/** What a busy machine may take to answer. */
const ALLOWANCE_MS = 15_000;
/** Atoms that are asked for at once. */
const AT_ONCE = 8;

type Condition = { readonly type: string; readonly status: string; readonly reason: string; readonly message: string };
type Declared = {
  readonly kind: string;
  readonly metadata: {
    readonly uid: string;
    readonly namespace?: string;
    readonly name: string;
    readonly generation: number;
  };
  readonly spec: { readonly state?: string };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
};

const titleOf = ({ kind, metadata: { namespace, name } }: Declared) => `${kind} ${namespace ?? ""}/${name}`;

async function declared({ cluster, team, namespaces }: Site): Promise<Declared[]> {
  const lists = await Promise.all([
    cluster.kubectl(["get", "platformteam", team, "--output=json"]).then((text) => ({ items: [JSON.parse(text)] })),
    ...namespaces.map(async (namespace) =>
      JSON.parse(
        await cluster.kubectl([
          "get",
          "platformkeys,modelgateways,memorylibraries",
          `--namespace=${namespace}`,
          "--output=json",
        ]),
      ),
    ),
  ]);
  return lists.flatMap(({ items }: { items: Declared[] }) => items);
}

/** What is wrong with it as its status says. */
function unrestOf(one: Declared): RuleBreach[] {
  const { metadata, status } = one;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True" && status?.observedGeneration === metadata.generation) return [];
  return [{ subject: titleOf(one), what: `${ready?.status} ${ready?.reason}: ${ready?.message}` }];
}

/** Waits until all that is declared is Ready, and no key lives on after its declaration. */
export async function comeToRest(site: Site, report: Report): Promise<void> {
  let unrest: RuleBreach[] = [{ subject: "the cluster or the store", what: "it does not answer" }];
  const isAtRest = async () => {
    const all = await declared(site);
    const uids = all.map(({ metadata }) => metadata.uid);
    unrest = [...all.flatMap(unrestOf), ...(await strayKeys(site.store, uids))];
    return unrest.length === 0;
  };
  await until("all is at rest", isAtRest, { timeoutMs: REST_MS }).catch(() => {});
  for (const one of unrest) report.violation({ rule: "I6/I8", ...one });
}

/** Every key that a Secret holds works on each server, unless it is declared not to; every other is as the store says. */
export async function checkKeys(site: Site, { secrets, present }: Keys, report: Report): Promise<void> {
  const ask = (url: string, value: string) => callAtRest(url, value, ALLOWANCE_MS);
  for (const one of await declared(site)) {
    if (one.kind !== "PlatformKey") continue;
    const { namespace, name } = one.metadata;
    const value = present.get(`${namespace}/${name}`);
    const isWanted = one.spec.state !== "Suspended";
    // What is suspended from its first day on has no Secret.
    if (value === undefined && !isWanted) continue;
    const answers = await Promise.all(site.urls.map((url) => value && ask(url, value)));
    for (const [server, answer] of answers.entries()) {
      if (answer && isAccepted(answer.status) === isWanted) continue;
      const what = `server ${server} answers ${answer ? answer.status : "nothing"} to what its Secret holds`;
      report.violation({ rule: "I2", subject: titleOf(one), what });
    }
  }
  await checkEverySecret(
    { serverUrls: site.urls, secrets },
    report,
    takeIn(new Map(), await lookAtSecrets(site.store)),
    ask,
  );
}

/** No atom that was answered for is lost. */
export async function checkAtoms(url: string, key: string, ids: readonly string[], report: Report): Promise<void> {
  const left = [...ids];
  const headers = { authorization: `Bearer ${key}` };
  async function statusOf(id: string): Promise<number> {
    const response = await fetch(`${url}/atoms/${id}`, { headers });
    await response.arrayBuffer();
    return response.status;
  }
  async function check(): Promise<void> {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      // On a busy machine the memory may stop what is asked of it.
      const status = await until(`an answer for atom ${id}`, async () => {
        const answered = await statusOf(id);
        return answered !== 503 && answered;
      });
      if (status !== 200) report.violation({ rule: "nothing is lost", subject: `atom ${id}`, what: `${status}` });
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, check));
}

export function checkCalls({ failed }: Calls, struck: readonly Struck[], report: Report): void {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  for (const { who, needs, failure, beganAt, endedAt } of failed.filter(
    (call) => causeOf(call, struck) === undefined,
  )) {
    const last = struck.findLast(({ from }) => from <= endedAt);
    const when =
      last && `${seconds(endedAt - last.from)} after ${last.fault}, which took ${seconds(last.to - last.from)}`;
    const what = `${failure} (needs the ${needs}) after ${seconds(endedAt - beganAt)}, ${when ?? "before the first fault"}`;
    report.violation({ rule: "no call fails without a cause", subject: who, what });
  }
}

/** No secret is in what the pods have logged, in the database's log, or in what every user may read in the cluster. */
export async function checkLogs(
  site: Site,
  logs: ReadonlyMap<string, readonly string[]>,
  values: readonly string[],
  report: Report,
) {
  const search = searchFor(values);
  const look = (where: string, text: string) => {
    const prefix = search.find(text);
    if (prefix !== undefined) report.violation({ rule: "I4", subject: prefix, what: `its plaintext is in ${where}` });
  };
  for (const [pod, lines] of logs) for (const line of lines) look(`the log of ${pod}`, line);
  for (const line of site.postgres.log) look("PostgreSQL's log", line);
  look(
    "the cluster's objects",
    await site.cluster.kubectl(["get", "keyplane,events,pods,deployments", "--all-namespaces", "--output=json"]),
  );
}
