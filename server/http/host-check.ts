import type { IncomingMessage } from "node:http";
import type { onRequestHookHandler } from "fastify";
import type { ServerConfig } from "../context/config.ts";
import { type Problem, problem } from "./problems/problem.ts";

/**
 * Facts that decide whether a request is meant for this server: where it arrived, and the two headers that a browser
 * sets by itself.
 */
export type Arrival = {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** Scheme of the connection: `http:` or `https:`. */
  readonly scheme: string;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
};

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const LOOPBACK_ADDRESS = /^(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/;

/**
 * Returns the header that names another's host or page, if any. Allowed are the public URL's host and, on a connection
 * to a loopback address, the loopback names with the listener's port. A request without an Origin is from no page.
 */
export function foreignHeader(arrival: Arrival, publicUrl: URL | null): "host" | "origin" | undefined {
  const { host, origin, scheme } = arrival;
  // The public URL's scheme decides which port may be left out of its Host: a proxy in front may end the TLS.
  const atPublicUrl = publicUrl !== null && parseOrigin(`${publicUrl.protocol}//${host}`)?.host === publicUrl.host;
  if (!atPublicUrl && !isOurLoopback(parseOrigin(`${scheme}//${host}`), arrival)) return "host";
  if (origin === undefined) return undefined;
  const page = parseOrigin(origin);
  // Behind a proxy on this machine, a page of the caller's own machine would pass for one of ours.
  const ours =
    page !== undefined && (page.origin === publicUrl?.origin || (!atPublicUrl && isOurLoopback(page, arrival)));
  return ours ? undefined : "origin";
}

/**
 * Refuses requests for another's host name, or from another's page, before any other check (threats b54, DNS
 * rebinding). Headers that a proxy adds are never read.
 */
export function refuseForeignHosts({ publicUrl }: Pick<ServerConfig, "publicUrl">): onRequestHookHandler {
  return ({ raw }, _reply, done) => done(refusalOfForeign(raw, publicUrl));
}

/**
 * Returns the refusal of a request for another's host name, or from another's page; undefined for a request that is
 * meant for this server.
 */
export function refusalOfForeign({ headers, socket }: IncomingMessage, publicUrl: URL | null): Problem | undefined {
  const { host, origin } = headers;
  const { localAddress, localPort } = socket;
  const scheme = "encrypted" in socket ? "https:" : "http:";
  const foreign = foreignHeader({ host, origin, scheme, localAddress, localPort }, publicUrl);
  return foreign && REFUSALS[foreign];
}

const REFUSALS = {
  host: problem("forbidden_origin", "This endpoint does not answer for that Host: use the server's --public-url."),
  origin: problem("forbidden_origin", "This endpoint does not answer to pages of that Origin."),
} as const;

/** True if a Host is a name that every machine has for itself. */
export function isLoopbackHost(host: string | undefined): boolean {
  return LOOPBACK_NAMES.has(parseOrigin(`http://${host}`)?.hostname ?? "");
}

function isOurLoopback(url: URL | undefined, { localAddress, localPort }: Arrival): boolean {
  if (url === undefined || !LOOPBACK_NAMES.has(url.hostname)) return false;
  if (localAddress === undefined || !LOOPBACK_ADDRESS.test(localAddress)) return false;
  return Number(url.port || (url.protocol === "https:" ? 443 : 80)) === localPort;
}

/** Parses a text that is a scheme and an authority, and nothing else; undefined for any other. */
function parseOrigin(text: string): URL | undefined {
  return /^https?:\/\/[\w.:[\]-]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}
