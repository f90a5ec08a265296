/** Bounds on the team whose turn may be claimed next. */
export type TurnBounds = {
  /** Teams that have as many turns in progress as they may. */
  readonly except: readonly string[];
  /** Team that had the last turn: teams whose ids follow it go first. */
  readonly after: string;
};

/** Bounds that allow a turn of every team. */
export const ANY_TEAM: TurnBounds = { except: [], after: "" };
