/** How long an upstream may take, in milliseconds. */
export type UpstreamTimes = {
  /** Until it answers. Models that reason take minutes; clients' SDKs wait for ten. */
  readonly head: number;
  /** Until it answers where another one can be tried. */
  readonly headWithFallback: number;
  /** Between two pieces of an answer; until its first one as long as until its head. */
  readonly silence: number;
  /** For an answer that is more than one piece, from the first piece on: what trickles without end is ended. */
  readonly whole: number;
};

export const UPSTREAM_TIMES: UpstreamTimes = {
  head: 600_000,
  headWithFallback: 60_000,
  silence: 300_000,
  whole: 3_600_000,
};
