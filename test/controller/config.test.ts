import { expect, test } from "vitest";
import { parseControllerConfig } from "../../controller/config.ts";
import { DEFAULT_RETENTION_MS } from "../../domain/protocol.ts";

test("a configuration of nothing has the defaults", () => {
  expect(parseControllerConfig({}, {})).toEqual({
    adminHost: "127.0.0.1",
    adminPort: 8081,
    publicUrl: null,
    retentionMs: DEFAULT_RETENTION_MS,
  });
});

test("settings of the server alone are not read, and cannot end a controller", () => {
  const env = { KEYPLANE_WORKERS: "many", KEYPLANE_OIDC_AUDIENCE: "keyplane", PLATFORM_API_KEYS: "none" };
  expect(parseControllerConfig(env, {})).toEqual(parseControllerConfig({}, {}));
});

test("every fault is reported, by its flag or its variable, with what to give instead", () => {
  const env = { KEYPLANE_PUBLIC_URL: "keys.example.com", KEYPLANE_AUDIT_RETENTION: "1m" };
  expect(() => parseControllerConfig(env, { adminPort: "none" })).toThrow(
    expect.objectContaining({
      faults: [
        "KEYPLANE_PUBLIC_URL: must be an http or https URL without a query, such as https://keys.example.com",
        "KEYPLANE_AUDIT_RETENTION: must be a duration from an hour to 99999 days, such as 90d or 2160h",
        "--admin-port: must be a port from 0 to 65535; 0 takes a free one",
      ],
    }),
  );
});
