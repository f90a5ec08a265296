import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { hostname } from "node:os";
import { setFlagsFromString } from "node:v8";
import { USAGE_FLUSH_MS } from "../domain/protocol.ts";
import { startMemory } from "../memory/memory.ts";
import { buildAdmin } from "../runtime/admin.ts";
import type { Clock } from "../runtime/clock.ts";
import { pause } from "../runtime/deadline.ts";
import type { Logger } from "../runtime/log.ts";
import { sampleLog } from "../runtime/log-sampler.ts";
import { metricsOfThreads, observeProcess } from "../runtime/process-metrics.ts";
import type { Mount } from "../server/app.ts";
import { openConfiguredToken } from "../server/auth/management/bootstrap-token.ts";
import type { ManagementToken } from "../server/auth/management/management-token.ts";
import { AUDIT_FLUSH_MS, RefusalSampler } from "../server/auth/refusals/refusals.ts";
import { assertClientSecrets } from "../server/auth/session/client-secret.ts";
import { checkAuthz } from "../server/authz/verifier-server.ts";
import { CALL_LIMITS, StreamRegistry } from "../server/calls/open-streams.ts";
import { SharedCalls } from "../server/calls/shared-calls.ts";
import type { ServerConfig } from "../server/context/config.ts";
import { createTextGenerator } from "../server/gateway/library/generate-text.ts";
import { readCertificate } from "../server/http/connections/certificate.ts";
import { feedOf } from "../server/key-index/feed.ts";
import { observeIndex } from "../server/key-index/metrics.ts";
import { Replica } from "../server/key-index/replica.ts";
import { sharedCells } from "../server/key-index/shared-cells.ts";
import type { ServerDeps } from "../server/product/deps.ts";
import { type CurrentPrices, openPrices } from "../server/usage/price-file.ts";
import { UsageBuffer } from "../server/usage/usage.ts";
import type { DatabaseLocation } from "../store/database/postgres/connection-config.ts";
import type { Store } from "../store/database/store.ts";
import type { Keyring } from "../store/encryption/keyring.ts";
import { startBackground } from "./background.ts";
import { checkDatabaseAtStart, untilUnusable } from "./database-check.ts";
import { createListeners, portsOf } from "./listeners.ts";
import { createMetrics, type ServerMetrics } from "./metrics.ts";
import { products } from "./products.ts";
import { listenerUrl } from "./public-listener.ts";
import { openServingThread } from "./serving-thread.ts";
import { warnOfSettings } from "./setting-warnings.ts";
import { Workers } from "./workers.ts";

export type ServerOptions = {
  /** Database, which stays the caller's to close. */
  readonly store: Store;
  /** Store of the same database by connections of its own, for what keeps the key index current; `store` by default. */
  readonly feedStore?: Store;
  /** Location of the same database: worker threads open their own connections. Without it there is no other thread. */
  readonly database?: DatabaseLocation;
  readonly config: ServerConfig;
  /** Keyring that opens the providers' credentials. */
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Logger;
  /** Token that opens the management API; by default the configuration's bootstrap token, if there is one. */
  readonly managementToken?: ManagementToken;
  /** Command that prints a link for signing in to the console, where this runs; the sign-in page shows it. */
  readonly linkCommand?: string;
  /** Milliseconds that open answers get on shutdown; 20 s by default. */
  readonly graceMs?: number;
  /** Products to serve; all of them by default. */
  readonly mounts?: readonly Mount[];
};

export type RunningServer = {
  /** URL without a trailing slash. */
  readonly url: string;
  readonly adminUrl: string;
  /** URLs of the listeners for external authorization, by HTTP and by gRPC; null if there is none. */
  readonly authzUrl: string | null;
  readonly authzGrpcUrl: string | null;
  /** Resolves when the key index is current for the first time: until then every decision is 503. */
  readonly whenCurrent: Promise<void>;
  /**
   * Resolves if a worker thread has ended by itself, or a database that did not answer at the start turns out to be
   * unusable: then the caller has to close what is left, and to end the process.
   */
  readonly failed: Promise<Error>;
  /** Drains: no new work, open answers end within the grace period, what was noted is written. */
  close(): Promise<void>;
};

