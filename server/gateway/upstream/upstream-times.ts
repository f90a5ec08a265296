/** Milliseconds that an upstream may take. */
export type UpstreamTimes = {
  /** Time until it answers. Models that reason take minutes; clients' SDKs wait for ten. */
  readonly head: number;
  /** Time until it answers if another upstream can be tried. */
  readonly headWithFallback: number;
  /** Time between two pieces of an answer; until the first piece, it is as long as until the head. */
  readonly silence: number;
  /** Time for an answer of more than one piece, from the first piece on: what trickles without end is ended. */
  readonly whole: number;
};

export const UPSTREAM_TIMES: UpstreamTimes = {
  head: 600_000,
  headWithFallback: 60_000,
  silence: 300_000,
  whole: 3_600_000,
};
