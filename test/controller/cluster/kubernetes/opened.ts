import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { type KubernetesCluster, openKubernetesCluster } from "../../../../controller/cluster/kubernetes/cluster.ts";
import type { ClusterChange } from "../../../../controller/cluster/port.ts";
import type { Kubernetes } from "../../../env/kubernetes/client.ts";
import { clock } from "./fake-api-server.ts";

export type Opened = {
  readonly cluster: KubernetesCluster;
  readonly namespace: string;
  readonly lines: string[];
  /** What was announced, as `PlatformKey dev/reader` or `Secret dev/reader`. */
  readonly changes: string[];
  /** Requests that were answered, as `PATCH 200`. */
  readonly answers: string[];
  watch(): Promise<void>;
};

type Options = {
  /** Instead of the API server's own. */
  readonly server?: string;
  readonly token?: string;
};

/** A namespace of its own on the run's control plane, and a cluster that serves it alone; both end with the test. */
export async function openCluster(
  context: TestContext,
  kubernetes: Kubernetes,
  options: Options = {},
): Promise<Opened> {
  const namespace = `test-${Math.random().toString(36).slice(2, 10)}`;
  await kubernetes.request("POST", "/api/v1/namespaces", {
    body: JSON.stringify({ metadata: { name: namespace } }),
  });
  const folder = await mkdtemp(join(tmpdir(), "keyplane-kubeconfig-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await kubeconfigWith(kubernetes, options));
  const lines: string[] = [];
  const changes: string[] = [];
  const answers: string[] = [];
  const cluster = await openKubernetesCluster({
    kubeconfig,
    namespaces: [namespace],
    clock,
    random: Math.random,
    log: (_level, message) => lines.push(message),
    fieldManager: "keyplane-test",
    identity: "test",
    onAnswer: (method, status) => answers.push(`${method} ${status}`),
  });
  const stop = new AbortController();
  context.onTestFinished(async () => {
    stop.abort();
    await cluster.close();
    await rm(folder, { recursive: true });
  });
  const onChange = (change: ClusterChange) => {
    const kind = change.of === "secret" ? "Secret" : change.kind;
    if (kind !== "PlatformTeam") changes.push(`${kind} ${change.name}`);
  };
  return { cluster, namespace, lines, changes, answers, watch: () => cluster.watch(onChange, stop.signal) };
}

async function kubeconfigWith(kubernetes: Kubernetes, { server, token }: Options): Promise<string> {
  const config = JSON.parse(await readFile(kubernetes.kubeconfigPath, "utf8"));
  if (server !== undefined) config.clusters[0].cluster.server = server;
  if (token !== undefined) config.users[0].user = { token };
  return JSON.stringify(config);
}

/** Creates or changes a PlatformKey as the administrator. */
export async function applyKey(kubernetes: Kubernetes, namespace: string, name: string, spec: object): Promise<void> {
  const body = { apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformKey", metadata: { name, namespace }, spec };
  const path = `${keyPath(namespace, name)}?fieldManager=person&force=true`;
  const answer = await kubernetes.request("PATCH", path, {
    body: JSON.stringify(body),
    contentType: "application/apply-patch+yaml",
  });
  if (answer.status > 201) throw new Error(JSON.stringify(answer.body));
}

export const keyPath = (namespace: string, name: string) =>
  `/apis/keyplane.dev/v1alpha1/namespaces/${namespace}/platformkeys/${name}`;
