import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { keyDigest, mintKey } from "../../../domain/key/secret/key-format.ts";
import { DEFAULT_RETENTION_MS, LEASE_MS } from "../../../domain/protocol.ts";
import { ConfigError } from "../../../runtime/settings.ts";
import { parseServerConfig } from "../../../server/context/config.ts";

test("a configuration of nothing serves on loopback with the defaults of the spec", () => {
  expect(parseServerConfig({}, {})).toMatchObject({
    host: "127.0.0.1",
    port: 8080,
    adminPort: 8081,
    vendorHeader: "x-goog-api-key",
    publicUrl: null,
    tls: null,
    trustedProxies: [],
    production: false,
    placeholders: [],
  });
});

const AUTHZ = { authzPort: "9090", authzTokenFile: "token" };

test("the listener for proxies is on loopback, and there if its port is given", () => {
  expect(parseServerConfig({}, {}).authz).toBeNull();
  expect(parseServerConfig({}, { ...AUTHZ, authzAddressHeader: "X-Real-IP" }).authz).toEqual({
    ...{ host: "127.0.0.1", port: 9090, grpcPort: null, tls: null, tokenFile: "token", addressHeader: "x-real-ip" },
  });
});

test("b400: the listener for gRPC is there without the other one, and no more open than it", () => {
  const { authz } = parseServerConfig({}, { authzGrpcPort: "9091", authzTokenFile: "token" });
  expect(authz).toMatchObject({ port: null, grpcPort: 9091, host: "127.0.0.1", tokenFile: "token" });
  const { faults } = faultOf(() => parseServerConfig({}, { authzGrpcPort: "9091" }));
  expect(faults).toEqual([expect.stringMatching(/^--authz-grpc-port: .*--authz-client-ca or --authz-token-file/)]);
});

test.each([
  [
    "neither certificates nor a token",
    { authzPort: "9090" },
    /^--authz-port: .*--authz-client-ca or --authz-token-file/,
  ],
  ["a token and no port", { authzTokenFile: "t" }, /^--authz-token-file: .*--authz-port or --authz-grpc-port$/],
  ["a host and no port", { authzHost: "10.0.0.5" }, /^--authz-host: .*--authz-port or --authz-grpc-port$/],
  [
    "an address and no port",
    { authzAddressHeader: "x" },
    /^--authz-address-header: .*--authz-port or --authz-grpc-port$/,
  ],
  ["a certificate without its key", { ...AUTHZ, authzTlsCert: "c" }, /^--authz-tls-cert: .*--authz-tls-key$/],
  ["a key without its certificate", { ...AUTHZ, authzTlsKey: "k" }, /^--authz-tls-cert: .*--authz-tls-key$/],
  ["authorities without TLS", { authzPort: "1", authzClientCa: "ca" }, /^--authz-client-ca: .*--authz-tls-cert/],
  ["no name of a header", { ...AUTHZ, authzAddressHeader: "x y" }, /^--authz-address-header: .*X-Real-IP$/],
])("b385: the listener for proxies is refused with %s", (_what, flags, says) => {
  const { faults } = faultOf(() => parseServerConfig({}, flags));
  expect(faults).toEqual([expect.stringMatching(says)]);
});

test("the defaults that help shows are those of the protocol", () => {
  expect(parseServerConfig({}, {})).toMatchObject({ retentionMs: DEFAULT_RETENTION_MS, leaseMs: LEASE_MS });
});

test("a flag wins over its variable, and a variable over the default", () => {
  const env = { KEYPLANE_PORT: "9000", KEYPLANE_VENDOR_HEADER: "X-Acme-API-Key" };
  expect(parseServerConfig(env, {})).toMatchObject({ port: 9000, vendorHeader: "x-acme-api-key" });
  expect(parseServerConfig(env, { port: "9001" })).toMatchObject({ port: 9001 });
});

test("every fault is reported, all at once, each by its flag or variable with what to give instead", () => {
  const flags = {
    host: "nowhere.test",
    port: "80a",
    adminPort: "65536",
    vendorHeader: "authorization",
    publicUrl: "ftp://x",
    auditRetention: "90",
  };
  const env = {
    KEYPLANE_TLS_CERT: "cert.pem",
    KEYPLANE_TRUSTED_PROXIES: "10.0.0.0/33,1",
    KEYPLANE_ALLOW_PRIVATE_UPSTREAMS: "loopback",
    PLATFORM_API_KEYS: "not-a-key",
  };
  const error = faultOf(() => parseServerConfig(env, flags));
  for (const name of [
    "--host",
    "--port",
    "--admin-port",
    "--vendor-header",
    "--public-url",
    "--audit-retention",
    "KEYPLANE_TLS_CERT",
    "KEYPLANE_ALLOW_PRIVATE_UPSTREAMS",
    "PLATFORM_API_KEYS",
  ]) {
    expect(error.faults.filter((fault) => fault.startsWith(name))).toHaveLength(1);
  }
  expect(error.faults.filter((fault) => fault.startsWith("KEYPLANE_TRUSTED_PROXIES"))).toHaveLength(2);
  expect(error.faults).toHaveLength(11);
});

