/** A replica on a real PostgreSQL, reached through a proxy that can go wrong, and a way around it. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { unusableBecause } from "../../domain/access/key-state.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { FEED_CONNECTIONS } from "../../store/feed/feed-connections.ts";
import { migratedDatabase } from "../env/database/engines.ts";
import { startTcpProxy, type TcpProxy } from "../env/tcp-proxy.ts";
import { startReplica } from "../server/key-index/replica-fixtures.ts";

export type DatabaseBehindProxy = {
  readonly url: string;
  /** Around the proxy. */
  readonly direct: Store;
  readonly store: Store;
  readonly feedStore: Store;
  readonly proxy: TcpProxy;
};

/**
 * @param makeFilter what becomes of the database's answers; see `startTcpProxy`
 * @param database one without a schema, in place of a new one of the run's PostgreSQL
 */
export async function databaseBehindProxy(
  context: TestContext,
  makeFilter?: () => (bytes: Buffer) => Buffer,
  database?: { readonly url: string; drop(): Promise<void> },
): Promise<DatabaseBehindProxy> {
  const { url, drop } = database ?? (await migratedDatabase());
  const direct = await openPostgres(url, { answerTimeoutMs: 60_000 });
  if (database !== undefined) await migrate(direct);
  const target = new URL(url);
  const proxy = await startTcpProxy({ host: target.hostname, port: Number(target.port) }, makeFilter);
  target.port = String(proxy.port);
  const [store, feedStore] = [await openPostgres(target.href), await openPostgres(target.href, FEED_CONNECTIONS)];
  context.onTestFinished(async () => {
    proxy.thaw();
    await Promise.all([store.close(), feedStore.close(), direct.close()]);
    await proxy.close();
    await drop();
  });
  return { url, direct, store, feedStore, proxy };
}

export type FollowingReplica = ReturnType<typeof startReplica> & {
  /** Whether a request with such a key would be let through now. */
  accepts(digest: string): boolean;
};

/** A replica that follows, and ends with the test. */
export function follow(context: TestContext, { store, feedStore }: DatabaseBehindProxy): FollowingReplica {
  const started = startReplica(store, [], feedStore);
  context.onTestFinished(() => started.replica.close());
  return Object.assign(started, {
    accepts(digest: string) {
      const record = started.view.findKey(digest);
      return (
        started.view.isCurrent() && record !== undefined && unusableBecause(record, started.replica.now()) === undefined
      );
    },
  });
}

export async function metricOf({ metrics }: FollowingReplica, name: string): Promise<number> {
  const text = await metrics.registry.metrics();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1]);
}

/** What servers of one installation are started with on a database, and the token that their API takes. */
export async function serverEnvironment(folder: string, url: string) {
  const token = randomBytes(32).toString("base64url");
  const file = join(folder, "token");
  await writeFile(file, token, { mode: 0o600 });
  const env = {
    KEYPLANE_DATABASE_URL: url,
    KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    KEYPLANE_BOOTSTRAP_TOKEN_FILE: file,
  };
  return { token, env };
}
