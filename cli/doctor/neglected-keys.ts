/** Checks that a running controller serves the keys of a Kubernetes cluster, and that their namespaces exist. */
import type { ApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import type { KubernetesCluster } from "../../controller/cluster/kubernetes/cluster.ts";
import { readNamespace } from "../../controller/cluster/kubernetes/namespace.ts";
import { errorText } from "../../domain/error-text.ts";
import { exceedsDeletionLimit } from "../../domain/garbage-collection.ts";
import { nameSome } from "../../domain/name-some.ts";
import type { Db } from "../../store/database/change.ts";
import { livingKeysByNamespace } from "../../store/keys/rows/find-key.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import type { WatchedLease } from "./leases.ts";

/** Largest number of keys of a namespace that a finding names. */
const MAX_NAMED = 10;

/**
 * Reports keys that no running controller serves, or whose namespace is gone.
 *
 * @param leaseNamespace namespace of the controllers' Leases
 * @param leases all Leases of controllers that were found
 */
export async function findNeglected(
  { uid, api }: Pick<KubernetesCluster, "uid" | "api">,
  db: Db,
  leaseNamespace: string,
  leases: readonly WatchedLease[],
): Promise<Finding[]> {
  const led = leases.filter(({ state }) => state === "renewed").map(({ served }) => served);
  const namespaces: KeyNamespace[] = [];
  for (const { namespace, names } of await livingKeysByNamespace(db, uid)) {
    const isServed = led.some((served) => served === null || served.includes(namespace));
    namespaces.push({ namespace, names, isServed, state: await stateOf(api, namespace) });
  }
  const count = (some: readonly KeyNamespace[]) => some.reduce((sum, { names }) => sum + names.length, 0);
  const isHeldBack = exceedsDeletionLimit(count(namespaces.filter(({ state }) => state === "gone")), count(namespaces));
  const findings = namespaces
    .map((one) => judge(one, leaseNamespace, isHeldBack))
    .filter((finding) => finding !== undefined);
  const served = "every declared key is in a namespace that a running controller serves";
  return findings.length > 0 ? findings : [ok("unserved-keys", served)];
}

type State = "there" | "ending" | "gone" | { readonly unknown: string };

/** Namespace with keys that still work. */
type KeyNamespace = {
  readonly namespace: string;
  /** Names of the keys. */
  readonly names: readonly string[];
  readonly isServed: boolean;
  readonly state: State;
};

const REVOKE = "revoke them: keyplane revoke NAMESPACE/NAME --server URL";

/**
 * Judges one namespace; undefined if nothing is wrong.
 *
 * @param leaseNamespace namespace in which controllers were looked for
 * @param isHeldBack true if more keys are in deleted namespaces than a controller ends without a person
 */
function judge(
  { namespace, names, isServed, state }: KeyNamespace,
  leaseNamespace: string,
  isHeldBack: boolean,
): Finding | undefined {
  const keys = keysOf(namespace, names);
  const without = `no controller that runs in ${leaseNamespace} serves it`;
  const start = `start one, give --controller-namespace NAME where they run in another one, or ${REVOKE}`;
  const fault = (message: string, step: string) => wrong("unserved-keys", message, step);
  if (typeof state !== "string") {
    const message = `${keys}: cannot find out whether it is there: ${state.unknown}`;
    return fault(message, "kubectl apply -f infra/rbac/controller.yaml, or run it as a user who may get namespaces");
  }
  if (state === "there") {
    return isServed ? undefined : fault(`${keys}: ${without}, and nothing that is declared there takes effect`, start);
  }
  const what = state === "ending" ? "which is being deleted" : "which is gone";
  if (!isServed) return fault(`${keys}, ${what}: they work on, since ${without}`, start);
  if (state === "gone" && isHeldBack) return fault(`${keys}, ${what}: too many for the controller to end`, REVOKE);
  const held = state === "ending" ? ", but for those with deletionProtection, which hold it" : "";
  return note("unserved-keys", `${keys}, ${what}: the controller ends them within a minute${held}`);
}

function keysOf(namespace: string, names: readonly string[]): string {
  const title = names.length === 1 ? "1 key" : `${names.length} keys`;
  return `${title} (${nameSome(names, MAX_NAMED)}) of the namespace ${namespace}`;
}

async function stateOf(api: ApiClient, namespace: string): Promise<State> {
  try {
    const found = await readNamespace(api, namespace);
    if (found === undefined) return "gone";
    return found.endingSince === undefined ? "there" : "ending";
  } catch (error) {
    return { unknown: errorText(error) };
  }
}