/** Milliseconds of the default grace period, within the 30 s that Kubernetes gives a Pod to end. */
const GRACE_MS = 20_000;
const READY_POLL_MS = 20;
/** Milliseconds that the keys may take to be read before the server listens: it then says why it does not serve. */
const READ_MS = 3_000;
/** Milliseconds between two collections of what this thread has counted. */
const COLLECT_MS = 1_000;

/**
 * Starts a replica: the public and the admin listener, and the index behind them. A database that is down is no error:
 * the server answers 503 until it has proof that its index is current.
 *
 * @throws ConfigError if the file of the bootstrap token, a client secret, the certificate or the price list holds none
 * @throws UnusableDatabaseError for a database that cannot be relied on, saying what to do
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, config, keyring, graceMs = GRACE_MS, mounts } = options;
  const log = sampleLog(options.log);
  keepCallsYoung();
  countBuffersAsHeap();
  const checked = await checkAtStart(options, log);
  const { metrics, workers, replica, usage, refusals, thread, streams, id } = await openReplica(options, checked, log);
  let draining = false;
  let closing: Promise<void> | undefined;
  const serving = workers ?? (await serveHere(thread.deps, streams, mounts ?? products(thread.memory)));
  const admin = buildAdmin({
    metrics: { registry: { contentType: metrics.registry.contentType, metrics: () => allMetrics(metrics, workers) } },
    isReady: () => !draining && replica.view.isCurrent(),
  });
  const flushes = [
    setInterval(() => void usage.flush(), USAGE_FLUSH_MS),
    setInterval(() => usage.collect(), COLLECT_MS),
    setInterval(() => void refusals.flush(), AUDIT_FLUSH_MS),
  ];
  const generator = createTextGenerator(thread.deps);
  const endMemory = startMemory({ store, embedder: thread.embedder, generator, log, metrics });
  const background = startBackground({
    ...{ store, config, keyring, log, replicaId: id, metrics },
    clock: options.clock,
  });

  const close = async (): Promise<void> => {
    draining = true;
    const isReported = await serving.drain(graceMs);
    for (const timer of flushes) clearInterval(timer);
    await checked.close();
    await Promise.all([endMemory(), thread.embedder.close(), generator.close()]);
    const [isWritten] = await Promise.all([usage.close(), refusals.close()]);
    await background.close();
    await thread.close();
    await replica.close(isReported && isWritten);
    await closeServer(admin);
  };

  try {
    await serving.open();
    replica.start();
    const whenCurrent = untilCurrent(() => draining || replica.view.isCurrent());
    // A call that comes before the keys are read would be 503, where a refused connection is tried elsewhere.
    await pause(READ_MS, whenCurrent);
    const { url, authzUrl, authzGrpcUrl } = await serving.listen();
    await listen(admin, config.adminHost, config.adminPort);
    log.info({ replica: id }, "the server listens");
    return {
      url,
      authzUrl,
      authzGrpcUrl,
      adminUrl: listenerUrl("http", admin),
      whenCurrent,
      failed: Promise.race([
        workers?.failed ?? new Promise<Error>(() => {}),
        checked.isDatabaseUsable ? new Promise<Error>(() => {}) : untilUnusable(store, keyring, () => draining, log),
      ]),
      close: () => (closing ??= close()),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Parts that a start has checked and opened before anything listens. */
type CheckedStart = {
  /** False if the database does not answer yet. */
  readonly isDatabaseUsable: boolean;
  readonly managementToken: ManagementToken | null;
  /** True if a bootstrap token is configured beside an issuer. */
  readonly hasSpareToken: boolean;
  readonly prices: CurrentPrices;
  close(): Promise<void>;
};

async function checkAtStart(
  { store, config, keyring, managementToken: given }: ServerOptions,
  log: Logger,
): Promise<CheckedStart> {
  const isDatabaseUsable = await checkDatabaseAtStart(store, keyring, log);
  warnOfSettings(config, log);
  await assertClientSecrets(config.consoleClients);
  if (config.tls !== null) await readCertificate(config.tls);
  if (config.authz !== null) await checkAuthz(config.authz);
  const bootstrapToken = given === undefined ? await openConfiguredToken(config, log) : undefined;
  const prices = await openPrices(config.pricesFile, log);
  const hasSpareToken = bootstrapToken !== undefined && config.oidc !== null;
  if (hasSpareToken) {
    log.warn(
      {},
      "both an issuer and a bootstrap token are configured: remove the token's file once people get in with JWTs",
    );
  }
  return {
    ...{ isDatabaseUsable, hasSpareToken, prices },
    managementToken: given ?? bootstrapToken ?? null,
    async close() {
      bootstrapToken?.close();
      await prices.close();
    },
  };
}

