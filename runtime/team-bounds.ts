/** Bounds on the team whose work may be claimed next. */
export type TeamBounds = {
  /** Teams that have as many leases in progress as they may. */
  readonly except: readonly string[];
  /** Team that had the last lease: teams whose ids follow it go first. */
  readonly after: string;
};

/** Bounds that allow a lease of every team. */
export const ANY_TEAM: TeamBounds = { except: [], after: "" };
