import { BlockList, isIP } from "node:net";
import { parseDuration } from "../../domain/duration.ts";
import type { Environment } from "../../domain/environment.ts";
import { DEFAULT_RETENTION_MS, LEASE_MS, LEASE_RANGE_MS } from "../../domain/protocol.ts";
import { memoryResourceUrl } from "./memory-resource.ts";
import { type Placeholder, parsePlaceholders } from "./placeholders.ts";
import { isTrustworthyUrl } from "./trustworthy-url.ts";

/** Whose JWTs open the management API and, each for its own audience, the memory over MCP. */
export type OidcConfig = {
  /** Each exactly as its tokens name it. */
  readonly issuers: readonly string[];
  /** What a token must be meant for to open the management API. */
  readonly audience: string;
  /** Whose members may do what the installation's token may. */
  readonly adminGroups: readonly string[];
};

/** How people of an issuer sign in to the console. */
export type ConsoleClient = {
  /** One of {@link OidcConfig.issuers}. */
  readonly issuer: string;
  /** As the issuer knows Keyplane. */
  readonly clientId: string;
  /** The file of the client's secret; null for a public client. */
  readonly secretFile: string | null;
};

/** The server's configuration, parsed. */
export type ServerConfig = {
  /** An address, not a name: a name may stand for several sockets. */
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** The first carrier, in lower case: `x-<vendor>-api-key`. */
  readonly vendorHeader: string;
  /** Where clients reach this server: for links, mcp.json and the Origin check. Null: derived from the address. */
  readonly publicUrl: URL | null;
  /** Files of the certificate chain and its key, in PEM. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  readonly allowedPrivateUpstreams: BlockList;
  /** Addresses and CIDRs of the proxies whose X-Forwarded headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Threads that serve the public port. */
  readonly workers: number;
  readonly production: boolean;
  /** Development keys that no store holds; none of them works in production. */
  readonly placeholders: readonly Placeholder[];
  /** Null where no issuer is trusted. */
  readonly oidc: OidcConfig | null;
  /** In the order in which the sign-in page offers them; empty where people do not sign in by an issuer. */
  readonly consoleClients: readonly ConsoleClient[];
  /** The file of the token that begins an installation, and ends keys when no issuer can be asked; null for none. */
  readonly bootstrapTokenFile: string | null;
  /** Where GitHub shows the keys that it signs reports of leaked keys with; null where no report is taken for its. */
  readonly leaksGithubKeysUrl: string | null;
  /** How long the audit log is kept, in milliseconds. */
  readonly retentionMs: number;
  /** How long a replica decides without having asked the database for the feed's head, in milliseconds. */
  readonly leaseMs: number;
};

/** The flags that the server reads, each also an environment variable: `--vendor-header` is KEYPLANE_VENDOR_HEADER. */
const FLAGS = {
  host: "--host",
  port: "--port",
  adminHost: "--admin-host",
  adminPort: "--admin-port",
  vendorHeader: "--vendor-header",
  publicUrl: "--public-url",
  tlsCert: "--tls-cert",
  tlsKey: "--tls-key",
  allowPrivateUpstreams: "--allow-private-upstreams",
  trustedProxies: "--trusted-proxies",
  workers: "--workers",
  oidcIssuer: "--oidc-issuer",
  oidcAudience: "--oidc-audience",
  oidcAdminGroups: "--oidc-admin-groups",
  oidcClientId: "--oidc-client-id",
  oidcClientSecretFile: "--oidc-client-secret-file",
  bootstrapTokenFile: "--bootstrap-token-file",
  auditRetention: "--audit-retention",
  leaksGithubKeysUrl: "--leaks-github-keys-url",
  lease: "--lease",
} as const;

type FlagName = keyof typeof FLAGS;
/** Flags as the command line gave them: text, unparsed. */
export type ServerFlags = { readonly [name in FlagName]?: string | undefined };

/** Everything that is wrong with a configuration, at once. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? "a fault" : `${faults.length} faults`}:\n  ${faults.join("\n  ")}`,
    );
    this.name = "ConfigError";
    this.faults = faults;
  }
}

/** What a command takes where nothing is given. */
type ServerDefaults = {
  /** Whether it is always production; else NODE_ENV says. */
  readonly production?: boolean;
  /** The address of the public listener; loopback where it is left out. */
  readonly host?: string;
};

