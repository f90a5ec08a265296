/** Checks that a controller runs. The leader renews a Lease every few seconds. */
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { isForbidden } from "../../controller/cluster/kubernetes/api/api-error.ts";
import { LEASE_SELECTOR, leaseName, leaseTitle, readLease } from "../../controller/cluster/kubernetes/lease-record.ts";
import { TERM_MS } from "../../controller/cluster/kubernetes/lease-timing.ts";
import { leasesPath } from "../../controller/cluster/kubernetes/resources.ts";
import { namespacesOfScope } from "../../controller/main.ts";
import { errorText } from "../../domain/error-text.ts";
import { listAll, metadataName, metadataNamespace, type Selectors } from "../source/list-all.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import { judgeClock } from "./judge-clock.ts";

const LOOK_MS = 500;

export type LeaseName = { readonly namespace: string; readonly name: string };

/** Controller's Lease, as it was while it was watched. */
export type WatchedLease = LeaseName & {
  /** Namespaces that its leader serves; null for all. */
  readonly served: readonly string[] | null;
  readonly state: "renewed" | "not renewed" | "absent" | { readonly unknown: string };
  /** Last renewal while the Lease was watched; undefined if there was none. */
  readonly renewal?: Renewal;
};

/** Renewal of a Lease by its leader. Times are in milliseconds since the epoch. */
type Renewal = {
  readonly leader: string;
  /** Time of the renewal by the leader's clock. */
  readonly at: number;
  /** Earliest time of the renewal by this machine's clock; `after` is the latest. */
  readonly before: number;
  readonly after: number;
};

type LeaseCluster = { readonly uid: string; readonly api: Pick<ApiClient, "request"> };

/**
 * Watches Leases until each is renewed, or should have been.
 *
 * @param given Lease that the controllers were given, or would have been by the chart
 * @param scopes scopes of all past and present leaders in the database; those of other clusters are skipped
 */
export async function watchLeases(
  { uid, api }: LeaseCluster,
  given: LeaseName,
  scopes: readonly string[],
): Promise<WatchedLease[]> {
  const { namespace } = given;
  const names = new Map([[given.name, null as WatchedLease["served"]], ...servedByName(uid, scopes)]);
  return Promise.all([...names].map(([name, served]) => watchLease(api, { namespace, name, served })));
}

/**
 * Returns the namespaces served under the Leases of one cluster, by Lease name. Each Lease has the name of its scope.
 */
function servedByName(uid: string, scopes: readonly string[]): Map<string, WatchedLease["served"]> {
  const known = scopes.flatMap((scope) => {
    const served = namespacesOfScope(scope, uid);
    return served === undefined ? [] : [[leaseName(scope), served] as const];
  });
  return new Map(known);
}

/**
 * Looks for controllers of another installation in the same cluster. With the same database, two installations take the
 * leadership from each other at each start; with different ones, each undoes in the cluster what the other has done.
 *
 * @param leases Leases of the installation that is checked
 */
export async function findRivals(
  { uid, api }: LeaseCluster,
  leases: readonly WatchedLease[],
  scopes: readonly string[],
): Promise<Finding[]> {
  try {
    const byName = servedByName(uid, scopes);
    const questions: readonly Selectors[] = [
      { labelSelector: LEASE_SELECTOR },
      // Of versions that gave them no label.
      ...[...byName.keys()].map((name) => ({ fieldSelector: `metadata.name=${name}` })),
    ];
    const lists = await Promise.all(questions.map((question) => listAll(api, leasesPath(""), question)));
    const found = lists
      .flat()
      .map((one): LeaseName => ({ namespace: metadataNamespace(one), name: metadataName(one) }));
    const others = new Map(found.map((one) => [leaseTitle(one), one]));
    for (const watched of leases) others.delete(leaseTitle(watched));
    const watchOther = (one: LeaseName) => watchLease(api, { ...one, served: byName.get(one.name) ?? null });
    return judgeRivals([...leases, ...(await Promise.all([...others.values()].map(watchOther)))]);
  } catch (error) {
    const message = `cannot find out whether other controllers serve the same namespaces: ${errorText(error)}`;
    if (isForbidden(error)) return [note("leases", message, "run it as a cluster administrator")];
    return [wrong("leases", message, "see that the API server answers: kubectl get leases -A")];
  }
}

