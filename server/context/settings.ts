import { BlockList, isIP } from "node:net";
import { networkFault } from "../../domain/access/source-addresses.ts";
import { DAY_MS } from "../../domain/duration.ts";
import { LEASE_RANGE_MS } from "../../domain/protocol.ts";
import {
  ADMIN_HOST,
  ADMIN_PORT,
  AUDIT_RETENTION,
  address,
  duration,
  IP_ADDRESS,
  LOG_LEVEL,
  port,
  publicUrl,
  retention,
} from "../../runtime/common-settings.ts";
import { anyText, optional, type Settings, type SettingsRule, several, withDefault } from "../../runtime/settings.ts";
import { memoryResourceUrl } from "./memory-resource.ts";
import { isTrustworthyUrl } from "./trustworthy-url.ts";

/** Address that the verifier for proxies listens on, unless another is given. */
const AUTHZ_HOST = "127.0.0.1";

/** The settings of every command that serves. */
export const LISTENER_SETTINGS = {
  /** Address to listen on. Its default is the command's. */
  host: optional({
    takes: "<address>",
    help: "the address to listen on",
    parse: address,
    wanted: IP_ADDRESS,
  }),
  port: withDefault("8080", {
    takes: "<port>",
    help: "the public port",
    parse: port,
    wanted: "a port from 0 to 65535; 0 takes a free one",
  }),
  adminHost: ADMIN_HOST,
  adminPort: ADMIN_PORT,
  logLevel: LOG_LEVEL,
  auditRetention: AUDIT_RETENTION,
  /** Milliseconds that daily usage is kept. */
  usageRetention: withDefault("400d", {
    takes: "<duration>",
    help: "how long daily usage is kept: 40d to 3660d",
    parse: usageRetention,
    wanted: "a duration from 40 to 3660 days, such as 400d or 9600h",
  }),
  prices: anyText({
    takes: "<file>",
    help: "the price list in YAML, reloaded when it changes",
  }),
  otlpEndpoint: optional({
    takes: "<url>",
    help: "the OTLP/HTTP collector of traces; its credential is OTEL_EXPORTER_OTLP_HEADERS",
    parse: collectorUrl,
    wanted: "an http or https URL without a user, query or fragment, such as http://localhost:4318",
  }),
  traceRatio: withDefault("1", {
    takes: "<share>",
    help: "the share of requests to trace, 0 to 1, unless the caller decides",
    parse: (text) => (/^(0|1|0?\.\d{1,6}|1\.0+)$/.test(text) ? Number(text) : undefined),
    wanted: "a number from 0 to 1, such as 0.1",
  }),
  vendorHeader: withDefault("x-goog-api-key", {
    takes: "<name>",
    help: "the header that a key is read from first, as x-acme-api-key",
    parse: vendorHeader,
    wanted: "of the form x-<vendor>-api-key",
  }),
  publicUrl: publicUrl(
    "the server's URL for clients: in links, MCP's check of Host and Origin, and the audience of MCP's tokens",
  ),
  tlsCert: anyText({ takes: "<file>", help: "certificate chain in PEM" }),
  tlsKey: anyText({ takes: "<file>", help: "its private key in PEM" }),
  allowPrivateUpstreams: several({
    takes: "<cidrs>",
    help: "private ranges that gateways may call, separated by commas",
    faultOf: rangeFault,
    wanted: "CIDRs separated by commas, such as 10.0.0.0/8",
  }),
  trustedProxies: several({
    takes: "<cidrs>",
    help: "proxies whose X-Forwarded headers are trusted, separated by commas",
    faultOf: rangeFault,
    wanted: "CIDRs separated by commas, such as 10.0.0.0/8",
  }),
  authzPort: optional({
    takes: "<port>",
    help: "a port of its own for external authorization: proxies ask it about the requests that they get",
    parse: port,
    wanted: "a port from 0 to 65535; 0 takes a free one",
  }),
  authzGrpcPort: optional({
    takes: "<port>",
    help: "a port of its own for Envoy's external authorization over gRPC; the other flags of --authz-port hold for it too",
    parse: port,
    wanted: "a port from 0 to 65535; 0 takes a free one",
  }),
  authzHost: withDefault(AUTHZ_HOST, {
    takes: "<address>",
    help: "the address that --authz-port listens on",
    parse: address,
    wanted: IP_ADDRESS,
  }),
  authzTlsCert: anyText({ takes: "<file>", help: "certificate chain of --authz-port in PEM" }),
  authzTlsKey: anyText({ takes: "<file>", help: "its private key in PEM" }),
  authzClientCa: anyText({
    takes: "<file>",
    help: "authorities in PEM: --authz-port takes calls with a certificate of theirs alone",
  }),
  authzTokenFile: anyText({
    takes: "<file>",
    help: "a file with a token of 32 or more random characters: --authz-port takes calls with it in X-Keyplane-Authz-Token alone",
  }),
  authzAddressHeader: optional({
    takes: "<name>",
    help: "the header in which proxies send --authz-port the caller's address; the last one in it counts",
    parse: headerName,
    wanted: "the name of a header, such as X-Real-IP",
  }),
  oidcIssuer: several({
    takes: "<urls>",
    help: "issuers of JWTs for the management API and memory over MCP, separated by commas",
    faultOf: (url) => (isTrustworthyUrl(url) ? undefined : "is none"),
    wanted: "https URLs separated by commas, as tokens name them",
  }),
  oidcAudience: anyText({
    takes: "<audience>",
    help: "the audience of JWTs for the management API",
  }),
  oidcAdminGroups: several({
    takes: "<groups>",
    help: "groups whose members may manage every team, separated by commas",
  }),
  oidcClientId: several({
    takes: "<ids>",
    help: "the console's client ID at each issuer; - for none",
  }),
  oidcClientSecretFile: several({
    takes: "<files>",
    help: "each client's secret file; - for a public client",
  }),
  leaksGithubKeysUrl: optional({
    takes: "<url>",
    help: "the URL of GitHub's public keys, which verify its reports of leaked keys",
    parse: (text) => (isTrustworthyUrl(text) ? text : undefined),
    wanted: "an https URL, such as https://api.github.com/meta/public_keys/secret_scanning",
  }),
};

