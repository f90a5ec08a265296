/**
 * What a caller may reach: the libraries of its team, all of them or the named ones. It is in the WHERE of every
 * statement about atoms, so that an atom beyond it is not there: not in a list, a count, a rank or an error (threats
 * b58, b60).
 */
export type Reach = {
  readonly teamId: string;
  /** Null: every library of the team. */
  readonly libraryIds: readonly string[] | null;
  /**
   * Whose memory it is: the atoms of this subject are in the reach beside the shared ones, and are the only ones
   * that may be changed. Left out, the shared ones are, and no atom of any subject is in the reach.
   */
  readonly subject?: string | undefined;
  /** Only what is the subject's, without what is shared. */
  readonly isOwnOnly?: boolean;
};