/** Reports each pair of renewed Leases whose leaders serve the same namespace. */
export function judgeRivals(leases: readonly WatchedLease[]): Finding[] {
  const living = leases.filter(({ state }) => state === "renewed");
  return living.flatMap((one, i) =>
    living.slice(i + 1).flatMap((other) => {
      if (!overlap(one.served, other.served)) return [];
      const message = `the controllers of the Leases ${leaseTitle(one)} and ${leaseTitle(other)} serve the same namespaces: each takes the leadership from the other, and both start again and again`;
      return [wrong("leases", message, ONE_TOO_MANY)];
    }),
  );
}

/** Advice for two installations that serve the same namespaces. */
export const ONE_TOO_MANY =
  "uninstall one of the two (helm list -A shows them), or have each serve other namespaces (controller.mode: namespaced)";

function overlap(one: WatchedLease["served"], other: WatchedLease["served"]): boolean {
  return one === null || other === null || one.some((namespace) => other.includes(namespace));
}

/** Watches one Lease until it is renewed, or should have been. */
export async function watchLease(
  api: Pick<ApiClient, "request">,
  lease: Omit<WatchedLease, "state" | "renewal">,
): Promise<WatchedLease> {
  const { served = lease.served, ...looked } = await lookAtLease(api, lease);
  return { ...lease, ...looked, served };
}

/** State of a watched Lease. The leader itself writes in it what it serves; leaders of earlier versions do not. */
type ObservedLease = Pick<WatchedLease, "state" | "renewal"> & { readonly served?: WatchedLease["served"] | undefined };

/**
 * Watches a Lease for a term. Its time is by its holder's clock, which may be wrong, so it counts as renewed if it
 * changes while it is watched.
 */
async function lookAtLease(api: Pick<ApiClient, "request">, { namespace, name }: LeaseName): Promise<ObservedLease> {
  try {
    let asked = Date.now();
    const first = await readLease(api, namespace, name);
    if (first === undefined) return { state: "absent" };
    if (!first.spec.holderIdentity) return { state: "not renewed" };
    for (let waited = 0; waited < TERM_MS; waited += LOOK_MS) {
      await delay(LOOK_MS);
      const before = asked;
      asked = Date.now();
      const now = await readLease(api, namespace, name);
      if (now?.version !== first.version) return renewalIn(now, before);
    }
    return { state: "not renewed" };
  } catch (error) {
    return { state: { unknown: errorText(error) } };
  }
}

/**
 * Returns the renewal in a Lease.
 *
 * @param asked time of the last read before the renewal, in milliseconds since the epoch
 */
function renewalIn(lease: Awaited<ReturnType<typeof readLease>>, asked: number): ObservedLease {
  const { holderIdentity, renewTime } = lease?.spec ?? {};
  const served = lease?.served;
  if (!holderIdentity) return { state: "not renewed" };
  const at = Date.parse(String(renewTime));
  if (Number.isNaN(at)) return { state: "renewed", served };
  // The time is of before it was sent, and a write that was on its way for longer than a term would have come too late.
  const before = asked - TERM_MS;
  return { state: "renewed", served, renewal: { leader: String(holderIdentity), at, before, after: Date.now() } };
}

/** Checks the clocks of the leaders, which give events and conditions their times. */
export function judgeLeaderClocks(leases: readonly WatchedLease[]): Finding[] {
  return leases.flatMap(({ renewal }) =>
    renewal === undefined ? [] : [judgeClock(`the controller ${renewal.leader}'s`, renewal.at, renewal)],
  );
}

/** Checks that a controller leads. */
export function judgeLeases(namespace: string, leases: readonly WatchedLease[]): Finding[] {
  const step = `kubectl -n ${namespace} get pods,leases; give --controller-namespace NAME where the controllers run in another one`;
  const isLed = leases.some(({ state }) => state === "renewed");
  const findings = leases.flatMap(({ name, state }): Finding[] => {
    if (typeof state !== "string")
      return [wrong("leases", `the Lease ${namespace}/${name} cannot be read: ${state.unknown}`, step)];
    if (state !== "not renewed") return [];
    const message = `no controller renews the Lease ${namespace}/${name}: none that has it is running`;
    if (!isLed) return [wrong("leases", message, step)];
    const left = `where none is to have it any more, as after an upgrade that led by another: kubectl -n ${namespace} delete lease ${name}; else ${step}`;
    return [note("leases", message, left)];
  });
  if (leases.every(({ state }) => state === "absent")) {
    return [wrong("leases", `no controller has a Lease in ${namespace}: none runs there`, step)];
  }
  const led = leases.filter(({ state }) => state === "renewed").map(({ name }) => name);
  return isLed ? [ok("leases", `a controller leads, and renews ${led.join(", ")}`), ...findings] : findings;
}
