import type { IssuedNames } from "../../domain/access/team-member.ts";

/**
 * Rights of the installation's principals in every team (server/management/rights.ts says which): everything; or with
 * the bootstrap token, to begin if no issuer is configured, and to end keys if one is.
 */
export type InstallationRole = "everything" | "bootstrap" | "emergency";

/** A principal that is admitted to the management API. */
export type Principal = {
  /** Name in the audit log. Idempotency keys are kept apart by it too. */
  readonly actor: string;
  /** Names by which members of a PlatformTeam are found, or the role of a principal of the installation. */
  readonly as: IssuedNames | InstallationRole;
  /** Digest of the session that admitted it; undefined for a token. */
  readonly session?: string;
};
