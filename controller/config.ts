import type { Environment } from "../domain/environment.ts";
import { ADMIN_HOST, ADMIN_PORT, AUDIT_RETENTION, publicUrl } from "../runtime/common-settings.ts";
import { ConfigError, type Flags, readSettings } from "../runtime/settings.ts";

/** The settings of `keyplane controller` but for those of its database, its cluster and its keys. */
export const CONTROLLER_SETTINGS = {
  publicUrl: publicUrl("where clients reach the server, for what is written into Secrets"),
  auditRetention: AUDIT_RETENTION,
  adminHost: ADMIN_HOST,
  adminPort: ADMIN_PORT,
};

/** The controller's configuration, parsed. */
export type ControllerConfig = {
  readonly adminHost: string;
  readonly adminPort: number;
  /** Where clients reach the server; null where it is not given. */
  readonly publicUrl: URL | null;
  /** How long the audit log is kept, in milliseconds. */
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
  const { auditRetention: retentionMs, ...others } = settings;
  return { ...others, retentionMs };
}
