import type { Command } from "commander";

/** Of every command that keeps a store small, which is each that runs on one. */
export const AUDIT_RETENTION = [
  "--audit-retention <duration>",
  "how long the audit log, and the last uses of versions that have ended, are kept (default 90d)",
] as const;

/** The flags of every command that serves: see `parseServerConfig`. */
export function listenerOptions(command: Command, defaultHost = "127.0.0.1"): Command {
  return command
    .option("--host <address>", `the address to listen on (default ${defaultHost})`)
    .option("--port <port>", "the public port (default 8080)")
    .option("--admin-host <address>", "the address of the admin listener (default 127.0.0.1)")
    .option("--admin-port <port>", "the port of /metrics, /healthz and /readyz (default 8081)")
    .option(...AUDIT_RETENTION)
    .option("--vendor-header <name>", "the first carrier of a key (default x-goog-api-key)")
    .option("--public-url <url>", "where clients reach the server: for links, and for MCP's check of Host and Origin")
    .option("--tls-cert <file>", "certificate chain in PEM")
    .option("--tls-key <file>", "its private key in PEM")
    .option("--allow-private-upstreams <cidrs>", "private ranges that gateways may call, separated by commas")
    .option("--trusted-proxies <cidrs>", "proxies whose X-Forwarded headers are believed, separated by commas")
    .option("--oidc-issuer <urls>", "issuers whose JWTs open the management API, separated by commas")
    .option("--oidc-audience <audience>", "what such a JWT must be meant for")
    .option("--oidc-admin-groups <groups>", "groups whose members may manage every team, separated by commas")
    .option("--oidc-client-id <ids>", "the console's client at each issuer, for people to sign in by; - for none")
    .option("--oidc-client-secret-file <files>", "the file of each client's secret; - for a public client")
    .option("--leaks-github-keys-url <url>", "where GitHub shows the keys that it signs reports of leaked keys with");
}
