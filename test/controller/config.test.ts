import { expect, test } from "vitest";
import { parseControllerConfig } from "../../controller/config.ts";
import { ConfigError } from "../../runtime/settings.ts";

test("a controller of no configuration leads by a Lease, with the defaults of its help", () => {
  expect(parseControllerConfig({}, {})).toEqual({
    adminHost: "127.0.0.1",
    adminPort: 8081,
    clusterName: null,
    logLevel: "info",
    publicUrl: null,
    retentionMs: 90 * 24 * 3_600_000,
    elects: true,
  });
});

test("a flag wins over its variable, and an empty variable counts as none", () => {
  const env = { KEYPLANE_ADMIN_PORT: "9000", KEYPLANE_LEADER_ELECT: "false", KEYPLANE_ADMIN_HOST: "" };
  const expected = { adminHost: "127.0.0.1", adminPort: 9001, elects: false };
  expect(parseControllerConfig(env, { adminPort: "9001" })).toMatchObject(expected);
});

test("a controller takes no setting of a server's", () => {
  const env = {
    KEYPLANE_WORKERS: "many",
    KEYPLANE_PORT: "none",
    KEYPLANE_TLS_CERT: "cert.pem",
    PLATFORM_API_KEYS: "x",
  };
  expect(parseControllerConfig(env, {})).toEqual(parseControllerConfig({}, {}));
});

test("every fault is reported, all at once, each by its flag or variable with what to give instead", () => {
  const env = { KEYPLANE_PUBLIC_URL: "ftp://x", KEYPLANE_AUDIT_RETENTION: "90" };
  const flags = { adminHost: "nowhere.test", adminPort: "65536", leaderElect: "yes" };
  expect(faultsOf(() => parseControllerConfig(env, flags))).toEqual([
    "--leader-elect: must be true or false",
    "KEYPLANE_PUBLIC_URL: must be an http or https URL without a query, such as https://keys.example.com",
    "KEYPLANE_AUDIT_RETENTION: must be a duration from an hour to 99999 days, such as 90d or 2160h",
    "--admin-host: must be an IP address to listen on, such as 127.0.0.1, 0.0.0.0 or ::",
    "--admin-port: must be a port from 0 to 65535; 0 takes a free one",
  ]);
});

function faultsOf(parse: () => unknown): readonly string[] {
  try {
    parse();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  throw new Error("the configuration was taken");
}
