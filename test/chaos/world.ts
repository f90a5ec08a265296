import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { accountKubeconfig } from "../env/controller.ts";
import { createDatabase } from "../env/database/databases.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../env/database/postgres.ts";
import { freePorts } from "../env/free-port.ts";
import { type StartedKubernetes, startKubernetes } from "../env/kubernetes.ts";
import { startTcpProxy, type TcpProxy } from "../env/tcp-proxy.ts";
import { until } from "../env/until.ts";
import { NAMESPACES } from "../oracle/model.ts";
import type { Report } from "../oracle/report.ts";
import { existing } from "./existing.ts";
import { type Supervised, type SuperviseOptions, supervise } from "./processes.ts";

export const CONTROLLERS = 2;
export const SERVERS = 3;
/** Whom the controllers write as. */
export const CONTROLLER_USER = "system:serviceaccount:keyplane-system:keyplane-controller";
/** Where the controllers use their rights: in every namespace, or with `--namespaces` in those of the run. */
export const RIGHTS = ["cluster-wide", "namespaced"] as const;
export type Rights = (typeof RIGHTS)[number];

/** Between a process and what it depends on: every connection of that kind goes through its own proxy. */
export type Link = { readonly name: string; readonly proxy: TcpProxy };

/** The real components, and the places where they can be broken. */
export type World = {
  readonly kubernetes: StartedKubernetes;
  readonly postgres: OwnPostgresServer;
  /** The harness's own way to the database, which no fault stands in but the database's own. */
  readonly store: Store;
  readonly controllers: readonly Supervised[];
  /** Controllers of the same database by Leases of their own, whose namespaces overlap with theirs: each is down. */
  readonly overlapping: readonly Supervised[];
  /** The controller of another installation, which has a database and a namespace of its own: it is down. */
  readonly elsewhere: Supervised;
  readonly servers: readonly Supervised[];
  /** The public address of each server, also while it is down. */
  readonly serverUrls: readonly string[];
  readonly adminUrls: readonly string[];
  readonly links: readonly Link[];
  /** Of the cluster, as its rows have it. */
  readonly clusterUid: string;
  /** What is applied to each namespace for the controllers to serve it. */
  readonly grants: readonly Grant[];
  close(): Promise<void>;
};

/** A Role or a RoleBinding. */
export type Grant = Record<string, unknown> & { readonly kind: string; readonly metadata: { readonly name: string } };

/** Of the Lease by which the controllers lead, whatever namespaces they serve. */
export const LEASE = "keyplane-controller";
/** The namespace of the other installation. */
const ELSEWHERE = "elsewhere";
const HALF = NAMESPACES.length / 2;
/** What the overlapping controllers serve: some of the namespaces, or all that there are. */
const OVERLAPPING: Readonly<Record<Rights, readonly (readonly string[])[]>> = {
  "cluster-wide": [NAMESPACES.slice(0, HALF), NAMESPACES.slice(HALF)],
  namespaced: [NAMESPACES.slice(0, HALF), []],
};

const RBAC = join(import.meta.dirname, "../../infra/rbac");

export function processesOf({ controllers, overlapping, elsewhere, servers }: World): readonly Supervised[] {
  return [...controllers, ...overlapping, elsewhere, ...servers];
}

