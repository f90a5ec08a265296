import { MAX_CLUSTER_NAME, parseClusterName } from "../domain/cluster-name.ts";
import type { Environment } from "../domain/environment.ts";
import { ADMIN_HOST, ADMIN_PORT, AUDIT_RETENTION, LOG_LEVEL, publicUrl } from "../runtime/common-settings.ts";
import type { LogLevel } from "../runtime/log-level.ts";
import { ConfigError, type Flags, optional, readSettings, withDefault } from "../runtime/settings.ts";

/** Settings of `keyplane controller`, without those of its database, its cluster and its keys. */
export const CONTROLLER_SETTINGS = {
  leaderElect: withDefault("true", {
    takes: "<true|false>",
    help: "lead only while holding a Lease",
    parse: (text) => (text === "true" || text === "false" ? text === "true" : undefined),
    wanted: "true or false",
  }),
  publicUrl: publicUrl("the server's URL for clients, as written into Secrets"),
  clusterName: optional({
    takes: "<name>",
    help: "the cluster's name in the console",
    parse: parseClusterName,
    wanted: `a name of 1 to ${MAX_CLUSTER_NAME} characters on one line, such as production-eu`,
  }),
  auditRetention: AUDIT_RETENTION,
  adminHost: ADMIN_HOST,
  adminPort: ADMIN_PORT,
  logLevel: LOG_LEVEL,
};

/** Configuration of the controller, parsed. */
export type ControllerConfig = {
  /** True if it leads only while it holds a Lease. */
  readonly elects: boolean;
  readonly adminHost: string;
  readonly adminPort: number;
  /** URL at which clients reach the server; null if not given. */
  readonly publicUrl: URL | null;
  readonly logLevel: LogLevel;
  /** Name that people call the cluster by; null if not given. */
  readonly clusterName: string | null;
  /** Milliseconds for which the audit log is kept. */
  readonly retentionMs: number;
};

/**
 * Parses the controller's configuration.
 *
 * @throws ConfigError with every fault, each naming the flag, or the variable that is given, and what to give instead
 */
export function parseControllerConfig(env: Environment, flags: Flags<typeof CONTROLLER_SETTINGS>): ControllerConfig {
  const { settings, faults } = readSettings(CONTROLLER_SETTINGS, [], env, flags);
  if (faults.length > 0) throw new ConfigError(faults);
  const { leaderElect: elects, auditRetention: retentionMs, ...others } = settings;
  return { ...others, elects, retentionMs };
}