test.each([
  [undefined, 90 * 24],
  ["7d", 7 * 24],
  ["2160h", 2160],
  ["1h30m", 1.5],
])("the audit log is kept as long as is said: %s", (auditRetention, hours) => {
  expect(parseServerConfig({}, { auditRetention }).retentionMs).toBe(hours * 3_600_000);
});

test.each([
  [undefined, 400],
  ["40d", 40],
  ["3660d", 3660],
  ["9600h", 400],
])("requests and tokens are kept by day as long as is said: %s", (usageRetention, days) => {
  expect(parseServerConfig({}, { usageRetention }).usageRetentionMs).toBe(days * 24 * 3_600_000);
});

test.each([
  ["http://localhost:4318", "http://localhost:4318"],
  ["http://localhost:4318/", "http://localhost:4318"],
  ["http://localhost:4318/v1/traces", "http://localhost:4318"],
  ["https://otlp.example.com/otlp/v1/traces/", "https://otlp.example.com/otlp"],
  ["https://otlp.example.com/otlp?", "https://otlp.example.com/otlp"],
  ["https://otlp.example.com/#", "https://otlp.example.com"],
])(
  "spans go to v1/traces below the collector's address, also where it is given with that: %s",
  (otlpEndpoint, endpoint) => {
    expect(parseServerConfig({}, { otlpEndpoint }).otlp?.endpoint).toBe(endpoint);
  },
);

test.each([
  "",
  "localhost:4318",
  "grpc://localhost:4317",
  "http://user:token@localhost:4318",
  "http://localhost:4318?key=token",
])("spans go to no collector at %j, and the refusal repeats none of it", (otlpEndpoint) => {
  const { faults } = faultOf(() => parseServerConfig({}, { otlpEndpoint }));
  expect(faults).toEqual([expect.stringMatching(/^--otlp-endpoint: must be an http or https URL/)]);
  expect(String(faults)).not.toContain("token");
});

test.each(["", "39d", "959h", "3661d", "1y", "-400d"])("requests and tokens are not kept for %j", (usageRetention) => {
  expect(faultOf(() => parseServerConfig({}, { usageRetention })).faults).toEqual([
    expect.stringMatching(/^--usage-retention.* must be a duration from 40 to 3660 days, such as 400d or 9600h/),
  ]);
});

test.each(["", "0d", "59m", "-1d", "1w", "d", "90 d"])("the audit log is not kept for %j", (auditRetention) => {
  expect(faultOf(() => parseServerConfig({}, { auditRetention })).faults).toEqual([
    expect.stringContaining("--audit-retention"),
  ]);
});

test.each([
  [undefined, 5_000],
  ["3s", 3_000],
  ["1m", 60_000],
  ["16.1s", 16_100],
  ["4000.4ms", 4_000],
])("the lease is as long as is said, in whole milliseconds: %s", (lease, ms) => {
  expect(parseServerConfig({}, { lease }).leaseMs).toBe(ms);
});

test.each(["", "2.999s", "60.001s", "5", "soon"])("the lease is not of %j", (lease) => {
  expect(faultOf(() => parseServerConfig({}, { lease })).faults).toEqual([
    "--lease: must be a duration from 3s to 60s",
  ]);
});

test.each(["true", "1", "*", "loopback", "10.0.0.0/33", "::/129", "10.0.0.0/8/8"])(
  "proxies are trusted by address alone: %s is refused",
  (text) => {
    expect(faultOf(() => parseServerConfig({}, { trustedProxies: text })).faults).toHaveLength(1);
  },
);

test.each([
  ["--trusted-proxies", { trustedProxies: "127.0.0.1,10.1.2.3/8" }],
  ["--allow-private-upstreams", { allowPrivateUpstreams: "10.1.2.3/8" }],
])("b443: %s refuses an address with the length of a network, and names both", (flag, given) => {
  expect(faultOf(() => parseServerConfig({}, given)).faults).toEqual([
    `${flag}: must be CIDRs separated by commas, such as 10.0.0.0/8; "10.1.2.3/8" has bits behind its length: write 10.0.0.0/8 for the network, or 10.1.2.3/32 for this one address`,
  ]);
});

