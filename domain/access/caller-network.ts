/** What is kept of where a key is called from: a network, and no address (docs/decisions/caller-networks.md). */
import { addressText, isNetworkWithin, parseAddress } from "./source-addresses.ts";

/** A network that a key was called from, and the last day of that in UTC, as `2026-11-25`. */
export type CallerNetwork = { readonly network: string; readonly lastSeenOn: string };

/** So many networks of a key are kept, the last ones: where there are as many, there may have been more. */
export const MAX_CALLER_NETWORKS = 16;

/** The network of an address that is kept of it: a /24 of IPv4, a /56 of IPv6. Undefined for what is no address. */
export function callerNetwork(ip: string | undefined): string | undefined {
  const address = parseAddress(ip ?? "");
  if (address === undefined) return undefined;
  const [first = 0, second = 0, third = 0, fourth = 0] = address;
  if (address.length === 2) return `${addressText([first, second & 0xff00])}/24`;
  return `${addressText([first, second, third, fourth & 0xff00, 0, 0, 0, 0])}/56`;
}

/** What a list lets in of a network: all, or what is in these, its own; none of it where there are none. */
type Part = "all" | readonly string[];

function partOf(network: string, cidrs: readonly string[] | null): Part {
  if (cidrs === null || isNetworkWithin(network, cidrs)) return "all";
  return cidrs.filter((cidr) => isNetworkWithin(cidr, [network]));
}

/** The lists that a caller's address has to be in, the key's and its team's; null for anywhere. */
export type SourceLists = readonly [key: readonly string[] | null, team: readonly string[] | null];

/** Whether lists refuse anything that those before let in; where one of several networks comes for another, perhaps. */
export function areNarrower(before: SourceLists, after: SourceLists): boolean {
  return after.some((list, place) => {
    const was = before[place] ?? null;
    return list !== null && (was === null || was.some((cidr) => !isNetworkWithin(cidr, list)));
  });
}

/** Callers that other lists refuse, and those that they may refuse: of a caller the network alone is known. */
export type NarrowedCallers = {
  readonly refused: readonly CallerNetwork[];
  readonly doubtful: readonly CallerNetwork[];
};

/** Which callers other lists let in less than those before do. */
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
    .filter(({ was, is }) => !was.some(isNone) && is.some((part, place) => isLess(part, was[place] ?? "all")));
  const [refused, doubtful] = [true, false].map((isRefused) =>
    narrowed.filter(({ is }) => is.some(isNone) === isRefused).map(({ caller }) => caller),
  );
  return { refused: refused ?? [], doubtful: doubtful ?? [] };
}

function isNone(part: Part): boolean {
  return part !== "all" && part.length === 0;
}

/** Whether a part lacks something of what was let in before. */
function isLess(part: Part, before: Part): boolean {
  if (part === "all") return false;
  return before === "all" || before.some((cidr) => !isNetworkWithin(cidr, part));
}
