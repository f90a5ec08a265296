import type { Dialect } from "../../../../domain/access/key-record.ts";
import type { Named } from "./kept-world.ts";

/**
 * What a call has to come to: it is refused, as it names what is not its team's; it is refused, as no upstream that it
 * may reach has all that it names; or it reaches one. Any is right where it names what may be gone, or be known to none.
 */
export type Expectation = "refused" | "elsewhere" | "reached" | "any";

type ExpectedCall = {
  readonly team: string;
  readonly dialect: Dialect;
  readonly named: readonly Named[];
  /** Numbers of the upstreams that it may reach. */
  readonly places: readonly number[];
};

export function expectationOf({ team, dialect, named, places }: ExpectedCall): Expectation {
  const states = named.map((each) => stateOf(each, team, dialect));
  if (states.includes("foreign")) return "refused";
  if (states.includes("in doubt")) return "any";
  const [place, ...others] = new Set(named.map(({ thing }) => thing?.place));
  if (others.length > 0) return "elsewhere";
  return place === undefined || places.includes(place) ? "reached" : "elsewhere";
}

/** Returns whether an object is the team's own, of a kind that its place in the call may have. */
export function stateOf({ thing, kinds }: Named, team: string, dialect: Dialect): "own" | "foreign" | "in doubt" {
  if (thing === undefined || thing.team !== team) return "foreign";
  if (thing.isGone || thing.isGivenTwice || !thing.isShown) return "in doubt";
  return thing.dialect === dialect && kinds.includes(thing.kind) ? "own" : "foreign";
}
