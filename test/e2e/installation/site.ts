/** A whole installation: the chart with three servers and two controllers, PostgreSQL and a model server beside it. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { startModelStub } from "../../../examples/model-stub/stub.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../store/database/store.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../../env/database/postgres.ts";
import { freePorts } from "../../env/free-port.ts";
import { findHelm } from "../../env/helm.ts";
import { findBinaries } from "../../env/kubernetes/binaries.ts";
import { startBalancer } from "../../env/node/balancer.ts";
import { startTcpProxy, type TcpProxy } from "../../env/tcp-proxy.ts";
import { until } from "../../env/until.ts";
import { openTerminal, type Terminal } from "../chart/pages.ts";
import { openCluster, type WorkloadCluster } from "../workload/cluster.ts";
import * as manifests from "../workload/manifests.ts";
import { PUBLIC_ID } from "./clients.ts";
import { ADMINS, ISSUER } from "./console-user.ts";
import { followServers, type Servers } from "./servers.ts";
import { GATEWAY_KEY, keyOf, MEMORY_KEY, RIGHTS } from "./users.ts";

export const SERVERS = 3;
const NAMESPACE = manifests.NAMESPACE_OF_PRODUCT;
/** Without our cluster: Keyplane's image there, as `repository:tag`. */
const IMAGE_VARIABLE = "KEYPLANE_E2E_KEYPLANE_IMAGE";

export type Site = {
  readonly cluster: WorkloadCluster;
  readonly postgres: OwnPostgresServer;
  /** Our own way to the database. */
  readonly store: Store;
  readonly terminal: Terminal;
  readonly servers: Servers;
  /** Of the Service. */
  readonly url: string;
  /** Of each server by itself; while there are fewer, of one of them twice. */
  readonly urls: readonly string[];
  readonly team: string;
  /** With the clients' keys; and one that goes and comes. */
  readonly namespaces: readonly [home: string, other: string];
  /** The way of a pod to the database. */
  linkOf(podAddress: string): Promise<TcpProxy>;
  links(): Promise<readonly TcpProxy[]>;
  close(): Promise<void>;
};

export async function openSite(): Promise<Site> {
  const closers: (() => unknown)[] = [];
  const over = new AbortController();
  const close = async () => {
    over.abort();
    for (const each of closers.toReversed()) await each();
  };
  try {
    const [cluster, postgres, stub] = await Promise.all([openCluster(), startOwnPostgres(), startModelStub()]);
    closers.push(cluster.close, postgres.stop, stub.close);
    const store = await openPostgres(postgres.url, { maxConnections: 4, applicationName: "e2e" });
    closers.push(store.close);
    const { host } = cluster;
    const [databasePort = 0, modelPort = 0, port = 0, ...ports] = await freePorts(3 + SERVERS);
    const database = { host: "127.0.0.1", port: Number(new URL(postgres.url).port) };
    const links = new Map<string, Promise<TcpProxy>>();
    const linkOf = (address: string) => {
      const link = links.get(address) ?? startTcpProxy(database);
      links.set(address, link);
      return link;
    };
    closers.push(async () => Promise.all([...links.values()].map(async (link) => (await link).close())));
    const balance = async (at: number, choose: Parameters<typeof startBalancer>[1]) =>
      closers.push((await startBalancer({ host, port: at }, choose)).close);
    await balance(databasePort, async (from) => ({ host: "127.0.0.1", port: (await linkOf(from)).port }));
    await balance(modelPort, () => ({ host: "127.0.0.1", port: stub.port }));
    const servers = followServers(cluster, over.signal);
    await balance(port, servers.next);
    for (const [index, one] of ports.entries()) {
      await balance(one, () => servers.ready()[index] ?? servers.next());
    }

    const terminal = await openTerminal(cluster.kubeconfig, {
      kubectl: (await findBinaries()).kubectl,
      helm: await findHelm(),
    });
    closers.push(terminal.close);
    const site: Site = {
      ...{ cluster, postgres, store, terminal, servers, linkOf, close },
      links: () => Promise.all(links.values()),
      url: `http://${host}:${port}`,
      urls: ports.map((one) => `http://${host}:${one}`),
      team: `team-${randomBytes(3).toString("hex")}`,
      namespaces: [`e2e-${randomBytes(3).toString("hex")}`, `e2e-${randomBytes(3).toString("hex")}`],
    };
    if (cluster.isShared) closers.push(() => leave(site));
    await install(site, databasePort, modelPort);
    await furnish(site, `http://${host}:${modelPort}`);
    return site;
  } catch (error) {
    await close();
    throw error;
  }
}