test("ranges of addresses are read in both families", () => {
  const { allowedPrivateUpstreams } = parseServerConfig({}, { allowPrivateUpstreams: "10.0.0.0/8, ::1,fd00::/8" });
  expect(allowedPrivateUpstreams.check("10.200.0.1")).toBe(true);
  expect(allowedPrivateUpstreams.check("11.0.0.1")).toBe(false);
  expect(allowedPrivateUpstreams.check("::1", "ipv6")).toBe(true);
  expect(allowedPrivateUpstreams.check("fd12::1", "ipv6")).toBe(true);
});

describe("issuers", () => {
  test("are several, with the audience that their tokens must be for", () => {
    const oidcIssuer = "https://login.example.com, https://ci.example.com/token/,http://127.0.0.1:9000";
    const env = { KEYPLANE_OIDC_ADMIN_GROUPS: "platform, security" };
    expect(parseServerConfig(env, { oidcIssuer, oidcAudience: "keyplane" }).oidc).toEqual({
      issuers: ["https://login.example.com", "https://ci.example.com/token/", "http://127.0.0.1:9000"],
      audience: "keyplane",
      adminGroups: ["platform", "security"],
    });
    expect(parseServerConfig({}, {}).oidc).toBeNull();
  });

  test("has a client for people to sign in by at each issuer, or at some of them", () => {
    const issuers = { oidcIssuer: "https://a.example,https://b.example,https://c.example", oidcAudience: "keyplane" };
    expect(parseServerConfig({}, issuers).consoleClients).toEqual([]);
    const clients = { oidcClientId: "one,-,three", oidcClientSecretFile: "/run/one,-,-" };
    expect(parseServerConfig({}, { ...issuers, ...clients }).consoleClients).toEqual([
      { issuer: "https://a.example", clientId: "one", secretFile: "/run/one" },
      { issuer: "https://c.example", clientId: "three", secretFile: null },
    ]);
  });

  test.each([
    { oidcClientId: "console" },
    { oidcIssuer: "https://a.example,https://b.example", oidcAudience: "keyplane", oidcClientId: "console" },
    { oidcIssuer: "https://a.example", oidcAudience: "keyplane", oidcClientSecretFile: "secret" },
    { oidcIssuer: "https://a.example", oidcAudience: "k", oidcClientId: "c", oidcClientSecretFile: "one,two" },
    { oidcIssuer: "https://login.example.com" },
    { oidcAudience: "keyplane" },
    {
      ...{ oidcIssuer: "https://a.example", oidcAudience: "https://k.example/api/v1/memory/mcp" },
      publicUrl: "https://k.example",
    },
    { oidcAdminGroups: "platform" },
    { oidcIssuer: "http://login.example.com", oidcAudience: "keyplane" },
    { oidcIssuer: "https://user:password@login.example.com", oidcAudience: "keyplane" },
    { oidcIssuer: "http://127.0.0.1.example.com", oidcAudience: "keyplane" },
    { oidcIssuer: "login.example.com", oidcAudience: "keyplane" },
  ])("that cannot be trusted are a fault: %j", (flags) => {
    expect(faultOf(() => parseServerConfig({}, flags)).faults).toHaveLength(1);
  });
});

describe("PLATFORM_API_KEYS", () => {
  test("takes keys, each with the team it is for; the plaintext is not kept", () => {
    const minted = mintKey(randomBytes);
    const { placeholders } = parseServerConfig({ PLATFORM_API_KEYS: `${minted}, inf_dev@research,` }, {});
    expect(placeholders.map(({ team, digest }) => [digest, team])).toEqual([
      [keyDigest(minted), null],
      [keyDigest("inf_dev"), "research"],
    ]);
    expect(JSON.stringify(placeholders)).not.toContain(minted.slice(12));
  });

  test("a mistyped key is a fault that names its place, not its text", () => {
    const mistyped = mintKey(randomBytes).replace(/.$/, "_");
    const { message } = faultOf(() => parseServerConfig({ PLATFORM_API_KEYS: `inf_dev,${mistyped}` }, {}));
    expect(message).toContain("PLATFORM_API_KEYS, entry 2");
    expect(message).not.toContain(mistyped.slice(4));
  });
});

function faultOf(parse: () => unknown): ConfigError {
  try {
    parse();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("the configuration was taken");
}