/**
 * Parses the server's configuration. A flag wins over its variable.
 *
 * @param env the process's environment: the command hands it in without Kubernetes' service links
 * @throws ConfigError with every fault, each naming the flag, or the variable that was given, and what to give instead
 */
export function parseServerConfig(
  env: Environment,
  flags: ServerFlags,
  { production = env.NODE_ENV === "production", host: defaultHost = "127.0.0.1" }: ServerDefaults = {},
): ServerConfig {
  const faults: string[] = [];
  const given = (name: FlagName): string | undefined => flags[name] ?? variable(env, FLAGS[name]);
  const fault = (name: FlagName, wanted: string) => {
    const isVariable = flags[name] === undefined && given(name) !== undefined;
    faults.push(`${isVariable ? variableOf(FLAGS[name]) : FLAGS[name]}: must be ${wanted}`);
  };

  const host = address(given("host") ?? defaultHost);
  if (host === undefined) fault("host", "an IP address to listen on, such as 127.0.0.1, 0.0.0.0 or ::");
  const adminHost = address(given("adminHost") ?? "127.0.0.1");
  if (adminHost === undefined) fault("adminHost", "an IP address to listen on");
  const port = portNumber(given("port") ?? "8080");
  if (port === undefined) fault("port", "a port from 0 to 65535; 0 takes a free one");
  const adminPort = portNumber(given("adminPort") ?? "8081");
  if (adminPort === undefined) fault("adminPort", "a port from 0 to 65535; 0 takes a free one");
  const vendorHeader = (given("vendorHeader") ?? "x-goog-api-key").toLowerCase();
  if (!/^x-[a-z0-9]+(-[a-z0-9]+)*-api-key$/.test(vendorHeader)) fault("vendorHeader", "of the form x-<vendor>-api-key");
  const publicUrl = originUrl(given("publicUrl"));
  if (publicUrl === undefined)
    fault("publicUrl", "an http or https URL without a query, such as https://keys.example.com");
  const [certFile, keyFile] = [given("tlsCert"), given("tlsKey")];
  if ((certFile === undefined) !== (keyFile === undefined)) fault("tlsCert", "given together with --tls-key");
  const allowedPrivateUpstreams = new BlockList();
  for (const text of list(given("allowPrivateUpstreams"))) {
    if (!addRange(allowedPrivateUpstreams, text)) {
      fault("allowPrivateUpstreams", `CIDRs separated by commas, such as 10.0.0.0/8; "${text}" is none`);
    }
  }
  const trustedProxies = list(given("trustedProxies"));
  for (const text of trustedProxies) {
    if (!addRange(new BlockList(), text)) {
      fault("trustedProxies", `CIDRs separated by commas, such as 10.0.0.0/8; "${text}" is none`);
    }
  }
  const workers = given("workers") ?? "1";
  if (!/^[1-9]\d{0,2}$/.test(workers)) fault("workers", "a number of threads from 1 to 999");
  const retentionMs = retention(given("auditRetention"));
  if (retentionMs === undefined) fault("auditRetention", "a duration from an hour to 99999 days, such as 90d or 2160h");
  const leaseMs = lease(given("lease"));
  if (leaseMs === undefined) fault("lease", "a duration from 3s to 60s");
  const issuers = list(given("oidcIssuer"));
  for (const issuer of issuers) {
    if (!isTrustworthyUrl(issuer))
      fault(
        "oidcIssuer",
        `https URLs separated by commas, as tokens name them; "${withoutCredentials(issuer)}" is none`,
      );
  }
  const audience = given("oidcAudience");
  const adminGroups = list(given("oidcAdminGroups"));
  if (issuers.length > 0 !== (audience !== undefined)) fault("oidcAudience", "given together with --oidc-issuer");
  if (issuers.length === 0 && adminGroups.length > 0) fault("oidcAdminGroups", "given together with --oidc-issuer");
  if (publicUrl && audience === memoryResourceUrl(publicUrl))
    fault(
      "oidcAudience",
      "another than the address of the memory's MCP endpoint: tokens for it would open this API too",
    );
  const clientIds = list(given("oidcClientId"));
  if (clientIds.length > 0 && clientIds.length !== issuers.length)
    fault("oidcClientId", `one for each --oidc-issuer, in their order; ${NO_CLIENT} for one that nobody signs in by`);
  const secretFiles = list(given("oidcClientSecretFile"));
  if (secretFiles.length > 0 && secretFiles.length !== clientIds.length)
    fault(
      "oidcClientSecretFile",
      `one for each --oidc-client-id, in their order; ${NO_CLIENT} for one without a secret`,
    );
  const leaksGithubKeysUrl = given("leaksGithubKeysUrl");
  if (leaksGithubKeysUrl !== undefined && !isTrustworthyUrl(leaksGithubKeysUrl))
    fault("leaksGithubKeysUrl", "an https URL, such as https://api.github.com/meta/public_keys/secret_scanning");
  const { placeholders, faults: placeholderFaults } = parsePlaceholders(env.PLATFORM_API_KEYS ?? "");
  faults.push(...placeholderFaults);

  if (
    faults.length > 0 ||
    !host ||
    !adminHost ||
    port === undefined ||
    adminPort === undefined ||
    !retentionMs ||
    !leaseMs
  ) {
    throw new ConfigError(faults);
  }
  return {
    host,
    port,
    adminHost,
    adminPort,
    vendorHeader,
    publicUrl: publicUrl ?? null,
    tls: certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : null,
    allowedPrivateUpstreams,
    trustedProxies,
    workers: Number(workers),
    production,
    placeholders,
    oidc: audience === undefined ? null : { issuers, audience, adminGroups },
    consoleClients: consoleClients(issuers, clientIds, secretFiles),
    bootstrapTokenFile: given("bootstrapTokenFile") ?? null,
    leaksGithubKeysUrl: leaksGithubKeysUrl ?? null,
    retentionMs,
    leaseMs,
  };
}

