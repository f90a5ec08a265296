/**
 * A controller in a process of its own, for a world on Kubernetes, that comes to grief at an exact point: its options are
 * JSON in the environment, as `OPTIONS`. It says `leads`, and how it ended.
 */
import { randomUUID } from "node:crypto";
import { createApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { connect } from "../../controller/cluster/kubernetes/api/connection.ts";
import { runAsLeader } from "../../controller/cluster/kubernetes/lease.ts";
import type { Cluster } from "../../controller/cluster/port.ts";
import { startController } from "../../controller/main.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { makeKubernetesSide } from "../controller/fixtures/kubernetes-side.ts";
import { connectKubernetes, type KubernetesAddress } from "../env/kubernetes/client.ts";
import { createInjector, type InjectedFault } from "./injector.ts";

export type ProcessOptions = {
  readonly address: KubernetesAddress;
  readonly databaseUrl: string;
  readonly encryptionKey: string;
  readonly tag: string;
  /** Another way to the API server than the address's own. */
  readonly kubeconfig?: string;
  /** Where SIGKILL strikes. */
  readonly fault?: InjectedFault;
  /** After a Secret of this name is written SIGSTOP strikes. */
  readonly pausesAfterSecret?: string;
};

const options: ProcessOptions = JSON.parse(process.env.OPTIONS ?? "");
const { address, databaseUrl, encryptionKey, tag, fault, pausesAfterSecret } = options;
const kubernetes = await connectKubernetes(address);
const { kubeconfig = kubernetes.kubeconfigPath } = options;
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const say = (line: string) => process.stdout.write(`${line}\n`);
const log = (_level: string, message: string) => say(message);

const side = await makeKubernetesSide(kubernetes, { ahead: 0, off: 0, databaseOff: 0 }, { tag, kubeconfig });
const cluster = await side.open(say);
const store = await openPostgres(databaseUrl);
const injector = createInjector(() => process.kill(process.pid, "SIGKILL"));
injector.arm(fault);

/** Stands still in the middle of its work, as a machine does that is suspended. */
function pausing(inner: { cluster: Cluster; store: Store }): { cluster: Cluster; store: Store } {
  const createSecret: Cluster["createSecret"] = async (draft) => {
    const written = await inner.cluster.createSecret(draft);
    if (draft.name === pausesAfterSecret) process.kill(process.pid, "SIGSTOP");
    return written;
  };
  return { ...inner, cluster: { ...inner.cluster, createSecret } };
}

const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
const api = createApiClient({ connection: connect(kubeconfig, clock), random: Math.random, log });
const lead = async (signal: AbortSignal) => {
  say("leads");
  const keyring = parseKeyring(encryptionKey);
  const setup = { keyring, publicUrl: "https://keys.example.com", clock, log };
  await startController({ ...setup, ...pausing(injector.wrap(cluster, store)) }, signal);
};
const lease = {
  namespace: "default",
  name: `controller${tag}`,
  identity: randomUUID(),
  served: null,
  clock,
  random: Math.random,
};
try {
  await runAsLeader({ api, log, ...lease }, lead, stop.signal);
  say("ended");
} catch (error) {
  say(`failed ${error instanceof Error ? error.name : error}`);
}
process.exit();
