import { type Client, type SourceRefusal, shownSource } from "../../../domain/access/source-addresses.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";

const WHOSE: Readonly<Record<Exclude<SourceRefusal, "unknown">, string>> = { key: "PlatformKey", team: "PlatformTeam" };

/**
 * Returns the answer to a key, or a member's token, used from an address that is not allowed: that address, and what to
 * do.
 */
export function foreignAddress(client: Client, source: SourceRefusal): Problem {
  const address = shownSource(client);
  if (source === "unknown" || address === undefined) return UNKNOWN;
  return problem(
    "address_not_allowed",
    `Calls from ${address} are refused: allowedCIDRs of the ${WHOSE[source]} does not have this address. Call from one that it has, or have this one added. Where it is a proxy's, the server is started with --trusted-proxies for that proxy.`,
  );
}

const UNKNOWN = problem(
  "address_not_allowed",
  "Calls are taken from the addresses of allowedCIDRs alone, and the server does not know the address of this one: a proxy that it trusts wrote something else into X-Forwarded-For. Have it write the caller's address there.",
);