/** The settings of a replica on PostgreSQL. */
export const REPLICA_SETTINGS = {
  auditLog: optional({
    takes: "<stdout>",
    help: "also write the audit log to stdout, by one server at a time, each event at least once",
    parse: (text) => (text === "stdout" ? text : undefined),
    wanted: "stdout",
  }),
  workers: withDefault("1", {
    takes: "<n>",
    help: "threads of the public port",
    parse: (text) => (/^[1-9]\d{0,2}$/.test(text) ? Number(text) : undefined),
    wanted: "a number of threads from 1 to 999",
  }),
  /** Milliseconds of the lease. */
  lease: withDefault("5s", {
    takes: "<duration>",
    help: "how long it serves without the database: 3s to 60s",
    parse: lease,
    wanted: "a duration from 3s to 60s",
  }),
  bootstrapTokenFile: anyText({
    takes: "<file>",
    help: "a file with a token of 32 or more random characters, which revokes keys of every team and, without an issuer, creates teams and keys",
  }),
};

/** All settings of the server. */
export const SERVER_SETTINGS = { ...LISTENER_SETTINGS, ...REPLICA_SETTINGS };

/** Text that stands in a list for a client, or a secret, that does not exist. */
export const NO_CLIENT = "-";

/** Rules that the settings of one server must keep beside each other. */
export const SERVER_RULES: readonly SettingsRule<typeof SERVER_SETTINGS>[] = [
  {
    name: "tlsCert",
    wanted: "given together with --tls-key",
    holds: ({ tlsCert, tlsKey }) => (tlsCert === null) === (tlsKey === null),
  },
  ...(["authzPort", "authzGrpcPort"] as const).map(
    (name): SettingsRule<typeof SERVER_SETTINGS> => ({
      name,
      wanted:
        "given together with --authz-client-ca or --authz-token-file, by which it knows its proxies: any other program that reaches the port could try keys there",
      holds: (settings) =>
        settings[name] === null || settings.authzClientCa !== null || settings.authzTokenFile !== null,
    }),
  ),
  ...(["authzTlsCert", "authzTokenFile", "authzAddressHeader"] as const).map(
    (name): SettingsRule<typeof SERVER_SETTINGS> => ({
      name,
      wanted: "given together with --authz-port or --authz-grpc-port",
      holds: (settings) => settings[name] === null || hasVerifier(settings),
    }),
  ),
  {
    name: "authzHost",
    wanted: "given together with --authz-port or --authz-grpc-port",
    holds: (settings) => settings.authzHost === AUTHZ_HOST || hasVerifier(settings),
  },
  {
    name: "authzTlsCert",
    wanted: "given together with --authz-tls-key",
    holds: ({ authzTlsCert, authzTlsKey }) => (authzTlsCert === null) === (authzTlsKey === null),
  },
  {
    name: "authzClientCa",
    wanted: "given together with --authz-tls-cert: certificates of clients come over TLS",
    holds: ({ authzClientCa, authzTlsCert }) => authzClientCa === null || authzTlsCert !== null,
  },
  {
    name: "oidcAudience",
    wanted: "given together with --oidc-issuer",
    holds: ({ oidcIssuer, oidcAudience }) => (oidcIssuer.length === 0) === (oidcAudience === null),
  },
  {
    name: "oidcAdminGroups",
    wanted: "given together with --oidc-issuer",
    holds: ({ oidcIssuer, oidcAdminGroups }) => oidcIssuer.length > 0 || oidcAdminGroups.length === 0,
  },
  {
    name: "oidcAudience",
    wanted: "another than the address of the memory's MCP endpoint: tokens for it would open this API too",
    holds: ({ publicUrl, oidcAudience }) => publicUrl === null || oidcAudience !== memoryResourceUrl(publicUrl),
  },
  {
    name: "oidcClientId",
    wanted: `one for each --oidc-issuer, in their order; ${NO_CLIENT} for an issuer that people do not sign in by`,
    holds: ({ oidcClientId, oidcIssuer }) => oidcClientId.length === 0 || oidcClientId.length === oidcIssuer.length,
  },
  {
    name: "oidcClientSecretFile",
    wanted: `one for each --oidc-client-id, in their order; ${NO_CLIENT} for one without a secret`,
    holds: ({ oidcClientSecretFile, oidcClientId }) =>
      oidcClientSecretFile.length === 0 || oidcClientSecretFile.length === oidcClientId.length,
  },
];

