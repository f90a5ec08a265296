import type { CliCommand } from "./cli-command.ts";

/** Of every command that keeps a store small, which is each that runs on one. */
export const AUDIT_RETENTION = [
  "--audit-retention <duration>",
  "how long the audit log, and the last uses of versions that have ended, are kept",
  "90d",
] as const;

/** The flags of every command that serves: see `parseServerConfig`. */
export function listenerOptions(command: CliCommand, defaultHost = "127.0.0.1"): CliCommand {
  return command
    .setting("--host <address>", "the address to listen on", defaultHost)
    .setting("--port <port>", "the public port", "8080")
    .setting("--admin-host <address>", "the address of the admin listener", "127.0.0.1")
    .setting("--admin-port <port>", "the port of /metrics, /healthz and /readyz", "8081")
    .setting(...AUDIT_RETENTION)
    .setting("--vendor-header <name>", "the first carrier of a key", "x-goog-api-key")
    .setting(
      "--public-url <url>",
      "where clients reach the server: for links, for MCP's check of Host and Origin, and as what MCP's tokens are meant for",
    )
    .setting("--tls-cert <file>", "certificate chain in PEM")
    .setting("--tls-key <file>", "its private key in PEM")
    .setting("--allow-private-upstreams <cidrs>", "private ranges that gateways may call, separated by commas")
    .setting("--trusted-proxies <cidrs>", "proxies whose X-Forwarded headers are believed, separated by commas")
    .setting(
      "--oidc-issuer <urls>",
      "issuers whose JWTs open the management API and the memory over MCP, separated by commas",
    )
    .setting("--oidc-audience <audience>", "what a JWT must be meant for to open the management API")
    .setting("--oidc-admin-groups <groups>", "groups whose members may manage every team, separated by commas")
    .setting("--oidc-client-id <ids>", "the console's client at each issuer, for people to sign in by; - for none")
    .setting("--oidc-client-secret-file <files>", "the file of each client's secret; - for a public client")
    .setting("--leaks-github-keys-url <url>", "where GitHub shows the keys that it signs reports of leaked keys with");
}
