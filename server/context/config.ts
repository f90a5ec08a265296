import type { BlockList } from "node:net";
import type { Environment } from "../../domain/environment.ts";
import type { LogLevel } from "../../runtime/log-level.ts";
import { ConfigError, type Flags, readSettings, type Settings } from "../../runtime/settings.ts";
import { type Placeholder, parsePlaceholders } from "./placeholders.ts";
import { NO_CLIENT, rangesOf, SERVER_RULES, SERVER_SETTINGS } from "./settings.ts";

/** Issuers whose JWTs open the management API and, each for its own audience, the memory over MCP. */
export type OidcConfig = {
  /** Issuers, each exactly as its tokens name it. */
  readonly issuers: readonly string[];
  /** The audience that a token needs for the management API. */
  readonly audience: string;
  /** Groups whose members may do what the installation's token may. */
  readonly adminGroups: readonly string[];
};

/** Client by which people of an issuer sign in to the console. */
export type ConsoleClient = {
  /** One of {@link OidcConfig.issuers}. */
  readonly issuer: string;
  /** Id by which the issuer knows Keyplane. */
  readonly clientId: string;
  /** The file of the client's secret; null for a public client. */
  readonly secretFile: string | null;
};

/** Listener for external authorization. One of `clientCaFile` and `tokenFile` is given; with both, both are asked for. */
export type AuthzConfig = {
  readonly host: string;
  /** Port for HTTP; null if nothing asks by it. */
  readonly port: number | null;
  /** Port for gRPC; null if nothing asks by it. */
  readonly grpcPort: number | null;
  /** Null for no TLS. The authorities verify clients' certificates; null if clients need none. */
  readonly tls: { readonly certFile: string; readonly keyFile: string; readonly clientCaFile: string | null } | null;
  readonly tokenFile: string | null;
  /** Header with the caller's address, in lower case; null if no address is known. */
  readonly addressHeader: string | null;
};

/** Destination of traces. */
export type OtlpConfig = {
  /** URL of a collector that speaks OTLP over HTTP, without a trailing slash. */
  readonly endpoint: string;
  /** The share of requests that is traced, from 0 to 1, of those whose caller has not decided it. */
  readonly ratio: number;
};

/** The server's configuration, parsed. */
export type ServerConfig = {
  /** An address, not a name: a name may stand for several sockets. */
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly logLevel: LogLevel;
  /** Destination of the audit log beside the database; null for none. */
  readonly auditLog: "stdout" | null;
  /** The first carrier, in lower case: `x-<vendor>-api-key`. */
  readonly vendorHeader: string;
  /**
   * URL at which clients reach this server: for links, mcp.json and the Origin check. Null: derived from the address.
   */
  readonly publicUrl: URL | null;
  /** Files of the certificate chain and its key, in PEM. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  readonly allowedPrivateUpstreams: BlockList;
  /** Addresses and CIDRs of the proxies whose X-Forwarded headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Null if no proxy asks here. */
  readonly authz: AuthzConfig | null;
  /** Threads that serve the public port. */
  readonly workers: number;
  readonly production: boolean;
  /** Development keys that no store holds; none of them works in production. */
  readonly placeholders: readonly Placeholder[];
  /** Null if no issuer is trusted. */
  readonly oidc: OidcConfig | null;
  /** Clients in the order in which the sign-in page offers them; empty if people do not sign in by an issuer. */
  readonly consoleClients: readonly ConsoleClient[];
  /** The file of the token that begins an installation, and ends keys when no issuer can be asked; null for none. */
  readonly bootstrapTokenFile: string | null;
  /**
   * URL at which GitHub shows the keys that it signs reports of leaked keys with; null if no report is accepted as
   * GitHub's.
   */
  readonly leaksGithubKeysUrl: string | null;
  /** Milliseconds that the audit log is kept. */
  readonly retentionMs: number;
  /** Milliseconds that requests and tokens are kept by day. */
  readonly usageRetentionMs: number;
  /** The price list of models; null for none. */
  readonly pricesFile: string | null;
  /** Null if nothing is traced. */
  readonly otlp: OtlpConfig | null;
  /** Milliseconds that a replica decides without having asked the database for the feed's head. */
  readonly leaseMs: number;
};

