import { runtime } from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import { keysOf } from "../../../infra/pulumi/provider/environment-keys.ts";
import { Secret, UNKNOWN, type Value, type Values } from "../../../infra/pulumi/provider/values.ts";
import { EnvironmentKeys, type EnvironmentKeysArgs } from "../../../infra/pulumi/sdk.ts";

const restricted = { mode: "Restricted", libraryRefs: [{ name: "handbook" }] };

describe("the keys that the provider constructs of one declaration", () => {
  const registered = new Map<string, object>();
  beforeAll(() =>
    runtime.setMocks({
      newResource({ name, inputs }) {
        registered.set(name, inputs);
        return { id: name, state: inputs };
      },
      call: ({ inputs }) => inputs,
    }),
  );

  const declarations: EnvironmentKeysArgs[] = [
    { team: "docs" },
    { team: "docs", preset: "GatewayDefault", gatewayRef: { name: "main" } },
    {
      team: "docs",
      scopes: ["gateway:generate", "memory:write"],
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }] },
      environments: {
        dev: { expiresAt: "2030-01-01T00:00:00Z", rotation: { trigger: "x" } },
        production: { scopes: ["memory:write"], deliver: "none", rotation: { interval: "24h" } },
      },
    },
  ];
  it.each(declarations)("are those that the TypeScript component registers: %j", async (args) => {
    const component = new EnvironmentKeys("app", args);
    await new Promise((resolve) => component.secrets.apply(resolve));
    // As the engine sends them.
    const constructed = keysOf("app", { ...args } as Values);
    expect(constructed).toEqual({
      dev: registered.get("app-dev"),
      staging: registered.get("app-staging"),
      production: registered.get("app-production"),
    });
  });

  it("are not known in what depends on scopes that are not known yet, and in nothing else", () => {
    const args = { team: UNKNOWN, scopes: UNKNOWN, gatewayRef: { name: "main" }, libraryAccess: restricted } as const;
    const environments = { staging: { scopes: ["memory:read"] }, production: { libraryAccess: restricted } };
    const { dev, staging, production } = keysOf("app", { ...args, environments });
    expect(dev).toMatchObject({ team: UNKNOWN, displayName: "app (dev)", expiresAfter: "168h" });
    expect(dev).toMatchObject({ scopes: UNKNOWN, gatewayRef: UNKNOWN, libraryAccess: UNKNOWN });
    expect(staging).toMatchObject({ scopes: ["memory:read"], libraryAccess: restricted });
    expect(staging).not.toHaveProperty("gatewayRef");
    expect(production).toMatchObject({ scopes: UNKNOWN, gatewayRef: UNKNOWN, libraryAccess: restricted });
  });

  it("are not known where it is not known yet what is different in an environment", () => {
    const all = keysOf("app", { team: "docs", environments: UNKNOWN });
    expect(all.dev).toMatchObject({ team: "docs", scopes: UNKNOWN, rotation: UNKNOWN, libraryAccess: UNKNOWN });
    const one = keysOf("app", { team: "docs", environments: { dev: UNKNOWN } });
    expect(one.dev).toEqual(all.dev);
    expect(one.production).toMatchObject({ scopes: ["memory:read"], rotation: { interval: "2160h" } });
  });

  it("are secret in what is made of a secret", () => {
    const { dev } = keysOf("app", {
      team: new Secret("docs"),
      scopes: ["gateway:generate", new Secret("memory:read")],
      environments: new Secret({ dev: { displayName: "Trial", gatewayRef: { name: "main" } } }),
    });
    expect(dev).toMatchObject({
      team: new Secret("docs"),
      scopes: new Secret(["gateway:generate", "memory:read"]),
      displayName: new Secret("Trial"),
      gatewayRef: new Secret({ name: "main" }),
    });
    expect(keysOf("app", { team: "docs", scopes: new Secret(UNKNOWN) }).dev.scopes).toEqual(new Secret(UNKNOWN));
  });

  it.each<[Value, Value]>([
    [{ trigger: "x" }, { interval: "96h", overlap: "1h", trigger: "x" }],
    [{ trigger: UNKNOWN }, { interval: "96h", overlap: "1h", trigger: UNKNOWN }],
    [new Secret({ trigger: "x" }), new Secret({ interval: "96h", overlap: "1h", trigger: "x" })],
    [UNKNOWN, UNKNOWN],
    [new Secret(UNKNOWN), new Secret(UNKNOWN)],
  ])("have, with a rotation of %o in one environment, its other fields as well", (rotation, all) => {
    expect(keysOf("app", { team: "docs", environments: { dev: { rotation } } }).dev.rotation).toEqual(all);
  });

  it.each<[Values, string]>([
    [{ gateway: "main" }, "unknown argument gateway: did you mean gatewayRef? Known are team, "],
    [{ environments: { prod: {} } }, "unknown environment prod: did you mean production? Known are dev, staging, "],
    [
      { environments: { dev: { team: "other" } } },
      "unknown property environments.dev.team: Known are name, displayName, ",
    ],
    [{ environments: ["dev"] }, "environments must be an object"],
    [{ scopes: ["memory:read"], preset: "GatewayDefault" }, "scopes and preset are both there: write one of them"],
    [{ scopes: "memory:read" }, "scopes must be a list of texts"],
    [{ preset: "McpReadOnly" }, "unknown preset: did you mean MCPReadOnly?"],
    [{ scopes: ["memory:write"] }, "a production key does not get memory:write unless environments.production.scopes"],
  ])("are refused for %j", (args, message) => {
    expect(() => keysOf("app", { team: "docs", ...args })).toThrow(message);
  });
});
