import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { type ControllerProcess, startControllerProcess } from "../env/controller.ts";
import { startPostgres } from "../env/database/postgres.ts";
import { startKubernetes } from "../env/kubernetes.ts";
import { readyUrl } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { type AuditedRequest, followAuditLog } from "./audit-log.ts";

const KEYS_PER_NAMESPACE = 200;
const DECLARERS = 24;
const TIMEOUT = { timeoutMs: 900_000 };
/** Milliseconds. */
const POLL_MS = 500;
const KINDS_PATH = "/apis/keyplane.dev/v1alpha1";
const COMMAND = join(import.meta.dirname, "../../cli/main.ts");
const GENERATOR = join(import.meta.dirname, "generator-process.ts");

export type ControllerWorld = Awaited<ReturnType<typeof startControllerWorld>>;

/**
 * A real API server, a PostgreSQL, a replica of the server, and a team whose namespaces have room for so many keys.
 *
 * @param nodeFlags of the controllers
 */
export async function startControllerWorld(keys: number, nodeFlags: readonly string[]) {
  const ends: (() => Promise<unknown>)[] = [];
  const end = async () => {
    for (const one of ends.toReversed()) await one();
  };
  try {
    return { ...(await build(ends, keys, nodeFlags)), end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function build(ends: (() => Promise<unknown>)[], keys: number, nodeFlags: readonly string[]) {
  const kubernetes = await startKubernetes({ audit: true });
  ends.push(() => kubernetes.close());
  const postgres = await startPostgres();
  ends.push(() => postgres.stop());
  const store = await openPostgres(postgres.url);
  ends.push(() => store.close());
  await migrate(store);
  const encryptionKey = randomBytes(32).toString("base64");
  const server = await startProcess([COMMAND, "server", "--port", "0", "--admin-port", "0"], {
    KEYPLANE_DATABASE_URL: postgres.url,
    KEYPLANE_ENCRYPTION_KEY: encryptionKey,
  });
  ends.push(() => server.stop());

  const namespaces = Array.from({ length: Math.ceil(keys / KEYS_PER_NAMESPACE) }, (_, i) => `bench-${i}`);
  const homeOf = (i: number) => namespaces[i % namespaces.length] ?? "";
  for (const name of namespaces) await create("/api/v1/namespaces", { metadata: { name } });
  await create(`${KINDS_PATH}/platformteams`, ofKind("PlatformTeam", { name: "bench" }, { namespaces }));

  async function create(path: string, body: object): Promise<void> {
    const answer = await kubernetes.request("POST", path, { body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
  }

  async function isReady(namespace: string): Promise<boolean> {
    const { body } = await kubernetes.request("GET", `${KINDS_PATH}/namespaces/${namespace}/platformkeys`);
    // What the API server lists is its own.
    return (body as KeyList).items.every(({ status }) =>
      status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True"),
    );
  }

  return {
    /** The controller's requests since they were last asked for. */
    requests: followAuditLog(kubernetes.auditLog ?? ""),

    /** Declares the keys `name-0`, `name-1`... */
    async declare(name: string, count: number): Promise<void> {
      const left = Array.from({ length: count }, (_, i) => i);
      const declarers = Array.from({ length: DECLARERS }, async () => {
        for (let i = left.pop(); i !== undefined; i = left.pop()) {
          const key = ofKind("PlatformKey", { name: `${name}-${i}` }, { preset: "MCPReadOnly" });
          await create(`${KINDS_PATH}/namespaces/${homeOf(i)}/platformkeys`, key);
        }
      });
      await Promise.all(declarers);
    },

    /** @param moreFlags of Node, for this one */
    async startController(...moreFlags: string[]): Promise<ControllerProcess> {
      const controller = await startControllerProcess({
        kubeconfig: kubernetes.kubeconfigPath,
        databaseUrl: postgres.url,
        encryptionKey,
        nodeFlags: [...moreFlags, ...nodeFlags],
      });
      ends.push(() => controller.stop());
      return controller;
    },

    /** Asks seldom, so as not to be what is measured: the rate is the audit log's. */
    async untilReady(): Promise<void> {
      const areActive = async () => {
        await delay(POLL_MS);
        const count = store.db.selectFrom("key_versions").select(({ fn }) => fn.countAll().as("active"));
        return Number((await count.where("state", "=", "active").executeTakeFirstOrThrow()).active) >= keys;
      };
      await until("every key has an active version", areActive, TIMEOUT);
      for (const namespace of namespaces) await until("every key is ready", () => isReady(namespace), TIMEOUT);
    },

    /** Deletes the Secrets of the first keys. */
    async deleteSecrets(name: string, count: number): Promise<void> {
      const paths = Array.from({ length: count }, (_, i) => `/api/v1/namespaces/${homeOf(i)}/secrets/${name}-${i}`);
      const answers = await Promise.all(paths.map((path) => kubernetes.request("DELETE", path)));
      if (answers.some(({ status }) => status !== 200)) throw new Error("a Secret was not deleted");
    },

    /** Deletes all keys, a namespace's in one request. */
    async deleteKeys(): Promise<void> {
      await Promise.all(
        namespaces.map((name) => kubernetes.request("DELETE", `${KINDS_PATH}/namespaces/${name}/platformkeys`)),
      );
    },

    /** Waits until no key works any more. */
    async untilRevoked(): Promise<void> {
      const isRevoked = async () => {
        await delay(POLL_MS / 10);
        const count = store.db.selectFrom("keys").select(({ fn }) => fn.countAll().as("working"));
        return Number((await count.where("state", "<>", "revoked").executeTakeFirstOrThrow()).working) === 0;
      };
      await until("every key is revoked", isRevoked, TIMEOUT);
    },

    /** Waits until there is no declaration of a key. */
    async untilGone(): Promise<void> {
      const isGone = async () => {
        await delay(POLL_MS);
        const { body } = await kubernetes.request("GET", `${KINDS_PATH}/platformkeys?limit=1`);
        return (body as KeyList).items.length === 0;
      };
      await until("every declaration is gone", isGone, TIMEOUT);
    },

    /** Has the generator work on the keys of that name. */
    async generate(name: string): Promise<void> {
      const generator = await startProcess([GENERATOR, kubernetes.kubeconfigPath, postgres.url, `${name}-`], {});
      generator.child.stdin.end();
      const [code] = await once(generator.child, "exit");
      if (code !== 0) throw new Error(`the generator ended with ${code}`);
    },
  };
}

/** A process of ours that has said that it is ready. */
async function startProcess(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let isReady = false;
  createInterface({ input: child.stdout }).on("line", (line) => {
    isReady ||= line.startsWith("ready") || readyUrl(line) !== undefined;
  });
  await until("a process is ready", () => isReady || child.exitCode !== null, { timeoutMs: 60_000 });
  const stop = async () => {
    if (child.exitCode === null && child.kill("SIGTERM")) await once(child, "exit");
  };
  return { child, stop };
}

const ofKind = (kind: string, metadata: object, spec: object) => ({
  apiVersion: "keyplane.dev/v1alpha1",
  kind,
  metadata,
  spec,
});

type KeyList = {
  readonly items: readonly {
    readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
  }[];
};

/** Megabytes of memory that a process has resident. */
export function residentMegabytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
  return Number(kilobytes) / 1_024;
}

/** Keys a second, from the first write to an object to the last. */
export function perSecond(requests: readonly AuditedRequest[]): number {
  const patches = requests.filter(({ what }) => what.startsWith("patch platformkeys"));
  const done = patches.filter(({ what }) => what === "patch platformkeys/status");
  const from = patches.reduce((earliest, { from }) => Math.min(earliest, from), Number.POSITIVE_INFINITY);
  return done.length / ((done.reduce((latest, { to }) => Math.max(latest, to), 0) - from) / 1_000);
}
