import type { IncomingMessage } from "node:http";
import type { ServerConfig } from "../context/config.ts";
import type { HeaderAddition } from "./answers/added-headers.ts";

const NAME = "strict-transport-security";
/** Header value: a year, so that it still protects a person who opens the console once in a season. */
const VALUE = "max-age=31536000";
/** Matches names of the caller's own machine, where other servers, on other ports, may have no TLS. */
const LOOPBACK_HOST = /^(?:(?:[^:]+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i;

/** True if clients reach this server over TLS, which the server or a proxy in front of it terminates. */
export function isOverTls({ publicUrl, tls }: Pick<ServerConfig, "publicUrl" | "tls">): boolean {
  return publicUrl === null ? tls !== null : publicUrl.protocol === "https:";
}

/**
 * Has a browser use only TLS for this host from then on (RFC 6797). Leaves out the names of the browser's own machine,
 * where it would apply to all servers of the machine.
 */
export const addTransportSecurity: HeaderAddition = (request) => {
  const host = hostOf(request);
  return host !== undefined && !LOOPBACK_HOST.test(host) ? [NAME, VALUE] : [];
};

/** Reads the Host from the raw headers: in a flood of refusals, Node would build the object `headers` for each. */
function hostOf({ rawHeaders }: IncomingMessage): string | undefined {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") return rawHeaders[i + 1];
  }
  return undefined;
}
