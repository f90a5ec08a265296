import { type Client, type SourceRefusal, shownSource } from "../../../domain/access/source-addresses.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";

const WHOSE: Readonly<Record<Exclude<SourceRefusal, "unknown">, string>> = { key: "PlatformKey", team: "PlatformTeam" };

/** Source of callers' addresses: what to do where an address is wrong, and the answer where there is none. */
type AddressSource = { readonly wrong: string; readonly unknown: Problem };

function unknownAddress(why: string): Problem {
  return problem("address_not_allowed", `Calls are taken from the addresses of allowedCIDRs alone, and ${why}`);
}

const OF_CONNECTIONS: AddressSource = {
  wrong: "Where it is a proxy's, the server is started with --trusted-proxies for that proxy.",
  unknown: unknownAddress(
    "the server does not know the address of this one: a proxy that it trusts wrote something else into X-Forwarded-For. Have it write the caller's address there.",
  ),
};
/** Addresses that proxies send the verifier. */
export const OF_PROXIES: AddressSource = {
  wrong: "Where it is a proxy's, the proxy is set up to send its caller's in the header of --authz-address-header.",
  unknown: unknownAddress(
    "the verifier does not know the address of this one: the server is started with --authz-address-header, and the proxy sends the caller's address in that header, once.",
  ),
};

/**
 * Returns the answer to a key, or a member's token, used from an address that is not allowed: that address, and what to
 * do.
 */
export function foreignAddress(
  client: Client,
  source: SourceRefusal,
  { wrong, unknown }: AddressSource = OF_CONNECTIONS,
): Problem {
  const address = shownSource(client);
  if (source === "unknown" || address === undefined) return unknown;
  return problem(
    "address_not_allowed",
    `Calls from ${address} are refused: allowedCIDRs of the ${WHOSE[source]} does not have this address. Call from one that it has, or have this one added. ${wrong}`,
  );
}
