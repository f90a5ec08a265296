import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { hostname } from "node:os";
import type { KubernetesCluster, LedCluster } from "../controller/cluster/kubernetes/cluster.ts";
import { CONTROLLER_SETTINGS, type ControllerConfig, parseControllerConfig } from "../controller/config.ts";
import { leadershipScope, startController } from "../controller/main.ts";
import { createControllerMetrics } from "../controller/metrics.ts";
import { observeObjects } from "../controller/object-metrics.ts";
import { buildAdmin } from "../runtime/admin.ts";
import { systemClock } from "../runtime/clock.ts";
import { createLog } from "../runtime/log.ts";
import type { LogLevel } from "../runtime/log-level.ts";
import type { LogLine } from "../runtime/log-line.ts";
import { observeProcess } from "../runtime/process-metrics.ts";
import type { Flags } from "../runtime/settings.ts";
import { setting } from "../runtime/settings.ts";
import { terminalLines } from "../runtime/terminal-log.ts";
import { baseUrl } from "../server/context/base-url.ts";
import type { DatabaseLocation } from "../store/database/postgres/connection-config.ts";
import { openPostgres } from "../store/database/postgres/postgres.ts";
import { adoptFirstKey } from "../store/encryption/encryption-key.ts";
import { assertUsable } from "../store/start-check.ts";
import type { AddCommand, Process } from "./command/command.ts";
import { ENCRYPTION_KEY, leaseNameIn, namespaceList, requiredEncryptionKeys } from "./command/config.ts";
import { type DatabaseFlags, databaseOptions, requiredDatabase } from "./command/database-options.ts";

type ControllerFlags = DatabaseFlags &
  Flags<typeof CONTROLLER_SETTINGS> & {
    readonly encryptionKeyFile?: string | undefined;
    readonly kubeconfig?: string | undefined;
    readonly namespaces?: string | undefined;
    readonly leaseName?: string | undefined;
  };

export const addController: AddCommand = (program, context) => {
  const { env, stopSignal } = context;
  const command = program
    .command("controller")
    .description("run the controller on a Kubernetes cluster and PostgreSQL; of several, one leads");
  databaseOptions(command)
    .setting("--encryption-key-file <file>", "encryption keys, one per line; the first encrypts, all decrypt")
    .variable(...ENCRYPTION_KEY)
    .setting("--kubeconfig <file>", "the kubeconfig of the cluster", "KUBECONFIG, or the pod's service account")
    .setting("--namespaces <names>", "the namespaces to serve, separated by commas", "all")
    .setting("--lease-name <name>", "the Lease that all controllers of an installation share", "by --namespaces")
    .settings(CONTROLLER_SETTINGS)
    .example(
      "keyplane controller --database-url postgres://db/keyplane --encryption-key-file /run/keyplane/key",
      "in a pod, with its service account",
    )
    .example(
      "keyplane controller --database-url postgres://db/keyplane --namespaces team-a,team-b",
      "for these namespaces only, with KEYPLANE_ENCRYPTION_KEY in the environment",
    )
    .action((flags) => runController(requiredDatabase(env, flags), flags, context, stopSignal()));
};

/** Name of the writer in `metadata.managedFields`. */
const FIELD_MANAGER = "keyplane-controller";

