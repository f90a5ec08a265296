/** Three `keyplane server` of two threads each, whose database can be cut off, and which can be killed. */
import { randomBytes } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { parseKeyring } from "../../../store/encryption/keyring.ts";
import { startOwnPostgres } from "../../env/database/postgres.ts";
import { type Serving, startServing } from "../../env/serving.ts";
import { startTcpProxy } from "../../env/tcp-proxy.ts";
import type { LaneHome } from "./lanes.ts";

const REPLICAS = 3;
const THREADS = 2;

export type Replicas<F> = {
  /** What they were furnished with. */
  readonly furniture: F;
  /** Of the database, past what can be cut off. */
  readonly databaseUrl: string;
  /** Where those that run are reached. */
  urls(): readonly string[];
  /** Ends one at once, as a crash does, and starts another in its place. Resolves once that is ready. */
  replace(index: number): Promise<void>;
  /** Breaks each connection to the database, until it is mended. */
  cutDatabase(): void;
  mendDatabase(): void;
  /** Ends all of them in order. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

/**
 * @param furnish declares what the replicas serve
 * @param answer the upstream's
 */
export async function openReplicas<F>(
  furnish: (home: LaneHome) => Promise<F>,
  answer: RequestListener,
): Promise<Replicas<F>> {
  await using ends = new AsyncDisposableStack();
  const postgres = await startOwnPostgres();
  ends.defer(() => postgres.stop());
  const upstream = createServer(answer);
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  ends.defer(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const url = new URL(postgres.url);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  ends.defer(() => proxy.close());
  url.port = `${proxy.port}`;

  const encryptionKey = randomBytes(32).toString("base64");
  const store = await openPostgres(postgres.url);
  await migrate(store);
  const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const furniture = await furnish({ store, keyring: parseKeyring(encryptionKey), upstream: upstreamUrl });
  await store.close();

  const env = { KEYPLANE_DATABASE_URL: url.href, KEYPLANE_ENCRYPTION_KEY: encryptionKey };
  const flags = ["--allow-private-upstreams", "127.0.0.0/8", "--workers", `${THREADS}`];
  const start = () => startServing(["server", "--port", "0", "--admin-port", "0", ...flags], env);
  const running: (Serving | undefined)[] = await Promise.all(Array.from({ length: REPLICAS }, start));
  const stop = async () => {
    await Promise.all(running.splice(0).map((replica) => replica?.stop()));
  };
  ends.defer(stop);
  const opened = ends.move();
  return {
    ...{ furniture, stop, databaseUrl: postgres.url },
    urls: () => running.flatMap((replica) => replica?.url ?? []),
    async replace(index) {
      const replica = running[index];
      running[index] = undefined;
      replica?.child.kill("SIGKILL");
      running[index] = await start();
    },
    cutDatabase: proxy.cut,
    mendDatabase: proxy.thaw,
    close: () => opened.disposeAsync(),
  };
}
