/** Faults, one after the other in an order that a seed chooses; each is over when all has recovered from it. */
import { setTimeout as delay } from "node:timers/promises";
import { type Random, randomFrom } from "../../env/random.ts";
import { until } from "../../env/until.ts";
import type { Report } from "../../oracle/report.ts";
import { NAMESPACE_OF_PRODUCT } from "../workload/manifests.ts";
import type { Struck } from "./calls.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { SERVERS, type Site } from "./site.ts";

/** Before it is asked whether all has recovered, in milliseconds: a cluster takes that long to notice what it lacks. */
const NOTICED_MS = 4_000;
/** Of Kubernetes and Keyplane together, in milliseconds, on a machine that does much else. */
const RECOVERY_MS = 120_000;
/** Between two faults, in milliseconds. */
const PEACE_MS = 2_000;

/** Every fault once in each round, for as long as it takes for that long. */
export async function playFaults(
  site: Site,
  seed: number,
  lastsMs: number,
  report: Report,
): Promise<readonly Struck[]> {
  const random = randomFrom(seed);
  const struck: Struck[] = [];
  const endsAt = performance.now() + lastsMs;
  while (performance.now() < endsAt) {
    for (const name of shuffled(random, Object.keys(FAULTS))) {
      const fault = FAULTS[name];
      if (fault === undefined || (fault.ownNode && site.cluster.product === undefined)) continue;
      if (performance.now() >= endsAt) break;
      struck.push(await strike(site, name, fault, random, report));
      await delay(PEACE_MS);
    }
  }
  return struck;
}

async function strike(site: Site, name: string, fault: Fault, random: Random, report: Report): Promise<Struck> {
  const from = performance.now();
  const [least, most] = fault.lasts;
  try {
    const { of, heal } = await fault.strike(site, random);
    report.log(`FAULT ${name}: ${of}`);
    await delay(random.between(least, most));
    await heal?.();
    await delay(NOTICED_MS);
    await until("all has recovered", () => hasRecovered(site), { timeoutMs: RECOVERY_MS });
    report.log(`over: ${name}`);
  } catch (error) {
    report.violation({
      rule: "recovery",
      subject: name,
      what: `${String(error)} ${String(Reflect.get(Object(error), "cause"))}`,
    });
  }
  return { fault: name, effect: fault.effect, from, to: performance.now() };
}

type Deployments = {
  readonly items: readonly {
    readonly metadata: { readonly generation: number };
    readonly spec: { readonly replicas: number };
    readonly status: Readonly<
      Record<"observedGeneration" | "replicas" | "updatedReplicas" | "availableReplicas", number>
    >;
  }[];
};

/** Every pod is there and of the present release, and each server takes calls. */
async function hasRecovered({ cluster, servers, urls }: Site): Promise<boolean> {
  const list = await cluster.kubectl(["get", "deployments", `--namespace=${NAMESPACE_OF_PRODUCT}`, "--output=json"]);
  const { items }: Deployments = JSON.parse(list);
  const isWhole = items.every(
    ({ metadata, spec, status }) =>
      status.observedGeneration === metadata.generation &&
      [status.replicas, status.updatedReplicas, status.availableReplicas].every((count) => count === spec.replicas),
  );
  if (!isWhole || servers.ready().length !== SERVERS) return false;
  // A server without a view of the keys says so to every credential.
  const headers = { authorization: "Bearer none" };
  const answers = await Promise.all(urls.map((url) => fetch(`${url}/atoms?limit=1`, { headers })));
  return answers.every(({ status }) => status === 401);
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => [random.next(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
