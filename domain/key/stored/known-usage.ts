/** The last use of a version of a key, with the caller's address and agent as far as they were recorded. */
export type LastUse = {
  readonly version: number;
  /** Time of the use by the database's clock, in milliseconds since the epoch. */
  readonly at: number;
  /** Null if it was not recorded: it is kept only of a version that is being replaced. */
  readonly address: string | null;
  readonly userAgent: string | null;
};

/** Known uses of one key's versions at one moment. Times are the database's, in milliseconds since the epoch. */
export type KnownUsage = {
  readonly now: number;
  /** Every use before this time is in `lastUses`. Null while a serving replica has not reported what it has written. */
  readonly knownUntil: number | null;
  /** Uses up to this time may be lost for good: a replica died before it wrote them. Null if none are lost. */
  readonly lostUntil: number | null;
  readonly lastUses: readonly LastUse[];
};
