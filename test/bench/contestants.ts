import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { openPGlite } from "../../store/database/pglite/pglite.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";
import { freePort } from "../env/free-port.ts";
import { fillStore } from "./filled-store.ts";
import { gatewayConfig, upstreamConfig, writeNginx } from "./nginx.ts";
import type { Contestant, Processes } from "./processes.ts";
import { PUBLIC_ID, STREAM_PUBLIC_ID } from "./traffic.ts";

export const KEYPLANE_COMMAND: string = join(import.meta.dirname, "../../cli/main.ts");

/** The servers that are measured, and what stands behind them. */
export type Contestants = {
  /** nginx, that answers 1 KB of JSON. */
  readonly upstream: Contestant;
  /** Answers with streams of events. */
  readonly streamUpstream: Contestant;
  readonly nginx: Contestant;
  readonly floor: Contestant;
  readonly keyplane: Contestant;
  /** The same with two workers, on the same database. */
  readonly twoWorkers: Contestant;
  /** `keyplane up`, with the same keys in its embedded database. */
  readonly up: Contestant;
  readonly database: BenchDatabase;
};

/** Keyplane's database. */
export type BenchDatabase = {
  /** Transactions that it has seen so far. */
  transactions(): Promise<number>;
  /** Stops its processes where they are, until `resume`. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
};

export type ContestantOptions = {
  readonly processes: Processes;
  /** Where they may keep files. */
  readonly folder: string;
  /** The program. */
  readonly nginx: string;
  readonly keys: readonly string[];
  /** Keyplane's, such as `--cpu-prof`. */
  readonly nodeFlags: readonly string[];
};

/**
 * Starts the contestants. Keyplane is `keyplane server` as its users start it, with all products, on a PostgreSQL of its
 * own that has the keys.
 */
export async function startContestants({
  processes,
  folder,
  nginx,
  keys,
  nodeFlags,
}: ContestantOptions): Promise<Contestants> {
  const startNginx = async (name: string, config: (port: number) => string): Promise<Contestant> => {
    const port = await freePort();
    const args = await writeNginx(folder, name, config(port));
    return processes.start({ name, command: nginx, args, port });
  };
  const startNode = async (name: string, file: string, ...args: readonly number[]): Promise<Contestant> => {
    const port = await freePort();
    const path = join(import.meta.dirname, file);
    const nodeArgs = [path, String(port), ...args.map(String)];
    return processes.start({ name, command: process.execPath, args: nodeArgs, port });
  };
  const upstream = await startNginx("upstream", upstreamConfig);
  const streamUpstream = await startNode("the streams' upstream", "stream-upstream-process.ts");
  const upstreamUrls = {
    [PUBLIC_ID]: `http://127.0.0.1:${upstream.port}`,
    [STREAM_PUBLIC_ID]: `http://127.0.0.1:${streamUpstream.port}`,
  };
  const database = await startDatabase(keys, upstreamUrls);
  const startKeyplane = async (
    name: string,
    env: Readonly<Record<string, string>>,
    ...command: readonly string[]
  ): Promise<Contestant> => {
    const port = await freePort();
    const flags = ["--port", String(port), "--admin-port", "0", "--allow-private-upstreams", "127.0.0.0/8"];
    const args = [...nodeFlags, KEYPLANE_COMMAND, ...command, ...flags];
    return processes.start({ name, command: process.execPath, args, port, env });
  };
  const embedded = await fillEmbedded(folder, keys, upstreamUrls);
  return {
    upstream,
    streamUpstream,
    nginx: await startNginx("nginx", (own) => gatewayConfig(own, upstream.port, streamUpstream.port, keys)),
    floor: await startNode("node", "floor-process.ts", upstream.port),
    keyplane: await startKeyplane("keyplane", database.env, "server"),
    twoWorkers: await startKeyplane("keyplane2", database.env, "server", "--workers", "2"),
    up: await startKeyplane("up", embedded.env, "up", ...embedded.flags),
    database,
  };
}

/** What `keyplane up` is started with: a data folder that has the keys, and a folder that declares nothing. */
export async function fillEmbedded(
  folder: string,
  keys: readonly string[],
  upstreamUrls: Readonly<Record<string, string>>,
): Promise<{ readonly env: Readonly<Record<string, string>>; readonly flags: readonly string[] }> {
  const [manifests, data] = [join(folder, "manifests"), join(folder, "data")];
  await mkdir(manifests);
  await mkdir(data, { mode: 0o700 });
  const encryptionKey = randomBytes(32).toString("base64");
  const store = await openPGlite(join(data, "db"));
  await fillStore(store, parseKeyring(encryptionKey), upstreamUrls, keys);
  await store.close();
  return { env: { KEYPLANE_ENCRYPTION_KEY: encryptionKey }, flags: ["--manifests", manifests, "--data", data] };
}

export async function startDatabase(
  keys: readonly string[],
  upstreamUrls: Readonly<Record<string, string>>,
): Promise<BenchDatabase & { readonly env: Readonly<Record<string, string>> }> {
  const postgres = await startOwnPostgres();
  const store = await openPostgres(postgres.url, { answerTimeoutMs: 0 });
  const encryptionKey = randomBytes(32).toString("base64");
  await fillStore(store, parseKeyring(encryptionKey), upstreamUrls, keys);
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(store.db);
  // A server's process for a connection is its first process's child.
  const first = Number(/PPid:\s*(\d+)/.exec(readFileSync(`/proc/${rows[0]?.pid}/status`, "latin1"))?.[1]);
  const signal = (name: "SIGSTOP" | "SIGCONT"): void => {
    const children = readFileSync(`/proc/${first}/task/${first}/children`, "latin1").split(" ").filter(Boolean);
    for (const pid of [first, ...children.map(Number)]) process.kill(pid, name);
  };
  return {
    env: { KEYPLANE_DATABASE_URL: postgres.url, KEYPLANE_ENCRYPTION_KEY: encryptionKey },
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
    async transactions(): Promise<number> {
      const { rows } = await sql<{ count: string }>`select xact_commit + xact_rollback as count
        from pg_stat_database where datname = current_database()`.execute(store.db);
      return Number(rows[0]?.count);
    },
    async close(): Promise<void> {
      await store.close();
      await postgres.stop();
    },
  };
}
