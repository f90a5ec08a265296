/** Whether a controller runs: who leads renews a Lease every few seconds. */
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

/** A controller's Lease, as it was while it was watched. */
export type WatchedLease = LeaseName & {
  /** What its leader serves; null for every namespace. */
  readonly served: readonly string[] | null;
  readonly state: "renewed" | "not renewed" | "absent" | { readonly unknown: string };
  /** How it was renewed while it was watched, where it was. */
  readonly renewal?: Renewal;
};

/** What its leader has written, in milliseconds since the epoch. */
type Renewal = {
  readonly leader: string;
  /** By the leader's clock. */
  readonly at: number;
  /** By this machine's: no sooner and no later than this. */
  readonly before: number;
  readonly after: number;
};

type LeaseCluster = { readonly uid: string; readonly api: Pick<ApiClient, "request"> };

/**
 * Watches Leases until each is renewed, or should have been.
 *
 * @param given the one that the controllers were given, or would have been by the chart
 * @param scopes of those who have led, as the database knows them; those of other clusters are passed over
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

/** What is served under the Leases of one cluster that have the names of their scopes. */
function servedByName(uid: string, scopes: readonly string[]): Map<string, WatchedLease["served"]> {
  const known = scopes.flatMap((scope) => {
    const served = namespacesOfScope(scope, uid);
    return served === undefined ? [] : [[leaseName(scope), served] as const];
  });
  return new Map(known);
}

/**
 * Looks for controllers of another installation in the same cluster: each takes the leadership in the database from the
 * other as often as it starts, or, with a database of its own, undoes in the cluster what the other has done.
 *
 * @param leases of the installation that is looked at
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

/** No two of those that are renewed may serve the same namespace. */
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

/** What to do about two installations that serve the same namespaces. */
export const ONE_TOO_MANY =
  "uninstall one of the two (helm list -A shows them), or have each serve other namespaces (controller.mode: namespaced)";

function overlap(one: WatchedLease["served"], other: WatchedLease["served"]): boolean {
  return one === null || other === null || one.some((namespace) => other.includes(namespace));
}

/** Watches one until it is renewed, or should have been. */
export async function watchLease(
  api: Pick<ApiClient, "request">,
  lease: Omit<WatchedLease, "state" | "renewal">,
): Promise<WatchedLease> {
  const { served = lease.served, ...looked } = await lookAtLease(api, lease);
  return { ...lease, ...looked, served };
}

/** What a Lease has come to; its leader says itself what it serves, but for a version before this one. */
type Looked = Pick<WatchedLease, "state" | "renewal"> & { readonly served?: WatchedLease["served"] | undefined };

/** The time in a Lease is by its holder's clock, which may be wrong: it is renewed if it changes while we look. */
async function lookAtLease(api: Pick<ApiClient, "request">, { namespace, name }: LeaseName): Promise<Looked> {
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

/** @param asked before it was written */
function renewalIn(lease: Awaited<ReturnType<typeof readLease>>, asked: number): Looked {
  const { holderIdentity, renewTime } = lease?.spec ?? {};
  const served = lease?.served;
  if (!holderIdentity) return { state: "not renewed" };
  const at = Date.parse(String(renewTime));
  if (Number.isNaN(at)) return { state: "renewed", served };
  // The time is of before it was sent, and a write that was on its way for longer than a term would have come too late.
  const before = asked - TERM_MS;
  return { state: "renewed", served, renewal: { leader: String(holderIdentity), at, before, after: Date.now() } };
}

/** The leaders' clocks, by which their events and conditions have their times. */
export function judgeLeaderClocks(leases: readonly WatchedLease[]): Finding[] {
  return leases.flatMap(({ renewal }) =>
    renewal === undefined ? [] : [judgeClock(`the controller ${renewal.leader}'s`, renewal.at, renewal)],
  );
}

/** Whether a controller leads. */
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
