/** Recorded locations of a key's callers: networks, and no addresses (docs/decisions/caller-networks.md). */
import { addressText, isNetworkWithin, parseAddress } from "./source-addresses.ts";

/** A network that a key was called from, and the last day of such a call in UTC, as `2026-11-25`. */
export type CallerNetwork = { readonly network: string; readonly lastSeenOn: string };

/** Maximum number of networks recorded for a key, the latest ones: a key with as many may have had more. */
export const MAX_CALLER_NETWORKS = 16;

/** Recorded in place of a network for a caller whose address is not known: every list refuses it. */
export const UNKNOWN_NETWORK = "unknown";

/**
 * Recorded in place of a network for a service that asks about a key by introspection, beside the networks: every list
 * refuses it.
 */
export const INTROSPECTION = "introspection";

/** Returns what is recorded for an address: a /24 of IPv4, a /56 of IPv6, or what is in place of a network. */
export function callerNetwork(ip: string): string {
  const address = parseAddress(ip);
  if (address === undefined) return ip === INTROSPECTION ? INTROSPECTION : UNKNOWN_NETWORK;
  const [first = 0, second = 0, third = 0, fourth = 0] = address;
  if (address.length === 2) return `${addressText([first, second & 0xff00])}/24`;
  return `${addressText([first, second, third, fourth & 0xff00, 0, 0, 0, 0])}/56`;
}

/** Part of a network that a list allows: all of it, or the list's own networks within it, which may be none. */
type AllowedNetworks = "all" | readonly string[];

function partOf(network: string, cidrs: readonly string[] | null): AllowedNetworks {
  if (cidrs === null || isNetworkWithin(network, cidrs)) return "all";
  return cidrs.filter((cidr) => isNetworkWithin(cidr, [network]));
}

/** Lists that a caller's address has to be in, the key's and its team's; null for any address. */
export type SourceLists = readonly [key: readonly string[] | null, team: readonly string[] | null];

/** True if lists refuse something that the lists before allowed, or may: several networks may together replace one. */
export function areNarrower(before: SourceLists, after: SourceLists): boolean {
  return after.some((list, index) => {
    const was = before[index] ?? null;
    return list !== null && (was === null || was.some((cidr) => !isNetworkWithin(cidr, list)));
  });
}

/** Callers that other lists refuse, and callers that they may refuse: of a caller only the network is known. */
export type NarrowedCallers = {
  readonly refused: readonly CallerNetwork[];
  readonly doubtful: readonly CallerNetwork[];
};

/** Returns the callers of which other lists allow less than the lists before. */
export function narrowedCallers(
  callers: readonly CallerNetwork[],
  before: SourceLists,
  after: SourceLists,
): NarrowedCallers {
  const narrowed = callers
    .map((caller) => ({
      caller,
      was: before.map((list) => partOf(caller.network, list)),
      is: after.map((list) => partOf(caller.network, list)),
    }))
    .filter(({ was, is }) => !was.some(isNone) && is.some((part, index) => isLess(part, was[index] ?? "all")));
  const [refused, doubtful] = [true, false].map((isRefused) =>
    narrowed.filter(({ is }) => is.some(isNone) === isRefused).map(({ caller }) => caller),
  );
  return { refused: refused ?? [], doubtful: doubtful ?? [] };
}

function isNone(part: AllowedNetworks): boolean {
  return part !== "all" && part.length === 0;
}

/** True if a part lacks something of what was allowed before. */
function isLess(part: AllowedNetworks, before: AllowedNetworks): boolean {
  if (part === "all") return false;
  return before === "all" || before.some((cidr) => !isNetworkWithin(cidr, part));
}
