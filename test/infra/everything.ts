/** Everything that a controller does in one namespace, and the state of the world that shows that it was done. */
import type { Kubernetes } from "../env/kubernetes/client.ts";
import { API, inNamespace, type Key } from "../env/kubernetes/declarations.ts";
import { GATEWAY, LIBRARY } from "../env/kubernetes/manifests.ts";
import { until } from "../env/until.ts";

const keyManifest = (name: string, spec: string) => `
---
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata: { name: ${name} }
spec: ${spec}`;

const workload = (kind: string) => `
---
apiVersion: apps/v1
kind: ${kind}
metadata: { name: app }
spec:
  selector: { matchLabels: { app: app } }
  template:
    metadata: { labels: { app: app } }
    spec: { containers: [{ name: app, image: app }] }`;

const WORKLOADS = ["Deployment", "StatefulSet", "DaemonSet"];

/** The secret to import is one namespace's: a secret is one key's for ever. */
const manifests = (namespace: string) => `
apiVersion: v1
kind: Secret
metadata: { name: brought }
stringData: { api-key: inf_made-before-by-another-system-for-${namespace} }
${LIBRARY}${GATEWAY}
${keyManifest(
  "whole",
  `{ preset: GatewayDefault, gatewayRef: { name: main }, rotation: { trigger: one },
     libraryAccess: { mode: Restricted, libraryRefs: [{ name: handbook }] },
     restartTargets: [${WORKLOADS.map((kind) => `{ kind: ${kind}, name: app }`).join(", ")}] }`,
)}
${keyManifest("lost", "{ preset: MCPReadOnly }")}
${keyManifest("edited", "{ preset: MCPReadOnly }")}
${keyManifest("orphan", "{ preset: MCPReadOnly, secret: { creationPolicy: Orphan } }")}
${keyManifest("retained", "{ preset: MCPReadOnly, deletionPolicy: Retain }")}
${keyManifest("imported", "{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: brought, key: api-key } }, secret: { name: fresh } }")}
${WORKLOADS.map(workload).join("")}
`;

/** Has an object changed whose status has this path. */
export type Outrun = (statusPath: string, change: () => Promise<void>) => Promise<void>;

/**
 * Has the controller that serves a namespace do all that it can do there.
 *
 * @param outrun may change the object once more as its status is written, and wait until it was asked for again
 */
export async function doEverything(kubernetes: Kubernetes, namespace: string, outrun: Outrun): Promise<void> {
  const world = inNamespace(kubernetes, namespace);
  const team = `${API}/platformteams/team-${namespace}`;
  const policy = `${API}/platformkeypolicies/policy-${namespace}`;
  await world.apply(`
apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata: { name: team-${namespace} }
spec: { namespaces: [${namespace}] }
---
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKeyPolicy
metadata: { name: policy-${namespace} }
spec: { teamSelector: { matchNames: [team-${namespace}] }, maxKeys: 1000 }
---${manifests(namespace)}`);
  const names = ["whole", "lost", "edited", "orphan", "retained", "imported"];
  await world.ready(...names);

  await world.changeKey("whole", { rotation: { trigger: "two" } });
  await world.holds("has restarted its workloads", "whole", ({ status }) => status?.restartedVersion === 2);
  await world.changeKey("whole", { preset: null, scopes: ["memory:read"], gatewayRef: null });
  await world.changeKey("edited", { secret: { template: "Env" } });
  await world.ready("whole", "edited");
  await world.changeKey("orphan", { state: "Suspended" });
  await world.holds("is suspended", "orphan", (_, reason) => reason === "Suspended");

  await kubernetes.request("DELETE", world.secretPath("lost"));
  await world.change(world.secretPath("edited"), { data: { "api-key": "ZWRpdGVk" } });
  for (const name of ["lost", "edited"]) {
    await world.holds("is healed", name, ({ status }) => status?.currentVersion === 2);
  }

  await refuseRival(world, namespace);
  await changeEach(world, { team, policy }, outrun);

  for (const name of names) await world.remove(world.path("platformkeys", name));
  for (const [secret, isLeft] of [
    ["orphan", true],
    ["retained", true],
    ["lost", false],
  ] as const) {
    await until(
      `what is left of ${secret}`,
      async () => ((await world.read(world.secretPath(secret))) !== undefined) === isLeft,
    );
  }
  await world.remove(world.path("modelgateways", "main"));
  await world.remove(world.path("memorylibraries", "handbook"));
  await world.remove(policy);
  await world.remove(team);
}

/** Has another team claim the namespace, which is an event about an object that is in none. */
async function refuseRival(world: ReturnType<typeof inNamespace>, namespace: string): Promise<void> {
  const rival = `${API}/platformteams/rival-${namespace}`;
  await world.apply(`
apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata: { name: rival-${namespace} }
spec: { namespaces: [${namespace}] }
`);
  await until("the rival is refused", async () => {
    const found = await world.read<Pick<Key, "status">>(rival);
    return found?.status?.conditions?.some(({ reason }) => reason === "NamespaceTaken");
  });
  await world.remove(rival);
}

function changedSpec(plural: string, turn: number): Readonly<Record<string, unknown>> {
  if (plural === "platformkeypolicies") return { maxKeys: 1_000 + turn };
  if (plural !== "modelgateways") return { displayName: `Turn ${turn}` };
  return { routes: [{ model: `m${turn}`, routeID: "rt", upstream: "openai", upstreamModel: "m" }] };
}

/** Changes an object of each kind, whose status is outrun meanwhile. */
async function changeEach(
  world: ReturnType<typeof inNamespace>,
  { team, policy }: { readonly team: string; readonly policy: string },
  outrun: Outrun,
): Promise<void> {
  const objects = {
    platformteams: team,
    platformkeypolicies: policy,
    modelgateways: world.path("modelgateways", "main"),
    memorylibraries: world.path("memorylibraries", "handbook"),
    platformkeys: world.path("platformkeys", "whole"),
  };
  for (const [plural, path] of Object.entries(objects)) {
    let turn = 0;
    await outrun(`${path}/status`, () => {
      turn += 1;
      return world.change(path, { spec: changedSpec(plural, turn) });
    });
  }
  await world.ready("whole");
}