/** By the commands of docs/operations/kubernetes.md, with values of our own. */
async function install(
  { cluster, postgres, terminal, url, namespaces: [home, other], servers }: Site,
  databasePort: number,
  modelPort: number,
) {
  const image = cluster.product?.image ?? process.env[IMAGE_VARIABLE];
  if (image === undefined)
    throw new Error(`${IMAGE_VARIABLE} is missing: Keyplane's image, as repository:tag, that nodes have`);
  const [, repository, tag] = /^(.+):([^:/]+)$/.exec(image) ?? [];
  const databaseUrl = new URL(postgres.url);
  databaseUrl.host = `${cluster.host}:${databasePort}`;
  databaseUrl.search = "sslmode=disable";
  const values = {
    image: { repository, tag },
    // They are there already: opening the cluster has applied them.
    crds: { install: false },
    publicUrl: url,
    // The other goes and comes: nothing of the release may be in it.
    keyNamespaces: [home],
    oidc: { audience: "keyplane", adminGroups: [ADMINS], issuers: [{ url: ISSUER, clientId: "console" }] },
    networkPolicy: { databasePort, upstreamPorts: [443, modelPort] },
    controller: { replicas: 2 },
    server: {
      replicas: SERVERS,
      allowPrivateUpstreams: [`${cluster.host}/32`],
      preStopSeconds: 5,
      resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "512Mi" } },
    },
  };
  await writeFile(join(terminal.folder, "values.yaml"), stringify(values));
  const secret = (name: string, stringData: object) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: NAMESPACE },
    stringData,
  });
  const objects = [
    ...[NAMESPACE, home, other].map(manifests.namespace),
    secret("keyplane-encryption-key", { "encryption-key": randomBytes(32).toString("base64") }),
    secret("keyplane-database", { url: databaseUrl.href }),
  ];
  await cluster.kubectl(["apply", "--server-side", "--filename=-"], manifests.list(objects));
  await cluster.kubectl(["apply", "--server-side", `--namespace=${other}`, `--filename=${RIGHTS}`]);
  // Another suite may have made some of it in a cluster that goes on.
  await terminal.run(
    `helm upgrade --install keyplane infra/chart -n ${NAMESPACE} -f values.yaml --take-ownership --wait --timeout 5m`,
  );
  await until("each server takes calls", () => servers.ready().length === SERVERS);
}

/** A team, what its keys are for, and the two keys that clients have. */
async function furnish({ cluster, team, namespaces: [home, other] }: Site, models: string): Promise<void> {
  const upstream = (dialect: string) => ({
    name: dialect,
    dialect,
    baseURL: models,
    credentialRef: { name: "provider", key: "api-key" },
  });
  const gateway = {
    apiVersion: "keyplane.dev/v1alpha1",
    kind: "ModelGateway",
    metadata: { name: "main", namespace: home },
    spec: {
      publicID: PUBLIC_ID,
      upstreams: ["openai", "gemini", "anthropic"].map(upstream),
      routes: [{ model: "fast-chat", routeID: "rt-fast", upstream: "openai", upstreamModel: "stub-small" }],
    },
  };
  const reach = {
    libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "notes" }] },
    mcpDefaultLibraryRef: { name: "notes" },
  };
  const objects = [
    manifests.team(team, [home, other]),
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "provider", namespace: home },
      stringData: { "api-key": "any" },
    },
    gateway,
    manifests.library("notes", home),
    keyOf(GATEWAY_KEY, home, { preset: "GatewayDefault", gatewayRef: { name: "main" } }),
    keyOf(MEMORY_KEY, home, { preset: "MCPReadWrite", ...reach }),
  ];
  await cluster.kubectl(["apply", "--server-side", "--filename=-"], manifests.list(objects));
}

/** Takes from a cluster that goes on what we have made. */
async function leave({ cluster, terminal, team, namespaces }: Site): Promise<void> {
  await cluster.kubectl(["delete", "namespace", ...namespaces, "--ignore-not-found"]);
  await cluster.kubectl(["delete", "platformteam", team, "--ignore-not-found"]);
  await terminal.run(`helm uninstall keyplane -n ${NAMESPACE} --ignore-not-found`);
  await cluster.kubectl(["delete", "namespace", NAMESPACE, "--ignore-not-found"]);
}
