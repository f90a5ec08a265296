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
const REFUSED_V6: readonly (readonly [string, number])[] = [
  ["::", 96], // unspecified, loopback, and IPv4-compatible
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 32], // Teredo: an IPv4 address inside
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4: an IPv4 address inside
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];

/** Decides which addresses an upstream may have. */
export type AddressGuard = {
  /** Whether an IP address, as a socket or a URL's host spells it, may be connected to. */
  allows(address: string): boolean;
  /** For a socket's `lookup`: resolves a name to the addresses that may be connected to; fails where none may. */
  readonly lookup: LookupFunction;
};

/** An upstream whose address is not allowed. Its text is for the log of the installation, not for a client. */
export class AddressRefusedError extends Error {
  readonly code = "ADDRESS_REFUSED";
  constructor() {
    super("the upstream's address is private or reserved: its network is not among the allowed private upstreams");
    this.name = "AddressRefusedError";
  }
}

/**
 * Makes the guard. It judges the address that is connected to, not the name that was written: what a name resolves to
 * is filtered in the same look-up that the socket uses, so that nothing can rebind in between.
 *
 * @param allowed networks that are let through although they are private (`--allow-private-upstreams`)
 */
export function createAddressGuard(allowed: BlockList): AddressGuard {
  const refused = new BlockList();
  for (const [network, bits] of REFUSED_V4) {
    refused.addSubnet(network, bits, "ipv4");
    // The same networks as NAT64 reaches them: on an IPv6-only host the public internet is behind this prefix too.
    refused.addSubnet(`64:ff9b::${network}`, 96 + bits, "ipv6");
  }
  for (const [network, bits] of REFUSED_V6) refused.addSubnet(network, bits, "ipv6");

  const allows = (address: string): boolean => {
    const literal = address.replace(/^\[|\]$|%.*$/g, "");
    const version = isIP(literal);
    if (version === 0) return false;
    const family = version === 6 ? "ipv6" : "ipv4";
    return allowed.check(literal, family) || !refused.check(literal, family);
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
