import { isIP } from "node:net";
import type { Route } from "./connections/pipelining-limit.ts";

const HEADER = "x-forwarded-for";
/** Matches an address of IPv6 in brackets, or an address that ends like IPv4, with an optional port. */
const WITH_PORT = /^(?:\[([\da-f]*:[^\]]*)\]|([\da-f:.]*\.\d{1,3}))(?::(\d{1,5}))?$/i;
const MAX_PORT = 65_535;

/**
 * Strips the ports from the addresses in `X-Forwarded-For`, which some proxies write, before any other code reads them.
 */
export function withoutPorts(route: Route): Route {
  return (request, response) => {
    const { headers } = request;
    const written = headers[HEADER];
    if (typeof written === "string" && written.includes(":")) headers[HEADER] = addressesOf(written);
    route(request, response);
  };
}

/** Returns a list of addresses without ports and brackets. An entry that is no address stays as it is. */
export function addressesOf(list: string): string {
  return list.split(",").map(addressOf).join(",");
}

function addressOf(written: string): string {
  const [, ipv6, ipv4, port = "0"] = WITH_PORT.exec(written.trim()) ?? [];
  const address = ipv6 ?? ipv4;
  return address !== undefined && isIP(address) !== 0 && Number(port) <= MAX_PORT ? address : written;
}
