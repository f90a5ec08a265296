/**
 * Scope of a caller's access: the libraries of its team, all or the named ones. It is in the WHERE of every statement
 * about atoms, so that an atom outside it does not exist for the caller: not in a list, a count, a rank or an error
 * (threats b58, b60).
 */
export type Reach = {
  readonly teamId: string;
  /** Ids of the libraries. Null: every library of the team. */
  readonly libraryIds: readonly string[] | null;
  /**
   * Subject whose memory it is: the atoms of this subject are reachable beside the shared ones, and only they may be
   * changed. Without a subject, the shared atoms are reachable and may be changed, and no atom of any subject is
   * reachable.
   */
  readonly subject?: string | undefined;
  /** True if only the subject's atoms are reachable, without the shared ones. */
  readonly isOwnOnly?: boolean;
};
