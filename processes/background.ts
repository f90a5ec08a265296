import type { Clock } from "../runtime/clock.ts";
import { watchDatabaseClock, whileSteady } from "../runtime/database-clock.ts";
import { jsonOutput, type Logger } from "../runtime/log.ts";
import { startPeriodically } from "../runtime/periodic.ts";
import type { ServerConfig } from "../server/context/config.ts";
import { openGuardedPosts } from "../server/gateway/upstream/guarded-post.ts";
import { createReceipts } from "../server/management/keys/shown/receipt.ts";
import { NOTICE_INTERVAL_MS, noticeExpiries } from "../server/webhooks/expiry-notices.ts";
import { startWebhooks } from "../server/webhooks/sender.ts";
import type { Store } from "../store/database/store.ts";
import { databaseTime } from "../store/database/times.ts";
import type { Keyring } from "../store/encryption/keyring.ts";
import { PRUNE_INTERVAL_MS, prune, pruneUsage } from "../store/retention.ts";
import { startAuditOutput } from "./audit-output.ts";
import type { ServerMetrics } from "./metrics.ts";
import { startUpkeep } from "./upkeep.ts";

type BackgroundDeps = {
  readonly store: Store;
  readonly config: ServerConfig;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<ServerMetrics, "countDelivery">;
  readonly replicaId: string;
};

/**
 * Starts what a replica does behind requests: upkeep of the database, the audit log's output, webhooks, pruning, and
 * notices of keys that expire soon.
 */
export function startBackground({ store, config, keyring, clock, log, metrics, replicaId }: BackgroundDeps): {
  /** Ends all of it, and waits for what is under way. */
  close(): Promise<void>;
} {
  const databaseClock = watchDatabaseClock(clock.monotonic, (_, message, fields) => log.warn(fields ?? {}, message));
  const endUpkeep = startUpkeep(store, databaseClock, log);
  const endAuditOutput =
    config.auditLog === null ? undefined : startAuditOutput({ store, log, replica: replicaId, output: auditOutput() });
  const posts = openGuardedPosts(config.allowedPrivateUpstreams);
  const webhooks = startWebhooks({
    ...{ store, keyring, posts, log, random: Math.random, count: metrics.countDelivery },
    receipts: createReceipts(store, clock),
  });
  const endPruning = startPeriodically({
    ...{ intervalMs: PRUNE_INTERVAL_MS, isSpread: true },
    run: whileSteady(
      databaseClock,
      () => databaseTime(store.backgroundDb),
      async (signal) => {
        await prune(store, config.retentionMs, signal);
        await pruneUsage(store, config.usageRetentionMs, signal);
      },
    ),
    onFailure: (error) => log.warn({ error }, "could not delete expired records; it is tried again"),
  });
  const endNotices = startPeriodically({
    ...{ intervalMs: NOTICE_INTERVAL_MS, isSpread: true },
    run: (signal) => noticeExpiries(store, signal),
    onFailure: (error) => log.warn({ error }, "could not look for keys that expire soon; it is tried again"),
  });
  return {
    async close() {
      await endAuditOutput?.();
      await Promise.all([endUpkeep(), endPruning(), endNotices(), webhooks.close()]);
      await posts.close();
    },
  };
}

function auditOutput() {
  const output = jsonOutput();
  return {
    write: (line: string) => output.write(line),
    isWritten: () => output.isWritten,
    isGone: () => output.isGone,
    dropped: () => output.dropped,
  };
}
