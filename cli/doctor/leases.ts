/** Whether a controller runs: who leads renews a Lease every few seconds. */
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../controller/cluster/kubernetes/api-client.ts";
import type { KubernetesCluster } from "../../controller/cluster/kubernetes/cluster.ts";
import { RENEW_DEADLINE_MS } from "../../controller/cluster/kubernetes/lease.ts";
import { leaseName, readLease } from "../../controller/cluster/kubernetes/lease-record.ts";
import { namespacesOfScope } from "../../controller/main.ts";
import { errorText } from "../../domain/error-text.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";

const LOOK_MS = 500;

/** The Lease of those who serve the same namespaces, as it was while it was watched. */
export type WatchedLease = {
  readonly name: string;
  /** What its leader serves; null for every namespace. */
  readonly served: readonly string[] | null;
  readonly state: "renewed" | "not renewed" | "absent" | { readonly unknown: string };
};

/**
 * Watches Leases until each is renewed, or should have been.
 *
 * @param namespace where the controllers have them
 * @param scopes of those who have led, as the database knows them; those of other clusters are passed over
 */
export async function watchLeases(
  { uid, api }: Pick<KubernetesCluster, "uid" | "api">,
  namespace: string,
  scopes: readonly string[],
): Promise<WatchedLease[]> {
  const watched = scopes.map(async (scope): Promise<WatchedLease | undefined> => {
    const served = namespacesOfScope(scope, uid);
    if (served === undefined) return undefined;
    const name = leaseName(scope);
    return { name, served, state: await watchLease(api, namespace, name) };
  });
  return (await Promise.all(watched)).filter((lease) => lease !== undefined);
}

/** What time a Lease says is its holder's, whose clock may be wrong: it is renewed if it changes while we look. */
async function watchLease(api: ApiClient, namespace: string, name: string): Promise<WatchedLease["state"]> {
  try {
    const first = await readLease(api, namespace, name);
    if (first === undefined) return "absent";
    if (!first.spec.holderIdentity) return "not renewed";
    for (let waited = 0; waited < RENEW_DEADLINE_MS; waited += LOOK_MS) {
      await delay(LOOK_MS);
      const now = await readLease(api, namespace, name);
      if (now?.version !== first.version) return now?.spec.holderIdentity ? "renewed" : "not renewed";
    }
    return "not renewed";
  } catch (error) {
    return { unknown: errorText(error) };
  }
}

/** Whether anybody leads. */
export function judgeLeases(namespace: string, leases: readonly WatchedLease[]): Finding[] {
  const step = `kubectl -n ${namespace} get pods,leases; give --controller-namespace NAME where the controllers run in another one`;
  const isLed = leases.some(({ state }) => state === "renewed");
  const findings = leases.flatMap(({ name, state }): Finding[] => {
    if (typeof state !== "string")
      return [wrong("leases", `the Lease ${namespace}/${name} cannot be read: ${state.unknown}`, step)];
    if (state !== "not renewed") return [];
    const message = `nobody renews the Lease ${namespace}/${name}: none of the controllers that have it runs`;
    return [isLed ? note("leases", message, step) : wrong("leases", message, step)];
  });
  if (leases.every(({ state }) => state === "absent")) {
    return [wrong("leases", `no controller has a Lease in ${namespace}: none runs there`, step)];
  }
  const led = leases.filter(({ state }) => state === "renewed").map(({ name }) => name);
  return isLed ? [ok("leases", `a controller leads, and renews ${led.join(", ")}`), ...findings] : findings;
}