/** Stands in a list where there is none. */
const NO_CLIENT = "-";

function consoleClients(
  issuers: readonly string[],
  clientIds: readonly string[],
  secretFiles: readonly string[],
): ConsoleClient[] {
  return issuers.flatMap((issuer, i) => {
    const [clientId = NO_CLIENT, secretFile = NO_CLIENT] = [clientIds[i], secretFiles[i]];
    return clientId === NO_CLIENT
      ? []
      : [{ issuer, clientId, secretFile: secretFile === NO_CLIENT ? null : secretFile }];
  });
}

function variable(env: Environment, flag: string): string | undefined {
  return env[variableOf(flag)] || undefined;
}

const withoutCredentials = (url: string): string => url.replace(/\/\/[^/]*@/, "//...@");

const variableOf = (flag: string): string => `KEYPLANE_${flag.slice(2).replaceAll("-", "_").toUpperCase()}`;

function address(text: string): string | undefined {
  if (text === "localhost") return "127.0.0.1";
  return isIP(text) === 0 ? undefined : text;
}

const DAY_MS = 24 * 3_600_000;
const MIN_RETENTION_MS = 3_600_000;

/** Days, or a duration as declarations have it. In milliseconds; undefined for a text that is none, or too short. */
function retention(text: string | undefined): number | undefined {
  if (text === undefined) return DEFAULT_RETENTION_MS;
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const ms = days === undefined ? durationOf(text) : Number(days) * DAY_MS;
  return ms !== undefined && ms >= MIN_RETENTION_MS ? ms : undefined;
}

/** In milliseconds; undefined for a text that is no duration, or out of the range. */
function lease(text: string | undefined): number | undefined {
  const ms = text === undefined ? LEASE_MS : durationOf(text);
  if (ms === undefined || ms < LEASE_RANGE_MS.least || ms > LEASE_RANGE_MS.most) return undefined;
  // Replicas register it in whole milliseconds: 16.1s are 16,100.000000000002 ms.
  return Math.round(ms);
}

function durationOf(text: string): number | undefined {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function portNumber(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

/** The URL; null where none is given; undefined where the text is none. */
function originUrl(text: string | undefined): URL | null | undefined {
  if (text === undefined) return null;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const plain = url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  return plain && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
}

function list(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Adds an address or a CIDR; false for a text that is neither. */
function addRange(ranges: BlockList, text: string): boolean {
  const [ip = "", bits, ...rest] = text.split("/");
  const version = isIP(ip);
  const most = version === 4 ? 32 : 128;
  if (version === 0 || rest.length > 0) return false;
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most)) return false;
  ranges.addSubnet(ip, bits === undefined ? most : Number(bits), version === 4 ? "ipv4" : "ipv6");
  return true;
}
