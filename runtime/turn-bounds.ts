/** Whose turn may be claimed next. */
export type TurnBounds = {
  /** Teams that have as many turns under way as they may. */
  readonly except: readonly string[];
  /** The team that had the last turn: those that follow it by their ids go first. */
  readonly after: string;
};

/** Every team may have the next one. */
export const ANY_TEAM: TurnBounds = { except: [], after: "" };
