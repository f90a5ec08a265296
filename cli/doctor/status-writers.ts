/** Check of the controllers that write the statuses of declarations: another installation's are named. */
import { leaseTitle, parseLeaseTitle } from "../../controller/cluster/kubernetes/lease-record.ts";
import { listTitles } from "../../controller/cluster/titles.ts";
import type { Kind } from "../../domain/kinds/kinds.ts";
import type { DeclaredObjects } from "./declarations.ts";
import { type Finding, note, wrong } from "./finding.ts";
import { type LeaseName, ONE_TOO_MANY, type WatchedLease } from "./leases.ts";

/** Largest number of objects that a finding names for one controller. */
const MAX_NAMED = 5;

type Written = { readonly kind: Kind; readonly namespace: string; readonly name: string };

/**
 * Looks for controllers of another installation by the statuses that they have written. Controllers that have ended are
 * not reported, nor those whose Lease may not be read.
 *
 * @param watch watches a Lease until it is renewed, or should have been
 * @param leases Leases of the installation that is checked
 * @param isOurs true if a Lease that is not among them belongs to the installation all the same
 */
export async function findOtherWriters(
  watch: (lease: LeaseName) => Promise<Pick<WatchedLease, "state">>,
  declared: readonly DeclaredObjects[],
  leases: readonly WatchedLease[],
  isOurs: (lease: LeaseName) => boolean,
): Promise<Finding[]> {
  const own = new Set(leases.map(leaseTitle));
  const others = [...writtenBy(declared)].flatMap(([title, written]) => {
    const lease = parseLeaseTitle(title);
    return lease === undefined || own.has(title) || isOurs(lease) ? [] : [{ lease, written }];
  });
  const found = others.map(async ({ lease, written }) => {
    const { state } = await watch(lease);
    return state === "renewed" ? [judgeWriter(lease, written, leases)] : [];
  });
  return (await Promise.all(found)).flat();
}

/** Returns the objects whose status each controller has written, by the title of its Lease. */
function writtenBy(declared: readonly DeclaredObjects[]): Map<string, Written[]> {
  const all = declared.flatMap(({ kind, objects }) =>
    objects.flatMap(({ metadata: { namespace = "", name }, status }) => {
      const writer = status?.controllerName;
      return writer === undefined ? [] : [{ writer, written: { kind, namespace, name } }];
    }),
  );
  const byWriter = Map.groupBy(all, ({ writer }) => writer);
  return new Map([...byWriter].map(([writer, some]) => [writer, some.map(({ written }) => written)]));
}

/**
 * Judges a controller of another installation.
 *
 * @param leases Leases of the installation that is checked
 */
export function judgeWriter(
  other: LeaseName,
  written: readonly Written[],
  leases: readonly Pick<WatchedLease, "namespace" | "name" | "served" | "state">[],
): Finding {
  const running = leases.filter(({ state }) => state === "renewed");
  const isServedHere = ({ namespace }: Written) =>
    namespace !== "" && running.some(({ served }) => served === null || served.includes(namespace));
  const contested = written.filter(isServedHere);
  const ours = running.map(leaseTitle).join(", ") || "none that runs";
  const named = listTitles(contested.length > 0 ? contested : written, MAX_NAMED);
  const writes = `${leaseTitle(other)} writes the status of ${named}`;
  if (contested.length > 0) {
    const message = `two installations serve the same namespaces, by the controllers of the Leases ${leaseTitle(other)} and ${ours}: ${writes}`;
    return wrong("leases", message, ONE_TOO_MANY);
  }
  const message = `another installation runs in this cluster beside this one, whose controllers have the Leases ${ours}: the controller of the Lease ${writes}`;
  return note("leases", message, "nothing where both are wanted; else uninstall one: helm list -A shows them");
}