/** Starts everything, and waits until every replica serves and one controller leads. */
export async function startWorld(report: Report, rights: Rights): Promise<World> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const each of closers.toReversed()) await each().catch(() => {});
  };
  try {
    const [kubernetes, postgres] = await Promise.all([
      startKubernetes({ controllerManager: true, audit: true }),
      startOwnPostgres({ max_connections: "1000", log_min_error_statement: "error" }),
    ]);
    closers.push(kubernetes.close, postgres.stop);
    const store = await openPostgres(postgres.url, { maxConnections: 6, applicationName: "chaos" });
    closers.push(store.close);
    await migrate(store);
    await kubernetes.kubectl(["apply", "--filename", join(RBAC, "controller.yaml")]);
    const granted = await readFile(join(RBAC, "namespace.yaml"), "utf8");
    const grants = parseAllDocuments(granted).map((document): Grant => document.toJS());

    const links: Link[] = [];
    const link = async (name: string, target: string): Promise<URL> => {
      const url = new URL(target);
      const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
      closers.push(proxy.close);
      links.push({ name, proxy });
      url.port = String(proxy.port);
      return url;
    };
    const KEYPLANE_ENCRYPTION_KEY = randomBytes(32).toString("base64");
    const adminUrls: string[] = [];
    const prepare = (name: string, args: string[], databaseUrl: string, onDeath: SuperviseOptions["onDeath"]) => {
      const env = { KEYPLANE_DATABASE_URL: databaseUrl, KEYPLANE_ENCRYPTION_KEY };
      const supervised = supervise({ name, folder: kubernetes.address.folder, args, env, onDeath });
      closers.push(() => supervised.down("SIGKILL"));
      return supervised;
    };
    const start = (name: string, args: string[], databaseUrl: URL, onDeath: SuperviseOptions["onDeath"]) => {
      const supervised = prepare(name, args, databaseUrl.href, onDeath);
      supervised.up();
      return supervised;
    };

    const controllerLinks = await eachOf(CONTROLLERS, async (index) => ({
      apiServer: await link(`controller-${index}/kubernetes`, kubernetes.url),
      database: await link(`controller-${index}/postgres`, postgres.url),
    }));
    const serverLinks = await eachOf(SERVERS, (index) => link(`server-${index}/postgres`, postgres.url));
    // After the proxies, which would take a port that is free only as yet.
    const ports = await freePorts(CONTROLLERS + 2 * SERVERS);
    const nextPort = () => String(ports.pop());

    const accountConfig = await accountKubeconfig(kubernetes);
    const config = await readFile(accountConfig, "utf8");
    const controllers = await eachOf(CONTROLLERS, async (index) => {
      const name = `controller-${index}`;
      const { apiServer, database } = existing(controllerLinks[index]);
      const adminPort = nextPort();
      adminUrls.push(`http://127.0.0.1:${adminPort}`);
      const file = join(kubernetes.address.folder, `${name}.kubeconfig`);
      await writeFile(file, config.replace(JSON.stringify(kubernetes.url), JSON.stringify(apiServer.origin)), {
        mode: 0o600,
      });
      const args = ["controller", "--kubeconfig", file, "--admin-port", adminPort, "--lease-name", LEASE];
      if (rights === "namespaced") args.push("--namespaces", NAMESPACES.join(","));
      return start(name, args, database, (code, words) => report.log(`${name} ended with ${code}: ${words}`));
    });
    /** One that is up for a while: deposed, or with nothing to reach, it stays down. */
    const passing = (name: string, namespaces: readonly string[], databaseUrl: string): Supervised => {
      const args = ["controller", "--kubeconfig", accountConfig, "--admin-port", "0", "--lease-name", name];
      if (namespaces.length > 0) args.push("--namespaces", namespaces.join(","));
      const one = prepare(name, args, databaseUrl, (code, words) => {
        report.log(`${name} ended with ${code}: ${words}`);
        void one.down("SIGKILL");
      });
      return one;
    };
    const overlapping = OVERLAPPING[rights].map((namespaces, index) =>
      passing(`overlapping-${index}`, namespaces, postgres.url),
    );
    const { url: databaseElsewhere } = await createDatabase(postgres.url);
    const storeElsewhere = await openPostgres(databaseElsewhere);
    await migrate(storeElsewhere).finally(storeElsewhere.close);
    const elsewhere = passing(ELSEWHERE, [ELSEWHERE], databaseElsewhere);
    const serverUrls: string[] = [];
    const servers = await eachOf(SERVERS, async (index) => {
      const name = `server-${index}`;
      const [port, adminPort] = [nextPort(), nextPort()];
      serverUrls.push(`http://127.0.0.1:${port}`);
      adminUrls.push(`http://127.0.0.1:${adminPort}`);
      const args = ["server", "--port", port, "--admin-port", adminPort];
      return start(name, args, existing(serverLinks[index]), (code, words) =>
        report.violation({ rule: "a replica stays up", subject: name, what: `it ended with ${code}: ${words}` }),
      );
    });
    await until("every process is ready", () => [...controllers, ...servers].every((one) => one.url() !== undefined), {
      timeoutMs: 300_000,
    });
    const { body } = await kubernetes.request("GET", "/api/v1/namespaces/kube-system");
    const { metadata } = body as { metadata: { uid: string } };
    const clusterUid = metadata.uid;
    return {
      kubernetes,
      postgres,
      store,
      controllers,
      overlapping,
      elsewhere,
      servers,
      serverUrls,
      adminUrls,
      links,
      clusterUid,
      grants,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One after the other. */
async function eachOf<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let index = 0; index < count; index++) made.push(await make(index));
  return made;
}
