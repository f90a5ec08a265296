import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyplane } from "../../cli/up.ts";
import { startControllerProcess } from "../../env/controller.ts";
import { type Serving, startServing } from "../../env/serving.ts";
import type { WorkloadCluster } from "./cluster.ts";
import { keyplaneDeployment, keyplaneSettings, list, NAMESPACE_OF_PRODUCT } from "./manifests.ts";

const RBAC = join(import.meta.dirname, "../../../infra/rbac");

type Environment = Readonly<Record<"KEYPLANE_DATABASE_URL" | "KEYPLANE_ENCRYPTION_KEY", string>>;

/** A replica and the controller. */
type Others = Pick<Product, "logs" | "stop"> & { readonly server: string };

/** Two replicas of the server, and the controller, on one database. */
export type Product = {
  readonly servers: readonly string[];
  /** The last of what they have logged. */
  logs(): Promise<string>;
  stop(): Promise<void>;
};

/**
 * Starts Keyplane: one replica as a process of this machine, the other and the controller as pods of the cluster where
 * that has their image, else as processes too. The controller has the rights of `infra/rbac` on these namespaces.
 */
export async function startProduct(
  cluster: WorkloadCluster,
  databaseUrl: string,
  namespaces: readonly string[],
): Promise<Product> {
  const encryptionKey = randomBytes(32).toString("base64");
  const env: Environment = { KEYPLANE_DATABASE_URL: databaseUrl, KEYPLANE_ENCRYPTION_KEY: encryptionKey };
  const { code, err } = await keyplane(["migrate"], env);
  if (code !== 0) throw new Error(err);
  await grantRights(cluster, namespaces);
  const [first, others] = await Promise.all([
    startServer(cluster, env),
    cluster.product === undefined ? startProcesses(cluster, env) : startPods(cluster, cluster.product, env),
  ]);
  return {
    servers: [first.url, others.server],
    logs: async () => `${linesOf(first)}\n${await others.logs()}`,
    async stop() {
      await Promise.all([first.stop(), others.stop()]);
    },
  };
}

async function grantRights({ kubectl }: WorkloadCluster, namespaces: readonly string[]): Promise<void> {
  await kubectl(["apply", "--server-side", "--filename", join(RBAC, "controller.yaml")]);
  for (const namespace of namespaces) {
    await kubectl(["apply", "--server-side", "--namespace", namespace, "--filename", join(RBAC, "namespace.yaml")]);
  }
}

async function startPods(
  { kubectl, host }: WorkloadCluster,
  { image, apiServer }: NonNullable<WorkloadCluster["product"]>,
  env: Environment,
): Promise<Others> {
  const settings = { ...env, KUBERNETES_SERVICE_HOST: apiServer.hostname, KUBERNETES_SERVICE_PORT: apiServer.port };
  const objects = [
    keyplaneSettings(settings),
    keyplaneDeployment("server", image, ["server", "--host", host, "--port", "8080"], { host, port: 8081 }),
    keyplaneDeployment("controller", image, ["controller"], { host, port: 8082 }),
  ];
  await kubectl(["apply", "--server-side", "--filename", "-"], list(objects));
  const inNamespace = ["--namespace", NAMESPACE_OF_PRODUCT];
  await kubectl(["wait", "--for=condition=Available", "deployment", "--all", ...inNamespace, "--timeout=120s"]);
  return {
    server: `http://${host}:8080`,
    logs: () => kubectl(["logs", "--selector=app", "--prefix", "--tail=20", ...inNamespace]),
    // They go with the cluster.
    stop: async () => {},
  };
}

async function startProcesses(cluster: WorkloadCluster, env: Environment): Promise<Others> {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-e2e-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await kubeconfigOfController(cluster), { mode: 0o600 });
  const { KEYPLANE_DATABASE_URL: databaseUrl, KEYPLANE_ENCRYPTION_KEY: encryptionKey } = env;
  const [server, controller] = await Promise.all([
    startServer(cluster, env),
    startControllerProcess({ kubeconfig, databaseUrl, encryptionKey }),
  ]);
  return {
    server: server.url,
    logs: async () => [server, controller].map(linesOf).join("\n"),
    async stop() {
      await Promise.all([server.stop(), controller.stop()]);
      await rm(folder, { recursive: true });
    },
  };
}

const startServer = ({ host }: WorkloadCluster, env: Environment) =>
  startServing(["server", "--host", host, "--port", "0", "--admin-port", "0"], env);

const linesOf = ({ lines }: Serving) => lines.slice(-20).join("\n");

/** The administrator's kubeconfig with the token of the controller's ServiceAccount. */
async function kubeconfigOfController({ kubectl }: WorkloadCluster): Promise<string> {
  const config = JSON.parse(await kubectl(["config", "view", "--raw", "--minify", "--flatten", "--output=json"]));
  const token = await kubectl(["create", "token", "keyplane-controller", "--namespace", NAMESPACE_OF_PRODUCT]);
  config.users[0].user = { token: token.trim() };
  config.contexts[0].context.namespace = NAMESPACE_OF_PRODUCT;
  return JSON.stringify(config);
}