/** Flags of a command that serves, as the command line gives them. */
export type ServerFlags = Flags<typeof SERVER_SETTINGS>;

/** Values that a command takes if nothing is given. */
type ServerDefaults = {
  /** True if it is always production; else NODE_ENV says. */
  readonly production?: boolean;
  /** Address of the public listener; loopback if it is left out. */
  readonly host?: string;
};

/**
 * Parses the server's configuration.
 *
 * @param env the process's environment: the command hands it in without Kubernetes' service links
 * @throws ConfigError with every fault, each naming the flag, or the variable that is given, and what to give instead
 */
export function parseServerConfig(
  env: Environment,
  flags: ServerFlags,
  { production = env.NODE_ENV === "production", host = "127.0.0.1" }: ServerDefaults = {},
): ServerConfig {
  const { settings, faults } = readSettings(SERVER_SETTINGS, SERVER_RULES, env, flags);
  const { placeholders, faults: placeholderFaults } = parsePlaceholders(env.PLATFORM_API_KEYS ?? "");
  if (faults.length + placeholderFaults.length > 0) throw new ConfigError([...faults, ...placeholderFaults]);
  const { tlsCert, tlsKey, oidcAudience } = settings;
  return {
    host: settings.host ?? host,
    port: settings.port,
    adminHost: settings.adminHost,
    adminPort: settings.adminPort,
    logLevel: settings.logLevel,
    auditLog: settings.auditLog,
    vendorHeader: settings.vendorHeader,
    publicUrl: settings.publicUrl,
    tls: tlsCert === null || tlsKey === null ? null : { certFile: tlsCert, keyFile: tlsKey },
    allowedPrivateUpstreams: rangesOf(settings.allowPrivateUpstreams),
    trustedProxies: settings.trustedProxies,
    authz: authzConfig(settings),
    workers: settings.workers,
    production,
    placeholders,
    oidc:
      oidcAudience === null
        ? null
        : { issuers: settings.oidcIssuer, audience: oidcAudience, adminGroups: settings.oidcAdminGroups },
    consoleClients: consoleClients(settings),
    bootstrapTokenFile: settings.bootstrapTokenFile,
    leaksGithubKeysUrl: settings.leaksGithubKeysUrl,
    retentionMs: settings.auditRetention,
    usageRetentionMs: settings.usageRetention,
    pricesFile: settings.prices,
    otlp: settings.otlpEndpoint === null ? null : { endpoint: settings.otlpEndpoint, ratio: settings.traceRatio },
    leaseMs: settings.lease,
  };
}

function authzConfig(settings: Settings<typeof SERVER_SETTINGS>): AuthzConfig | null {
  const { authzPort, authzGrpcPort, authzTlsCert, authzTlsKey } = settings;
  if (authzPort === null && authzGrpcPort === null) return null;
  return {
    host: settings.authzHost,
    port: authzPort,
    grpcPort: authzGrpcPort,
    tls:
      authzTlsCert === null || authzTlsKey === null
        ? null
        : { certFile: authzTlsCert, keyFile: authzTlsKey, clientCaFile: settings.authzClientCa },
    tokenFile: settings.authzTokenFile,
    addressHeader: settings.authzAddressHeader,
  };
}

function consoleClients({
  oidcIssuer,
  oidcClientId,
  oidcClientSecretFile,
}: Settings<typeof SERVER_SETTINGS>): ConsoleClient[] {
  return oidcIssuer.flatMap((issuer, i) => {
    const [clientId = NO_CLIENT, secretFile = NO_CLIENT] = [oidcClientId[i], oidcClientSecretFile[i]];
    return clientId === NO_CLIENT
      ? []
      : [{ issuer, clientId, secretFile: secretFile === NO_CLIENT ? null : secretFile }];
  });
}
