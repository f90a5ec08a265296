import { expect, it } from "vitest";
import type { PlatformKeyArgs } from "../../../infra/pulumi/generated/types.ts";
import {
  getGateway,
  getKey,
  getKeyOutput,
  getTeam,
  MemoryLibrary,
  ModelGateway,
  PlatformKey,
  PlatformTeam,
} from "../../../infra/pulumi/resources.ts";
import { itByNight } from "../../env/night-test.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";

const UPSTREAM = { name: "openai", dialect: "openai", baseURL: "https://api.example.com", credential: "sk-1" } as const;

/** Of keys that are made in one up. */
const MANY = 500;
const SIGNING = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;

describeOnPulumi("a program", ({ makeStack, manage, call }) => {
  it("makes a team, a library, a gateway and a key of them; a preview of it makes nothing", async () => {
    const { stack } = await makeStack(async () => {
      const { name: team } = new PlatformTeam("team", {
        name: "whole",
        members: [
          { role: "admin", group: "leads" },
          { role: "member", group: "readers", libraryRefs: [{ name: "handbook" }] },
        ],
        mcpAgentPolicy: { defaultLibraryRef: { name: "handbook" } },
        // Neither in the order that the server has.
        webhooks: ["https://hooks.example.com/b", "https://hooks.example.com/a"].map((url) => ({
          ...{ url, events: ["key.rotated", "key.revoked"], secret: SIGNING },
        })),
      });
      const library = new MemoryLibrary("handbook", { team, name: "handbook", description: "How we work" });
      const local = {
        name: "local",
        dialect: "openai",
        baseURL: "http://127.0.0.1:8000/v1",
        noCredential: true,
      } as const;
      const gateway = new ModelGateway("main", { team, publicID: "whole-main", upstreams: [UPSTREAM, local] });
      const key = new PlatformKey("agent", {
        team,
        preset: "GatewayDefault",
        gatewayRef: { name: gateway.name },
        libraryAccess: { mode: "Restricted", libraryRefs: [{ name: library.name }] },
        expiresAfter: "24h",
      });
      return { ...key, gateway: gateway.publicID, missing: gateway.missingCredentials };
    });
    const { changeSummary } = await stack.preview();
    expect(changeSummary).toEqual({ create: 5 });
    expect((await manage("GET", "teams?name=whole")).body.items).toEqual([]);

    const { outputs } = await stack.up();
    expect(outputs).toMatchObject({
      name: { value: expect.stringMatching(/^agent-[0-9a-f]{7}$/) },
      effectiveScopes: { value: ["gateway:generate", "gateway:embed", "gateway:routes", "memory:read"] },
      expiresTime: { value: expect.stringMatching(/^20/) },
      gateway: { value: "whole-main" },
      missing: { value: [] },
      secret: { secret: true },
    });
    expect(await call(outputs.secret?.value)).toBe(200);
    const { body } = await manage("GET", `keys/${outputs.keyID?.value}`);
    expect(body).toMatchObject({ prefix: outputs.prefix?.value, spec: { gatewayRef: { name: expect.any(String) } } });
    expect(body.managedBy).toMatch(/^urn:pulumi:.*::keyplane:index:PlatformKey::agent$/);
    const again = await stack.up();
    expect(again.summary.resourceChanges).toEqual({ same: 5 });
    const { summary } = await stack.refresh();
    expect(summary.resourceChanges).toEqual({ same: 5 });
    const state = JSON.stringify(await stack.exportStack());
    expect(state.replaceAll(/"plaintext":"(?:[^"\\]|\\.)*"/g, "encrypted")).not.toContain(SIGNING);
    const [{ spec, missingSecrets }] = (await manage("GET", "teams?name=whole")).body.items;
    expect([spec.webhooks.length, missingSecrets]).toEqual([2, []]);
    await stack.destroy();
    expect(await call(outputs.secret?.value)).toBe(401);
    expect((await manage("GET", "teams?name=whole")).body.items).toEqual([]);
  });

  it("changes a key in place, and replaces it where its name changes", async () => {
    let args: PlatformKeyArgs = { team: "changing", name: "one", preset: "MCPReadOnly" };
    const { stack } = await makeStack(async () => {
      const team = new PlatformTeam("team", { name: "changing" });
      const { secret, keyID } = new PlatformKey("key", args, { dependsOn: team });
      return { secret, keyID };
    });
    const first = await stack.up();
    args = { team: "changing", name: "one", scopes: ["memory:read", "memory:write"], reason: "ticket 12" };
    const second = await stack.up({ diff: true });
    expect(second.stdout).toMatch(/\+ scopes\s*: \[/);
    expect(second.stdout).toMatch(/- preset\s*: "MCPReadOnly"/);
    expect(second.summary.resourceChanges).toEqual({ same: 2, update: 1 });
    expect(second.outputs).toEqual(first.outputs);
    expect((await manage("GET", `keys/${first.outputs.keyID?.value}`)).body.scopes).toEqual(args.scopes);

    args = { ...args, name: "two" };
    const third = await stack.up();
    expect(third.summary.resourceChanges).toEqual({ same: 2, replace: 1 });
    expect(await call(first.outputs.secret?.value)).toBe(401);

    // The same name at the same time: the key is not another one, but its secret is. It has not been used yet, since a
    // used one is taken for another stack's.
    const urn = "urn:pulumi:test::tests::keyplane:index:PlatformKey::key";
    const fourth = await stack.up({ replace: [urn] });
    expect(fourth.outputs.keyID?.value).toBe(third.outputs.keyID?.value);
    expect([await call(third.outputs.secret?.value), await call(fourth.outputs.secret?.value)]).toEqual([401, 200]);
  });

  itByNight("replaces what cannot be there twice by deleting it first", async () => {
    let name = "before";
    const { stack } = await makeStack(async () => {
      const team = new PlatformTeam("team", { name, namespaces: ["only-once"] });
      new ModelGateway("main", { team: team.name, name, publicID: "only-once", upstreams: [UPSTREAM] });
    });
    await stack.up();
    name = "after";
    // A public id stays its team's for ever: only a gateway of the same team may have it.
    expect(await stack.up().catch(String)).toContain("publicID: belongs to another gateway: choose another");
    expect((await manage("GET", "teams?name=after")).body.items).toMatchObject([{ namespaces: ["only-once"] }]);
  });

  it("looks up what others have made", async () => {
    await manage("POST", "teams", { name: "looked-up", spec: {} });
    const made = { name: "theirs", team: "looked-up" };
    const key = await manage("POST", "keys", { ...made, spec: { preset: "MCPReadOnly" } });
    await manage("POST", "gateways", { ...made, spec: { upstreams: [UPSTREAM] } });
    const { stack } = await makeStack(async () => ({
      key: await getKey(made),
      same: (await getKey({ id: key.body.id })).name,
      team: await getTeam({ name: "looked-up" }),
      gateway: await getGateway(made),
    }));
    const { outputs } = await stack.up();
    expect(outputs).toMatchObject({
      key: { value: { id: key.body.id, effectiveScopes: ["memory:read"], prefix: key.body.prefix } },
      same: { value: "theirs" },
      team: { value: { name: "looked-up" } },
      gateway: { value: { upstreams: [{ name: "openai" }], missingCredentials: [] } },
    });
    expect(JSON.stringify(outputs)).not.toMatch(/sk-1|secret":true/);
  });

  itByNight(
    "reads what others have made, as a resource or by what is known only later, and leaves it as it is",
    async () => {
      const team = await manage("POST", "teams", { name: "read-alone", spec: { displayName: "Read alone" } });
      const made = { name: "theirs", team: "read-alone" };
      const { body } = await manage("POST", "keys", { ...made, spec: { preset: "MCPReadOnly" } });
      const { stack } = await makeStack(async () => {
        const { name } = PlatformTeam.get("team", team.body.id);
        const key = PlatformKey.get("key", body.id);
        const found = getKeyOutput({ name: key.name, team: name });
        return { name, scopes: key.effectiveScopes, secret: key.secret, found: found.keyID };
      });
      const { outputs } = await stack.up();
      expect(outputs).toMatchObject({
        ...{ name: { value: "read-alone" }, scopes: { value: ["memory:read"] } },
        found: { value: body.id },
      });
      expect(outputs.secret).toBeUndefined();
      await stack.destroy();
      expect((await manage("GET", `keys/${body.id}`)).body.revocation).toBeFalsy();
    },
  );

  itByNight(`makes ${MANY} keys in one up`, async () => {
    const { stack } = await makeStack(
      async () => {
        const { name: team } = new PlatformTeam("team", { name: "many" });
        const keys = Array.from(
          { length: MANY },
          (_, i) => new PlatformKey(`key-${i}`, { team, preset: "MCPReadOnly" }),
        );
        return { ids: keys.map(({ keyID }) => keyID), secret: keys.at(-1)?.secret };
      },
      // The CLI writes the whole state after each step, which takes longer than all else.
      { env: { PULUMI_EXPERIMENTAL: "true", PULUMI_SKIP_CHECKPOINTS: "true" } },
    );
    const { outputs } = await stack.up({ parallel: MANY });
    expect(new Set(outputs.ids?.value).size).toBe(MANY);
    expect(await call(outputs.secret?.value)).toBe(200);
  });
});