/** Runs `keyplane controller` until the signal, or until another controller leads. */
async function runController(
  database: DatabaseLocation,
  flags: ControllerFlags,
  { env, out, terminal }: Pick<Process, "env" | "out" | "terminal">,
  signal: AbortSignal,
): Promise<void> {
  const config = parseControllerConfig(env, flags);
  const { elects } = config;
  const namespaces = namespaceList(setting(env, "namespaces", flags.namespaces));
  const givenLeaseName = leaseNameIn(setting(env, "lease-name", flags.leaseName));
  const keyring = await requiredEncryptionKeys(env, flags.encryptionKeyFile);
  const log = logLine(config.logLevel, terminal && terminalLines(terminal, (text) => out(text.trimEnd())));
  const metrics = createControllerMetrics();
  const identity = `${hostname()}_${randomUUID()}`;
  // Only here: the Kubernetes client takes a second to load, which no other command should wait for.
  const { openKubernetesCluster } = await import("../controller/cluster/kubernetes/cluster.ts");
  const { leaseName, leaseTitle } = await import("../controller/cluster/kubernetes/lease-record.ts");
  const { runAsLeader } = await import("../controller/cluster/kubernetes/lease.ts");
  const leaseOf = (cluster: LedCluster) => ({
    namespace: cluster.ownNamespace ?? "default",
    name: givenLeaseName ?? leaseName(leadershipScope(cluster)),
  });
  const store = await openPostgres(database);
  const closers = [() => store.close()];
  try {
    await assertUsable(store, keyring);
    await adoptFirstKey(store, keyring, (warning) => log("warn", warning));
    const cluster = await openKubernetesCluster({
      kubeconfig: setting(env, "kubeconfig", flags.kubeconfig),
      namespaces,
      clock: systemClock,
      random: Math.random,
      log,
      fieldManager: FIELD_MANAGER,
      identity,
      controllerName: (cluster) => leaseTitle(leaseOf(cluster)),
      onAnswer: metrics.countAnswer,
    });
    closers.unshift(() => cluster.close());
    metrics.observeWatches(() => agesOf(cluster));
    observeObjects(metrics.registry, cluster, systemClock.now);
    observeProcess(metrics.registry);
    // Leader or not: one that can neither have the Lease nor see whose it is would never lead.
    let seesLease = !elects;
    const admin = await listen(metrics, config, () => seesLease && !signal.aborted && !cluster.isReplaced());
    closers.unshift(admin.close);
    out(`ready ${admin.url}`);

    const publicUrl = publicUrlOf(config, log);
    const lead = async (until: AbortSignal) => {
      metrics.leads(true);
      const { retentionMs } = config;
      const setup = {
        ...{ cluster, store, keyring, publicUrl, clock: systemClock, log, metrics, retentionMs },
        ownNamespace: cluster.podNamespace,
        clusterName: config.clusterName ?? undefined,
      };
      await startController(setup, until).finally(() => metrics.leads(false));
    };
    if (!elects) return await lead(signal);
    const election = {
      api: cluster.api,
      ...leaseOf(cluster),
      identity,
      served: cluster.namespaces,
      clock: systemClock,
      random: Math.random,
      log,
      onAttempt: (isAnswered: boolean) => {
        seesLease = isAnswered;
      },
    };
    await runAsLeader(election, lead, signal);
  } finally {
    for (const close of closers) await close();
  }
}

function publicUrlOf({ publicUrl }: ControllerConfig, log: LogLine): string {
  if (publicUrl !== null) return baseUrl(publicUrl);
  log("warn", "no --public-url is given: client configurations in Secrets point at http://127.0.0.1:8080");
  return "http://127.0.0.1:8080";
}

/** Serves the metrics and the readiness of this process, leader or not. */
async function listen(
  metrics: ReturnType<typeof createControllerMetrics>,
  { adminHost, adminPort }: ControllerConfig,
  isReady: () => boolean,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = buildAdmin({ metrics, isReady });
  server.listen({ host: adminHost, port: adminPort });
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : adminPort;
  return {
    url: `http://${adminHost.includes(":") ? `[${adminHost}]` : adminHost}:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function* agesOf({ heardAt }: KubernetesCluster): Iterable<readonly [string, number]> {
  const now = systemClock.monotonic();
  for (const [what, at] of heardAt) yield [what, (now - at) / 1_000];
}

/** Returns a log that writes lines for people on a terminal, else JSON as the server does. */
function logLine(level: LogLevel, lines: ReturnType<typeof terminalLines> | undefined): LogLine {
  const log = createLog(level, lines);
  return (level, message, fields = {}) => {
    const more = Object.entries(fields).map(([name, value]) => `${name} ${value}`);
    log[level]({}, more.length === 0 ? message : `${message} (${more.join(", ")})`);
  };
}
