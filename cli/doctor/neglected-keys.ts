/** Whether somebody looks after the keys of a Kubernetes cluster: a controller that runs, in a namespace that lasts. */
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../controller/cluster/kubernetes/api-client.ts";
import { ApiError, readError } from "../../controller/cluster/kubernetes/api-error.ts";
import type { KubernetesCluster } from "../../controller/cluster/kubernetes/cluster.ts";
import { RENEW_DEADLINE_MS } from "../../controller/cluster/kubernetes/lease.ts";
import { leaseName, readLease } from "../../controller/cluster/kubernetes/lease-record.ts";
import { readNamespace } from "../../controller/cluster/kubernetes/namespace.ts";
import { objectsPath } from "../../controller/cluster/kubernetes/resources.ts";
import { namespacesOfScope } from "../../controller/main.ts";
import { errorText } from "../../domain/error-text.ts";
import { exceedsDeletionLimit } from "../../domain/garbage-collection.ts";
import { type Db, leaderScopes } from "../../store/database/change.ts";
import { livingKeysByNamespace } from "../../store/keys/keys.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";

const LOOK_MS = 500;
/** How many keys of a namespace are named. */
const MAX_NAMED = 10;

/** @param leaseNamespace where the controllers have their Leases */
export async function findNeglected(
  cluster: Pick<KubernetesCluster, "uid" | "api">,
  db: Db,
  leaseNamespace: string,
): Promise<Finding[]> {
  const { uid, api } = cluster;
  const led = await servedNamespaces(cluster, db, leaseNamespace);
  const namespaces: KeyNamespace[] = [];
  for (const { namespace, names } of await livingKeysByNamespace(db, uid)) {
    const isServed = led.some((served) => served === null || served.includes(namespace));
    namespaces.push({ namespace, names, isServed, state: await stateOf(api, namespace) });
  }
  const count = (some: readonly KeyNamespace[]) => some.reduce((sum, { names }) => sum + names.length, 0);
  const isHeldBack = exceedsDeletionLimit(count(namespaces.filter(({ state }) => state === "gone")), count(namespaces));
  const findings = [
    ...(await findUnserved(api)),
    ...namespaces.map((one) => judge(one, leaseNamespace, isHeldBack)).filter((finding) => finding !== undefined),
  ];
  return findings.length > 0 ? findings : [ok("every declared key is in a namespace that a running controller serves")];
}

/** Without our kinds nothing is declared any more, and no key ends with its declaration. */
async function findUnserved(api: ApiClient): Promise<Finding[]> {
  try {
    await api.request({ method: "GET", path: objectsPath("PlatformKey", ""), query: { limit: "1" } });
    return [];
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw readError(error, "listing PlatformKeys");
    return [
      wrong("the cluster does not serve the kinds of Keyplane: no key ends with its declaration: apply crds/ again"),
    ];
  }
}

type State = "there" | "ending" | "gone" | { readonly unknown: string };

/** A namespace in which keys live. */
type KeyNamespace = {
  readonly namespace: string;
  /** Of the keys. */
  readonly names: readonly string[];
  readonly isServed: boolean;
  readonly state: State;
};

const REVOKE = "revoke them: keyplane revoke NAMESPACE/NAME";

/**
 * @param leaseNamespace where it was looked for controllers
 * @param isHeldBack whether more keys are in namespaces that are gone than a controller ends without a person
 */
function judge(
  { namespace, names, isServed, state }: KeyNamespace,
  leaseNamespace: string,
  isHeldBack: boolean,
): Finding | undefined {
  const keys = keysOf(namespace, names);
  const without = `no controller that runs in ${leaseNamespace} serves it: say --controller-namespace NAME where they run in another one, start one, or ${REVOKE}`;
  if (typeof state !== "string") return wrong(`${keys}: it cannot be told whether this is there: ${state.unknown}`);
  if (state === "there") {
    return isServed ? undefined : wrong(`${keys}: ${without}; until then nothing that is declared there takes effect`);
  }
  const what = state === "ending" ? "which is being deleted" : "which is gone";
  if (!isServed) return wrong(`${keys}, ${what}: they work on, since ${without}`);
  if (state === "gone" && isHeldBack) return wrong(`${keys}, ${what}: too many to end of themselves: ${REVOKE}`);
  const held = state === "ending" ? ", but for those with deletionProtection, which hold it" : "";
  return note(`${keys}, ${what}: the controller ends them within a minute${held}`);
}

function keysOf(namespace: string, names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  const title = names.length === 1 ? "1 key" : `${names.length} keys`;
  return `${title} (${names.slice(0, MAX_NAMED).join(", ")}${more}) of the namespace ${namespace}`;
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

/** What those serve who lead now: the namespaces of each, null for all. */
async function servedNamespaces(
  { uid, api }: Pick<KubernetesCluster, "uid" | "api">,
  db: Db,
  leaseNamespace: string,
): Promise<(readonly string[] | null)[]> {
  const scopes = await leaderScopes(db);
  const served = scopes.map(async (scope) => {
    const namespaces = namespacesOfScope(scope, uid);
    const isLed = namespaces !== undefined && (await isRenewed(api, leaseNamespace, leaseName(scope)));
    return isLed ? namespaces : undefined;
  });
  return (await Promise.all(served)).filter((namespaces) => namespaces !== undefined);
}

/** Whether a Lease is renewed while we look: what time it says is its holder's, whose clock may be wrong. */
async function isRenewed(api: ApiClient, namespace: string, name: string): Promise<boolean> {
  const first = await readLease(api, namespace, name);
  if (!first?.spec.holderIdentity) return false;
  for (let waited = 0; waited < RENEW_DEADLINE_MS; waited += LOOK_MS) {
    await delay(LOOK_MS);
    const now = await readLease(api, namespace, name);
    if (now?.version !== first.version) return Boolean(now?.spec.holderIdentity);
  }
  return false;
}
