import type { IncomingMessage } from "node:http";
import type { ServerConfig } from "../context/config.ts";
import type { HeaderAddition } from "./answers/added-headers.ts";

const NAME = "strict-transport-security";
/** A year: who looks at the console once in a season is still kept from asking for it in the clear. */
const VALUE = "max-age=31536000";
/** Names of the caller's own machine, where other servers, on other ports, may have no TLS. */
const LOOPBACK_HOST = /^(?:(?:[^:]+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i;

/** Whether clients reach this server over TLS, which it or a proxy in front of it serves. */
export function isOverTls({ publicUrl, tls }: Pick<ServerConfig, "publicUrl" | "tls">): boolean {
  return publicUrl === null ? tls !== null : publicUrl.protocol === "https:";
}

/**
 * Has a browser ask for this host over TLS alone from then on (RFC 6797): but for the names of its own machine, where that
 * would hold for all of its servers.
 */
export const addTransportSecurity: HeaderAddition = (request) => {
  const host = hostOf(request);
  return host !== undefined && !LOOPBACK_HOST.test(host) ? [NAME, VALUE] : [];
};

/** Of the raw headers: a flood of refusals would make Node write out all of `headers` for each. */
function hostOf({ rawHeaders }: IncomingMessage): string | undefined {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") return rawHeaders[i + 1];
  }
  return undefined;
}
