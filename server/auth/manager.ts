import type { MemberNames } from "../../store/team-roles.ts";

/** Who is let through to the management API. */
export type Manager = {
  /** As the audit log names them, and as idempotency keys are told apart. */
  readonly actor: string;
  /** What PlatformTeam members are named by; null for the installation's token, which may do everything. */
  readonly names: MemberNames | null;
};
