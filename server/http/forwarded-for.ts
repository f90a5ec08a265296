import { isIP } from "node:net";
import type { Route } from "./connections/pipelining-limit.ts";

const HEADER = "x-forwarded-for";
/** An address of IPv6 in brackets, or one that ends as IPv4 does, and a port. */
const WITH_PORT = /^(?:\[([\da-f]*:[^\]]*)\]|([\da-f:.]*\.\d{1,3}))(?::(\d{1,5}))?$/i;
const MAX_PORT = 65_535;

/** Takes the ports off the addresses in `X-Forwarded-For`, which some proxies write, before anything reads them. */
export function withoutPorts(route: Route): Route {
  return (request, response) => {
    const { headers } = request;
    const written = headers[HEADER];
    if (typeof written === "string" && written.includes(":")) headers[HEADER] = addressesOf(written);
    route(request, response);
  };
}

/** A list of addresses without their ports and brackets. What is none with a port stays as it is. */
export function addressesOf(list: string): string {
  return list.split(",").map(addressOf).join(",");
}

function addressOf(written: string): string {
  const [, ipv6, ipv4, port = "0"] = WITH_PORT.exec(written.trim()) ?? [];
  const address = ipv6 ?? ipv4;
  return address !== undefined && isIP(address) !== 0 && Number(port) <= MAX_PORT ? address : written;
}