/** Opens the key index, the threads that serve by it, and what counts their calls. */
async function openReplica(
  { store, feedStore = store, database, config, keyring, clock, managementToken: given, linkCommand }: ServerOptions,
  { managementToken, hasSpareToken, prices }: CheckedStart,
  log: Logger,
) {
  const id = `${hostname()}-${randomBytes(6).toString("hex")}`;
  const metrics = createMetrics();
  observeProcess(metrics.registry);
  const calls = config.workers > 1 ? new SharedCalls() : null;
  const streams = new StreamRegistry(metrics.countCutStream, CALL_LIMITS, calls);
  const cells = sharedCells();
  const workers =
    calls !== null && database !== undefined
      ? new Workers({
          ...{ count: config.workers, database, config, cells, calls, replicaId: id, keyring },
          managementToken: given ?? null,
          onUsed: (report) => usage.take(report),
        })
      : undefined;
  const replica = new Replica({
    ...{ id, keyring, clock, log, metrics, streams, cells, leaseMs: config.leaseMs },
    placeholders: config.production ? [] : config.placeholders,
    feed: feedOf(store, feedStore, keyring, hasSpareToken),
    ...(workers !== undefined && { broadcast: workers.broadcast }),
  });
  observeIndex(metrics.registry, () => replica.figures());
  const usage = new UsageBuffer(store, log, replica, metrics.countTokens);
  const refusals = new RefusalSampler({ store, metrics, log, replica: id, clock: replica, threads: 1 });
  const thread = await openServingThread({
    ...{ store, keyring, streams, usage, refusals, prices, log, config, metrics, cells, managementToken },
    index: replica.view,
    clock: { now: () => replica.now(), monotonic: () => clock.monotonic() },
    replicaId: id,
    threads: 1,
    ...(linkCommand !== undefined && { linkCommand }),
  });
  return { id, metrics, streams, workers, replica, usage, refusals, thread };
}

/**
 * Turns off an optimization of V8. V8 allocates the parts of calls among long-lived objects once some of them have
 * outlived a collection or two. Then each dead call keeps alive what it refers to, until the whole heap is collected: a
 * third of a call's CPU (docs/performance.md). No object that a call allocates is to live longer than the call.
 */
function keepCallsYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}

/**
 * Has V8 count the memory of buffers as it counts its heap. By default it collects the whole heap whenever 64 MB of
 * buffers have been made, even if none of them is left: pieces of bodies that pass took half of an upload's CPU so, and
 * 60 MB and more (docs/performance.md). Node 22 cannot, and would complain of the flag.
 */
function countBuffersAsHeap(): void {
  if (Number.parseInt(process.versions.node, 10) < 24) return;
  setFlagsFromString("--external-memory-accounted-in-global-limit");
}

/** Serves by this thread. */
async function serveHere(
  deps: ServerDeps,
  streams: StreamRegistry,
  mounts: readonly Mount[],
): Promise<Pick<Workers, "open" | "listen" | "drain">> {
  const listeners = await createListeners(deps, streams, mounts);
  return {
    async open() {},
    listen: () => listeners.listen(portsOf(deps.config), false),
    async drain(graceMs) {
      await listeners.drain(graceMs);
      return true;
    },
  };
}

/** Returns the metrics of all threads as those of one process. */
async function allMetrics({ registry }: ServerMetrics, workers: Workers | undefined): Promise<string> {
  if (workers === undefined) return registry.metrics();
  const [own, others] = await Promise.all([registry.getMetricsAsJSON(), workers.metrics()]);
  return metricsOfThreads(own, others);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ host, port }, resolve);
  return promise;
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}

async function untilCurrent(isCurrent: () => boolean): Promise<void> {
  while (!isCurrent()) await pause(READY_POLL_MS);
}
