import { mixed, textHash } from "../text-hash.ts";
import type { RouteRecord } from "./key-record.ts";

/** An upstream of a route, and the model to ask of it: the route's own, or a fallback. */
export type RouteTarget = RouteRecord["fallbacks"][number];

/** The fields of a route that say which of its targets are asked first. */
export type WeightedRoute = RouteTarget & Pick<RouteRecord, "fallbacks" | "sticky">;

/** Targets of a route, each in the declared order: those that share the first choice, and those that are asked after. */
export type RouteChoices = { readonly first: readonly RouteTarget[]; readonly after: readonly RouteTarget[] };

/** Returns which targets share the first choice of a route's calls: without weights, its own upstream alone. */
export function choicesOf(route: WeightedRoute): RouteChoices {
  const { weight, fallbacks } = route;
  if (weight === undefined) return { first: [route], after: fallbacks };
  const all = [route, ...fallbacks];
  return { first: all.filter(hasShare), after: all.filter((target) => !hasShare(target)) };
}

/**
 * Puts the targets that share the first choice into the order in which a call asks them: weighted rendezvous hashing, by
 * which each is the first for its share of all seeds, and the next ones share what is left in the same proportions. For
 * one seed a target that goes, comes or weighs more changes no order of two others.
 *
 * @param seed what the order depends on: the same for all calls of a key, or another one for each call
 */
export function inTurn(first: readonly RouteTarget[], seed: string): readonly RouteTarget[] {
  const order: RouteTarget[] = [];
  const waits: number[] = [];
  // A few targets, for each call: to sort them would allocate more than all else here.
  for (const target of first) {
    const wait = waitOf(target, seed);
    const later = waits.findIndex((other) => other > wait);
    const at = later === -1 ? order.length : later;
    waits.splice(at, 0, wait);
    order.splice(at, 0, target);
  }
  return order;
}

/** Describes a target's share of the first choices, for people; undefined if it has none, or all for want of weights. */
export function weightText({ weight }: RouteTarget, { first }: RouteChoices): string | undefined {
  if (!hasShare({ weight })) return undefined;
  return `weight ${weight} of ${first.reduce((sum, one) => sum + (one.weight ?? 0), 0)}`;
}

/** Describes `sticky`, for people. */
export const STICKY_TEXT = "each key stays with one of them";

function hasShare({ weight = 0 }: Pick<RouteTarget, "weight">): boolean {
  return weight > 0;
}

/** Returns a wait that is exponentially distributed over the seeds, at the rate of the target's weight. */
function waitOf({ upstream, upstreamModel, weight = 0 }: RouteTarget, seed: string): number {
  const hash = mixed(textHash(upstreamModel, textHash("/", textHash(upstream, textHash(seed)))));
  return -Math.log((hash + 0.5) / 0x1_0000_0000) / weight;
}
