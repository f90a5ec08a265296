import { MAX_CALLER_NETWORKS, UNKNOWN_NETWORK } from "../../access/caller-network.ts";
import { isNetworkWithin } from "../../access/source-addresses.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { type AdvicePoint, type KeyUse, recentNetworks } from "./key-use.ts";

/** Maximum number of networks that a PlatformKey lists. */
const MAX_LISTED = 32;

/** Advises the networks that the key was called from, as far as its list allows them. */
export function adviseNetworks({ spec, networks, networksSince, from }: KeyUse): AdvicePoint {
  const point = (why: string, change: AdvicePoint["change"] = {}): AdvicePoint => ({
    field: "allowedCIDRs",
    change,
    why,
  });
  if (networksSince > from) {
    return point(
      `From where keys are called is known since ${rfc3339(networksSince)} alone, so that nothing is narrowed.`,
    );
  }
  const recent = recentNetworks({ networks, from });
  if (recent.length === 0) return point("No caller's network is known.");
  if (networks.length >= MAX_CALLER_NETWORKS) {
    return point(`The key is called from ${MAX_CALLER_NETWORKS} networks or more, of which no more are kept.`);
  }
  const had = spec.allowedCIDRs;
  const unknown = recent.find(({ network }) => network === UNKNOWN_NETWORK);
  if (had === undefined && unknown !== undefined) {
    return point(
      `Calls came without an address, such as through a proxy that does not say it, last on ${unknown.lastSeenOn}: any list would refuse them, so that nothing is narrowed.`,
    );
  }
  // Never a network that the list refuses by now: it may have been excluded for a reason.
  const parts = recent.map(({ network }) => ({
    network,
    inside:
      had === undefined || isNetworkWithin(network, had)
        ? [network]
        : had.filter((cidr) => isNetworkWithin(cidr, [network])),
  }));
  const list = [...new Set(parts.flatMap(({ inside }) => inside))].toSorted();
  const refused = parts.filter(({ network, inside }) => !inside.includes(network));
  const seen = `Called from ${recent.map(({ network, lastSeenOn }) => `${network} last on ${lastSeenOn}`).join(", ")}.`;
  if (list.length === 0) return point(`${seen} The list refuses all of them now.`);
  const why =
    refused.length === 0 ? seen : `${seen} The list refuses some of them now: ${refused.map(shown).join(", ")}.`;
  if (
    list.length > MAX_LISTED ||
    (had !== undefined && list.every((cidr) => had.includes(cidr)) && list.length === had.length)
  ) {
    return point(why);
  }
  return point(`${why} Of a caller the network is kept and no address: write a part of it where you know it.`, {
    allowedCIDRs: list,
  });
}

function shown({ network, inside }: { readonly network: string; readonly inside: readonly string[] }): string {
  return inside.length === 0 ? network : `${network} but for ${inside.join(", ")}`;
}
