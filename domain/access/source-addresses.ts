/** Addresses from which a key may be used: networks of the key and of its team (docs/decisions/source-addresses.md). */
import type { KeyAttributes } from "./key-record.ts";

/**
 * Address of a request's caller. `ip` may be computed anew whenever it is read, and is read only if a list asks for it.
 * Undefined, or any text that is no address, for a caller whose address is not known.
 */
export type Client = { readonly ip: string | undefined };

/** Address as numbers of 16 bits: two for IPv4, eight for IPv6. */
export type Address = readonly number[];
/** Network: the addresses that begin with the first `length` bits of `start`. */
type Network = { readonly start: Address; readonly length: number };

const GROUP_BITS = 16;
/** Prefix of an IPv4 address that is written as an IPv6 address (RFC 4291 §2.5.5.2). */
const MAPPED: Address = [0, 0, 0, 0, 0, 0xffff];
const MAPPED_BITS = MAPPED.length * GROUP_BITS;

/** Owner of the list that refuses a request; `unknown` if a list exists and the caller's address is not known. */
export type SourceRefusal = "key" | "team" | "unknown";

/**
 * Decides whether a key may be used from the address of a request: both lists apply, the key's and its team's. If
 * neither
 * is declared, nothing of the client is read.
 *
 * @param client null for the server itself, which acts for a library or answers a question about the key
 * @returns undefined if it may
 */
export function refusedSource(
  { allowedCIDRs, teamAllowedCIDRs }: Pick<KeyAttributes, "allowedCIDRs" | "teamAllowedCIDRs">,
  client: Client | null,
): SourceRefusal | undefined {
  if ((allowedCIDRs === null && teamAllowedCIDRs === null) || client === null) return undefined;
  const address = parseAddress(client.ip ?? "");
  if (address === undefined) return "unknown";
  if (allowedCIDRs !== null && !isAmong(address, allowedCIDRs)) return "key";
  return teamAllowedCIDRs === null || isAmong(address, teamAllowedCIDRs) ? undefined : "team";
}

/** Parsed networks of each list. Equal lists of an index are one object, so each is parsed once. */
const read = new WeakMap<readonly string[], readonly Network[]>();

/** True if an address is in a list. A stored text that is no network matches no address. */
function isAmong(address: Address, cidrs: readonly string[]): boolean {
  let networks = read.get(cidrs);
  if (networks === undefined) {
    networks = cidrs.flatMap((cidr) => {
      const network = parseNetwork(cidr);
      return "fault" in network ? [] : network;
    });
    read.set(cidrs, networks);
  }
  return networks.some((network) => isWithin(address, network));
}

/**
 * True if a single one of several networks contains all addresses of a network. A text that is no network is in none,
 * and
 * contains none.
 *
 * @param cidr as declared
 */
export function isNetworkWithin(cidr: string, cidrs: readonly string[]): boolean {
  const inner = parseNetwork(cidr);
  if ("fault" in inner) return false;
  return cidrs.some((one) => {
    const outer = parseNetwork(one);
    return !("fault" in outer) && outer.length <= inner.length && isWithin(inner.start, outer);
  });
}

function isWithin(address: Address, { start, length }: Network): boolean {
  if (address.length !== start.length) return false;
  return start.every((group, index) => {
    const mask = maskOf(index, length);
    return (group & mask) === ((address[index] ?? 0) & mask);
  });
}

/** Returns the mask of one group: the bits that lie within the first `length` bits of an address. */
function maskOf(index: number, length: number): number {
  const bits = Math.min(Math.max(length - index * GROUP_BITS, 0), GROUP_BITS);
  return 0xffff & (0xffff << (GROUP_BITS - bits));
}

/** Returns the fault of a network as it is written, and what to write instead; undefined if there is none. */
export function networkFault(text: string): string | undefined {
  const network = parseNetwork(text);
  return "fault" in network ? network.fault : undefined;
}

const NO_NETWORK = { fault: "is no network: write an address and a length, such as 203.0.113.0/24 or 2001:db8::/32" };

/** Parses a network in CIDR notation (RFC 4632, RFC 4291 §2.3), or returns its fault. */
function parseNetwork(text: string): Network | { readonly fault: string } {
  const [written = "", ...lengths] = text.split("/");
  const address = written.includes("%") ? undefined : parseAddress(written);
  if (address === undefined || lengths.length > 1) return NO_NETWORK;
  const bits = address.length * GROUP_BITS;
  const single = `${addressText(address)}/${bits}`;
  const [lengthText] = lengths;
  if (lengthText === undefined) return { fault: `has no length: write ${single} for this one address` };
  if (!/^(?:0|[1-9]\d{0,2})$/.test(lengthText)) return NO_NETWORK;
  const isMapped = written.includes(":") && bits === 32;
  const length = Number(lengthText) - (isMapped ? MAPPED_BITS : 0);
  if (length > bits) return { fault: `has a length beyond its ${bits} bits: write ${single} for this one address` };
  // An IPv6 network that contains all of IPv4 does not mean it: 0.0.0.0/0 does.
  if (length < 0) return { fault: "mixes IPv4 and IPv6: write 0.0.0.0/0 for all of IPv4" };
  const start = address.map((group, index) => group & maskOf(index, length));
  const meant = `${addressText(start)}/${length}`;
  if (isMapped) return { fault: `is IPv4 written as IPv6: write ${meant}` };
  if (start.some((group, index) => group !== address[index])) {
    return { fault: `has bits behind its length: write ${meant} for the network, or ${single} for this one address` };
  }
  return { start, length };
}

/** Parses an address for comparison with the lists: without its zone, and as IPv4 if it is IPv4 written as IPv6. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/%.*$/, "");
  if (IPV4.test(bare)) {
    const [a = 0, b = 0, c = 0, d = 0] = bare.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  }
  if (!IPV6.test(bare) || !URL.canParse(`http://[${bare}]`)) return undefined;
  const [head = "", tail] = canonical(bare).split("::");
  const [first, last] = [groupsOf(head), groupsOf(tail ?? "")];
  const address = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return MAPPED.every((group, index) => group === address[index]) ? address.slice(MAPPED.length) : address;
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** Characters of an IPv6 address in a URL's brackets, without those that the URL parser would skip. */
const IPV6 = /^[\da-f:.]+$/i;

/** Formats an IPv6 address as in RFC 5952, without an IPv4 address at its end. */
function canonical(ipv6: string): string {
  return new URL(`http://[${ipv6}]`).hostname.slice(1, -1);
}

function groupsOf(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

/** Formats an address as it is shown. */
export function addressText(address: Address): string {
  if (address.length === 2) return address.flatMap((group) => [group >> 8, group & 0xff]).join(".");
  return canonical(address.map((group) => group.toString(16)).join(":"));
}

/** Returns the address of a client as it is shown; undefined if it is not known. */
export function shownSource({ ip = "" }: Client): string | undefined {
  const address = parseAddress(ip);
  return address && addressText(address);
}
