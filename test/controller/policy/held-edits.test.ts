import { sql } from "kysely";
import { expect, it } from "vitest";
import { findKeyDeclaration } from "../../../store/keys/rows/key-declarations.ts";
import { until } from "../../env/until.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, type Manifest, startWorld, team } from "../fixtures/world.ts";

const DAY = 24 * HOUR;

function gateway(name: string): Manifest {
  const upstream = { name: "openai", dialect: "openai", baseURL: "https://api.example.com" };
  const upstreams = [{ ...upstream, credentialRef: { name: "provider", key: "api-key" } }];
  return { kind: "ModelGateway", name, spec: { publicID: `held-edits-${name}`, upstreams } };
}

describeWorlds("a key whose edit breaks a policy", (setup) => {
  it("b182: goes on with the gateway that it is bound to, which the policy allows", async (context) => {
    const bound = (name: string) => ({ preset: "GatewayDefault", gatewayRef: { name } });
    const world = await startWorld(
      context,
      setup(),
      { kind: "Secret", name: "provider", stringData: { "api-key": "sk-one" } },
      gateway("main"),
      gateway("other"),
      key("agent", bound("main")),
      {
        kind: "PlatformKeyPolicy",
        name: "production",
        namespace: "",
        spec: { teamSelector: {}, allowedGateways: [{ namespace: "dev", name: "main" }] },
      },
    );
    const before = await world.stored("agent");
    await world.advance(8 * DAY);
    await world.declare(key("agent", bound("other")));
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    expect((await world.stored("agent")).policy).toEqual(before.policy);
    const { conditions } = await world.status("agent");
    expect(conditions.find(({ type }) => type === "PolicyViolated")?.message).toBe(
      "What is declared is not applied, and the key goes on as it was. spec.gatewayRef: it may not call dev/other: bind it to dev/main (PlatformKeyPolicy production). Change the key as the message says, or have the platform change its PlatformKeyPolicy.",
    );
  });

  it("b451: keeps in its Secret what leads to its gateway, and has a lost Secret written anew, whatever the edit names", async (context) => {
    const spec = { scopes: ["gateway:generate", "memory:read"], secret: { template: "Env" } };
    const bound = (name: string) => ({ ...spec, gatewayRef: { name } });
    const world = await startWorld(
      context,
      setup(),
      { kind: "Secret", name: "provider", stringData: { "api-key": "sk-one" } },
      gateway("kept"),
      gateway("wished"),
      key("agent", bound("kept")),
      {
        kind: "PlatformKeyPolicy",
        name: "production",
        namespace: "",
        spec: { teamSelector: {}, allowedGateways: [{ namespace: "dev", name: "kept" }] },
      },
    );
    const before = await world.readSecret("agent");
    expect(before?.OPENAI_BASE_URL).toContain("/g/held-edits-kept");
    const misspelt = { name: "misspelt" };
    for (const edit of [
      bound("wished"),
      spec,
      {
        ...{ ...spec, gatewayRef: misspelt, mcpDefaultLibraryRef: misspelt },
        libraryAccess: { mode: "Restricted", libraryRefs: [misspelt] },
      },
    ]) {
      await world.declare(key("agent", edit));
      expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
      expect(await world.readSecret("agent")).toEqual(before);
    }
    await world.loseSecret("agent");
    await until("a new version", async () => (await world.stored("agent")).versions[0]?.number === 2);
    await world.rest();
    const after = await world.readSecret("agent");
    expect(Object.keys(after ?? {})).toEqual(Object.keys(before ?? {}));
    expect(after?.OPENAI_BASE_URL).toBe(before?.OPENAI_BASE_URL);

    await world.remove(gateway("kept"));
    await world.declare(key("agent", bound("wished")));
    expect(await world.readSecret("agent")).toEqual(after);
    await world.loseSecret("agent");
    await until("it waits", () => world.condition("SecretDelivered", "agent") === "False/ReferenceNotFound");
    expect(await world.readSecret("agent")).toBeUndefined();
  });

  it("b468: is delivered as before, and protected from deletion as the edit says", async (context) => {
    const agent = (spec: object) => key("agent", { scopes: ["memory:read"], ...spec });
    const world = await startWorld(context, setup(), agent({}), {
      kind: "PlatformKeyPolicy",
      name: "production",
      namespace: "",
      spec: { teamSelector: {}, allowedScopes: ["memory:read"] },
    });
    const before = await world.readSecret("agent");
    const scopes = ["memory:read", "memory:write"];
    await world.declare(agent({ scopes, secret: { template: "ServiceBinding" }, deletionProtection: true }));
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    expect(await world.readSecret("agent")).toEqual(before);
    await world.undeclare(agent({}));
    await until("it is protected", () => world.condition("Ready", "agent") === "False/DeletionProtected");
    expect(await world.readSecret("agent")).toEqual(before);
    expect((await world.stored("agent")).state).toBe("active");
  });

  it("b238: goes on with what else it may do where its gateway is gone, and an edit names another that is not there either", async (context) => {
    const bound = (name: string) => ({ scopes: ["gateway:generate", "memory:read"], gatewayRef: { name } });
    const world = await startWorld(
      context,
      setup(),
      { kind: "Secret", name: "provider", stringData: { "api-key": "sk-one" } },
      gateway("going"),
      key("agent", bound("going")),
      {
        kind: "PlatformKeyPolicy",
        name: "production",
        namespace: "",
        spec: { teamSelector: {}, allowedGateways: [{ namespace: "dev", name: "going" }] },
      },
    );
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    await world.advance(8 * DAY);
    await world.remove(gateway("going"));
    await until("it is seen", () => world.condition("Ready", "agent") === "False/ReferenceNotFound");
    await world.declare(key("agent", bound("misspelt")));
    expect((await world.stored("agent")).policy).toMatchObject({ boundGatewayId: "", expiresAt: null });
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
  });

  it("b217: is rotated as the declaration has it that holds, and by the edit once that is put right", async (context) => {
    const rotated = (hours: number, scopes: string[]) => key("agent", { scopes, rotation: { interval: `${hours}h` } });
    const world = await startWorld(context, setup(), rotated(720, ["memory:read"]), {
      kind: "PlatformKeyPolicy",
      name: "production",
      namespace: "",
      spec: { teamSelector: {}, allowedScopes: ["memory:read"] },
    });
    await world.declare(rotated(240, ["memory:read"]));
    await world.declare(rotated(480, ["memory:read", "memory:write"]));
    await world.restart();
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    for (const numbers of [
      [2, 1],
      [3, 2, 1],
    ]) {
      await world.advance(10 * DAY);
      expect((await world.stored("agent")).versions.map(({ number }) => number)).toEqual(numbers);
    }
    expect((await world.stored("agent")).policy.scopes).toEqual(["memory:read"]);
    await world.declare(rotated(480, ["memory:read"]));
    await world.advance(11 * DAY);
    expect((await world.stored("agent")).versions[0]?.number).toBe(3);
  });

  it("c78: says that no interval rotates it where its record cannot be read, which hides no key", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { scopes: ["memory:read"] }), {
      kind: "PlatformKeyPolicy",
      name: "production",
      namespace: "",
      spec: { teamSelector: {}, allowedScopes: ["memory:read"] },
    });
    const { id } = await world.stored("agent");
    const secret = { dataKey: "api-key" };
    for (const unread of [
      { secret, rotation: { interval: "30 days" } },
      { secret, rotation: "weekly" },
      { secret: { ...secret, template: "Later" } },
      {},
    ]) {
      const later = JSON.stringify({ scopes: ["memory:read"], ...unread });
      await sql`update key_declarations set spec = ${later}::jsonb where key_id = ${id}`.execute(world.store.db);
      expect((await world.storedKeys()).map((stored) => stored.id)).toEqual([id]);
    }
    await world.declare(key("agent", { scopes: ["memory:read", "memory:write"] }));
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    const { conditions } = await world.status("agent");
    expect(conditions.find(({ type }) => type === "PolicyViolated")?.message).toContain(
      "No interval rotates it meanwhile, since the declaration that was applied last is not recorded, or cannot be read: keyplane rotate makes a new version.",
    );
  });

  it("b222: is suspended by the edit, and keeps the recorded declaration and the rotation that hold", async (context) => {
    const rotated = (hours: number, spec: object) => key("agent", { rotation: { interval: `${hours}h` }, ...spec });
    const world = await startWorld(context, setup(), rotated(240, { scopes: ["memory:read"] }), {
      kind: "PlatformKeyPolicy",
      name: "production",
      namespace: "",
      spec: { teamSelector: {}, allowedScopes: ["memory:read"] },
    });
    const wider = ["memory:read", "memory:write"];
    await world.declare(rotated(480, { scopes: wider, state: "Suspended" }));
    const suspended = await world.stored("agent");
    expect(suspended.policy).toMatchObject({ suspended: true, scopes: ["memory:read"] });
    expect((await findKeyDeclaration(world.store.db, suspended.id))?.spec).toMatchObject({
      ...{ scopes: ["memory:read"], rotation: { interval: "240h" } },
    });
    await world.declare(rotated(480, { scopes: wider }));
    await world.advance(11 * DAY);
    expect((await world.stored("agent")).versions[0]?.number).toBe(2);
  });

  it("b222: of a namespace that its team has lost, the same holds of an edit that waits for a team", async (context) => {
    const agent = (spec: Record<string, unknown>) => key("agent", spec, "other");
    const world = await startWorld(context, setup(), team("team-b", ["other"]), agent({ scopes: ["memory:read"] }));
    const { id } = await world.stored("agent", "other");
    const recorded = async () => (await findKeyDeclaration(world.store.db, id))?.spec;
    await world.declare(team("team-b", []));
    await world.declare(agent({ scopes: ["memory:read", "memory:write"], state: "Suspended" }));
    expect((await world.stored("agent", "other")).policy).toMatchObject({ suspended: true, scopes: ["memory:read"] });
    expect(await recorded()).toMatchObject({ scopes: ["memory:read"] });
    await world.declare(agent({ scopes: ["memory:read"], state: "Suspended", displayName: "Agent" }));
    expect(await recorded()).toMatchObject({ displayName: "Agent" });
  });
});
