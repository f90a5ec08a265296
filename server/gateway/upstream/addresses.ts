import { lookup as resolveName } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Networks that no upstream may be in unless the installation lists them: whatever is not the public internet. */
const REFUSED_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32], // Azure's platform endpoint
  ["169.254.0.0", 16], // link-local, and the clouds' metadata
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/**
 * All of IPv6 that may be the public internet: the block that IANA gives out addresses of, and IPv4 behind the prefixes
 * that are no more than another notation of it. Whatever else is or will be defined outside (IPv4-translated, local
 * NAT64 64:ff9b:1::/48, segment routing 5f00::/16, unique-local, link-local, multicast) is refused without being
 * listed.
 */
const PUBLIC_V6: readonly (readonly [string, number])[] = [
  ["2000::", 3],
  ["::ffff:0:0", 96], // IPv4-mapped: judged as the IPv4 address
  ["64:ff9b::", 96], // NAT64: the IPv4 addresses of REFUSED_V4 are taken out again
];
const REFUSED_V6: readonly (readonly [string, number])[] = [
  ["2001::", 23], // protocols' own: Teredo (an IPv4 address inside), benchmarking, ORCHID
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4: an IPv4 address inside
  ["3fff::", 20], // documentation
];

/** Decides which addresses an upstream may have. */
export type AddressGuard = {
  /** True if an IP address, as a socket or a URL's host spells it, may be connected to. */
  allows(address: string): boolean;
  /** Resolves a name to the addresses that may be connected to, for a socket's `lookup`; fails if there are none. */
  readonly lookup: LookupFunction;
};

/**
 * Error for an upstream whose address is not allowed. Its text is for the log of the installation, not for a client.
 */
export class AddressRefusedError extends Error {
  readonly code = "ADDRESS_REFUSED";
  constructor() {
    super("the upstream's address is private or reserved: its network is not among the allowed private upstreams");
    this.name = "AddressRefusedError";
  }
}

/**
 * Creates the guard. It judges the address that is connected to, not the name that was written: the addresses of a name
 * are filtered in the same look-up that the socket uses, so that nothing can rebind in between.
 *
 * @param allowed networks that are let through although they are private (`--allow-private-upstreams`)
 * @param others `public` if public addresses are let through too
 */
export function createAddressGuard(allowed: BlockList, others: "public" | "none" = "public"): AddressGuard {
  const refused = new BlockList();
  for (const [network, bits] of REFUSED_V4) {
    refused.addSubnet(network, bits, "ipv4");
    // The same networks as NAT64 reaches them: on an IPv6-only host the public internet is behind this prefix too.
    refused.addSubnet(`64:ff9b::${network}`, 96 + bits, "ipv6");
  }
  for (const [network, bits] of REFUSED_V6) refused.addSubnet(network, bits, "ipv6");
  const publicV6 = new BlockList();
  for (const [network, bits] of PUBLIC_V6) publicV6.addSubnet(network, bits, "ipv6");

  const allows = (address: string): boolean => {
    const literal = address.replace(/^\[|\]$|%.*$/g, "");
    const version = isIP(literal);
    if (version === 0) return false;
    const family = version === 6 ? "ipv6" : "ipv4";
    if (allowed.check(literal, family)) return true;
    if (others === "none") return false;
    return !refused.check(literal, family) && (version === 4 || publicV6.check(literal, family));
  };
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "");
      const usable = addresses.filter(({ address }) => allows(address));
      const [first] = usable;
      if (first === undefined) return callback(new AddressRefusedError(), "");
      return options.all ? callback(null, usable) : callback(null, first.address, first.family);
    });
  };
  return { allows, lookup };
}
