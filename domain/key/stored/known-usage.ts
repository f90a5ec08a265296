/** When a version of a key was last used, and by whom as far as that was written down. */
export type LastUse = {
  readonly version: number;
  /** By the database's clock, in milliseconds since the epoch. */
  readonly at: number;
  /** Null where it was not recorded: it is kept only of a version that is being replaced. */
  readonly address: string | null;
  readonly userAgent: string | null;
};

/** What is known of the uses of one key's versions at one moment. Times are the database's, in milliseconds. */
export type KnownUsage = {
  readonly now: number;
  /** Every use before it is in `lastUses`. Null while a replica that serves has not said what it has written. */
  readonly knownUntil: number | null;
  /** Uses up to then may be lost for good: a replica died before it wrote them. Null for none. */
  readonly lostUntil: number | null;
  readonly lastUses: readonly LastUse[];
};