/**
 * Returns the ranges of addresses of a setting.
 *
 * @param texts addresses and CIDRs of both families, each without a {@link rangeFault}
 */
export function rangesOf(texts: readonly string[]): BlockList {
  const ranges = new BlockList();
  for (const text of texts) {
    const [ip = "", bits] = text.split("/");
    const isV4 = isIP(ip) === 4;
    ranges.addSubnet(ip, bits === undefined ? (isV4 ? 32 : 128) : Number(bits), isV4 ? "ipv4" : "ipv6");
  }
  return ranges;
}

/** Returns the fault of a text that is neither an address nor a CIDR, as of one with bits behind its length. */
function rangeFault(text: string): string | undefined {
  return isIP(text) === 0 ? networkFault(text) : undefined;
}

function usageRetention(text: string): number | undefined {
  const ms = retention(text);
  return ms !== undefined && ms >= 40 * DAY_MS && ms <= 3_660 * DAY_MS ? ms : undefined;
}

/**
 * Parses the URL of a collector, without a trailing slash: below it is `/v1/traces`, and collectors' pages give either.
 */
function collectorUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const { origin, username, password, pathname, search, hash } = url;
  if (username + password + search + hash !== "") return undefined;
  return `${origin}${pathname.replace(/(?:\/v1\/traces)?\/*$/, "")}`;
}

function vendorHeader(text: string): string | undefined {
  const name = text.toLowerCase();
  return /^x-[a-z0-9]+(-[a-z0-9]+)*-api-key$/.test(name) ? name : undefined;
}

/** Parses the name of a header to lower case. */
function headerName(text: string): string | undefined {
  return /^[A-Za-z][A-Za-z0-9-]*$/.test(text) ? text.toLowerCase() : undefined;
}

/** Parses a lease to milliseconds, whole ones, as replicas register it: 16.1s are 16,100.000000000002 ms. */
function lease(text: string): number | undefined {
  const ms = duration(text);
  return ms !== undefined && ms >= LEASE_RANGE_MS.least && ms <= LEASE_RANGE_MS.most ? Math.round(ms) : undefined;
}

/** True if proxies may ask, by whichever protocol. */
function hasVerifier({ authzPort, authzGrpcPort }: Settings<typeof SERVER_SETTINGS>): boolean {
  return authzPort !== null || authzGrpcPort !== null;
}
