import type { IssuedNames } from "../../domain/access/team-member.ts";

/**
 * What the installation's own may do, in every team (server/management/rights.ts says it for each): everything; or with
 * the bootstrap token, to begin where no issuer is configured, and to end keys where one is.
 */
export type InstallationRole = "everything" | "bootstrap" | "emergency";

/** Who is let through to the management API. */
export type Principal = {
  /** Their name in the audit log. Idempotency keys are kept apart by it too. */
  readonly actor: string;
  /** What PlatformTeam members are named by, or the role of the installation's own. */
  readonly as: IssuedNames | InstallationRole;
};
