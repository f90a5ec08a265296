import { runtime } from "@pulumi/pulumi";
import { beforeAll, expect, it } from "vitest";
import { EnvironmentKeys, type EnvironmentKeysArgs } from "../../../infra/pulumi/sdk.ts";

type Registered = { readonly type: string; readonly name: string; readonly inputs: Record<string, unknown> };
const registered: Registered[] = [];

beforeAll(async () => {
  await runtime.setMocks({
    newResource({ type, name, inputs }) {
      registered.push({ type, name, inputs });
      return { id: name, state: { ...inputs, secret: `secret of ${name}` } };
    },
    call: ({ inputs }) => inputs,
  });
});

/** What the component registers, by environment. */
async function keysOf(args: EnvironmentKeysArgs) {
  registered.length = 0;
  const { secrets } = new EnvironmentKeys("app", args);
  const texts = await new Promise((resolve) => secrets.apply(resolve));
  const key = (environment: string) => registered.find(({ name }) => name === `app-${environment}`)?.inputs;
  return { texts, dev: key("dev"), staging: key("staging"), production: key("production") };
}

const restricted: EnvironmentKeysArgs["libraryAccess"] = { mode: "Restricted", libraryRefs: [{ name: "handbook" }] };

it("one declaration makes a key for each environment, which in production only reads and does not end by itself", async () => {
  const keys = await keysOf({
    team: "docs",
    preset: "MCPReadWrite",
    libraryAccess: restricted,
    gatewayRef: { name: "main" },
  });
  expect(keys.texts).toEqual({
    dev: "secret of app-dev",
    staging: "secret of app-staging",
    production: "secret of app-production",
  });
  const both = ["memory:read", "memory:write"];
  expect(keys.dev).toMatchObject({ scopes: both, expiresAfter: "168h", rotation: { interval: "96h" } });
  expect(keys.staging).toMatchObject({ scopes: both, expiresAfter: "720h" });
  expect(keys.production).toMatchObject({ team: "docs", scopes: ["memory:read"], rotation: { overlap: "72h" } });
  expect(keys.production).not.toHaveProperty("expiresAfter");
  // Bound only where there is something to be bound for.
  expect(keys.production).not.toHaveProperty("gatewayRef");
  expect(keys.production?.libraryAccess).toEqual({ mode: "Restricted", libraryRefs: [{ name: "handbook" }] });
});

it("what one environment says of itself counts before all else", async () => {
  const { dev, production } = await keysOf({
    team: "docs",
    scopes: ["gateway:generate", "memory:write"],
    gatewayRef: { name: "main" },
    environments: {
      dev: { expiresAt: "2030-01-01T00:00:00Z" },
      production: { scopes: ["gateway:generate", "memory:write"], rateLimit: { requestsPerMinute: 60, burst: 10 } },
    },
  });
  expect(dev).toMatchObject({ expiresAt: "2030-01-01T00:00:00Z", gatewayRef: { name: "main" } });
  expect(dev).not.toHaveProperty("expiresAfter");
  expect(production).toMatchObject({ scopes: ["gateway:generate", "memory:write"], rateLimit: { burst: 10 } });
});

it("a field of `rotation` that one environment has leaves it the others", async () => {
  const { dev } = await keysOf({ team: "docs", environments: { dev: { rotation: { trigger: "x" } } } });
  expect(dev?.rotation).toEqual({ interval: "96h", overlap: "1h", trigger: "x" });
});

it("reads memory where nothing is said, and is refused where production would be left without a scope", async () => {
  expect((await keysOf({ team: "docs" })).production?.scopes).toEqual(["memory:read"]);
  expect(() => new EnvironmentKeys("writer", { team: "docs", scopes: ["memory:write"] })).toThrow(
    "unless environments.production.scopes says so",
  );
});

it("refuses an argument that it does not know, which may be a restriction, and says which is meant", () => {
  const misspelt: EnvironmentKeysArgs & { gateway: string } = {
    team: "docs",
    preset: "GatewayDefault",
    gateway: "main",
  };
  expect(() => new EnvironmentKeys("app", misspelt)).toThrow("unknown argument gateway: did you mean gatewayRef?");
});

it("refuses an environment that it does not know, and says which there are and which is meant", () => {
  const misspelt = { dev: {}, prodution: { allowedCIDRs: ["192.0.2.0/24"] } };
  expect(() => new EnvironmentKeys("app", { team: "docs", environments: misspelt })).toThrow(
    "unknown environment prodution: did you mean production? Known are dev, staging, production",
  );
});
