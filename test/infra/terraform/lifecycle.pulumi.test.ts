import { expect, it } from "vitest";
import { itByNight } from "../../env/night-test.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { describeOnTofu, REQUIRED_PROVIDERS } from "../../env/opentofu.ts";
import { until } from "../../env/until.ts";
import { startApiProxy } from "../pulumi/api-proxy.ts";

const UNCHANGED = { code: 0 };
const CHANGES = { code: 2 };

describeOnTofu("keyplane_platform_key", ({ makeWorkspace, manage, makeEnvironment }) => {
  /** A team of its own, and a configuration of one key of it. */
  async function makeKeyWorkspace(team: string, fields: string) {
    const configured = (more: string, named = team) =>
      `${REQUIRED_PROVIDERS}resource "keyplane_platform_key" "reader" {\n  name = "reader"\n  team = "${named}"\n${more}\n}\n`;
    await manage("POST", "teams", { name: team, spec: {} });
    const { write, ...rest } = await makeWorkspace({ "main.tf": configured(fields) });
    return {
      ...rest,
      write,
      apply: (...options: string[]) => rest.tofu("apply", "-auto-approve", ...options),
      plan: (...options: string[]) => rest.tofu("plan", "-detailed-exitcode", ...options),
      configure: (...args: Parameters<typeof configured>) => write("main.tf", configured(...args)),
      async keys() {
        const { body } = await manage("GET", `keys?team=${team}`);
        return body.items;
      },
    };
  }

  it("is made, changed in place, found unchanged, replaced where its name changes, and revoked", async () => {
    const { apply, plan, configure, keys, tofu } = await makeKeyWorkspace("lifecycle", 'preset = "MCPReadOnly"');
    expect((await apply()).out).toContain("1 added");
    expect(await keys()).toMatchObject([{ name: "reader", scopes: ["memory:read"], state: "active" }]);
    expect(await plan()).toMatchObject(UNCHANGED);

    await configure('scopes = ["memory:write", "memory:read"]\ndisplay_name = "Reader"\nstate = "Suspended"');
    expect((await apply()).out).toContain("0 added, 1 changed, 0 destroyed");
    expect(await keys()).toMatchObject([{ displayName: "Reader", state: "suspended" }]);
    expect(await plan()).toMatchObject(UNCHANGED);

    // Another name is another key.
    await configure('preset = "MCPReadOnly"\nnamespace = "elsewhere"');
    expect((await plan()).out).toContain("must be replaced");

    expect(await tofu("destroy", "-auto-approve")).toMatchObject({ code: 0 });
    expect(await keys()).toMatchObject([{ state: "revoked" }]);
  });

  it("b444: stays the same key where the configuration comes to name its team by the team's id or by its name again, also after an import", async () => {
    const secret = "secret_wo = ephemeral.keyplane_platform_key_secret.new.secret\nsecret_wo_version = 1";
    const fields = `preset = "MCPReadOnly"\n${secret}\n}\nephemeral "keyplane_platform_key_secret" "new" {`;
    const { apply, plan, configure, keys, tofu } = await makeKeyWorkspace("named-by-id", fields);
    await apply();
    const [{ id, teamId }] = await keys();
    await configure(fields, teamId);
    expect((await apply()).out).toContain("0 added, 1 changed, 0 destroyed");
    expect(await plan()).toMatchObject(UNCHANGED);
    await configure(fields);
    expect((await apply()).out).toContain("0 added, 1 changed, 0 destroyed");
    await configure(fields, teamId);

    await tofu("state", "rm", "keyplane_platform_key.reader");
    await tofu("import", "keyplane_platform_key.reader", id);
    expect((await apply()).out).toContain("0 added, 1 changed, 0 destroyed");
    expect(await keys()).toMatchObject([{ id, state: "active" }]);
  });

  it("b350: is neither destroyed nor dropped from the state where its team is not to be seen, as at a wrong path", async () => {
    const { apply, plan, write, keys, tofu } = await makeKeyWorkspace("hidden", 'preset = "MCPReadOnly"');
    expect(await apply()).toMatchObject({ code: 0 });
    const { KEYPLANE_URL: url } = await makeEnvironment();
    await write("elsewhere.tf", `provider "keyplane" {\n  url = "${url}/keyplane"\n}\n`);
    for (const run of [() => plan(), () => tofu("destroy", "-auto-approve", "-refresh=false")]) {
      const { out, code } = await run();
      expect([code, out.replace(/[\s│]+/g, " ")]).toEqual([1, expect.stringContaining("its team is not either")]);
    }
    expect(await keys()).toMatchObject([{ state: "active" }]);
    await write("elsewhere.tf", "");
    expect(await plan()).toMatchObject(UNCHANGED);
  });

  it("has every field that the management API takes of a key", async () => {
    await manage("POST", "teams", { name: "fields", spec: {} });
    await manage("POST", "libraries", { name: "handbook", team: "fields", spec: {} });
    const upstream = { name: "one", dialect: "openai", baseURL: "https://api.example.com", credential: "c" };
    await manage("POST", "gateways", { name: "main", team: "fields", spec: { upstreams: [upstream] } });
    const { apply, plan, keys } = await makeKeyWorkspace(
      "fields",
      `
      owner                   = "ann@example.com"
      preset                  = "GatewayDefault"
      gateway_ref             = { name = "main" }
      allowed_models          = ["model-b", "model-a"]
      library_access          = { mode = "Restricted", library_refs = [{ name = "handbook" }] }
      mcp_default_library_ref = { name = "handbook" }
      subject_access          = { mode = "Bound", subject = "user-4711" }
      allowed_cidrs           = ["192.0.2.0/24", "127.0.0.0/8"]
      state                   = "Active"
      expires_at              = "2126-01-31T01:00:00+01:00"
      rate_limit              = { requests_per_minute = 60, burst = 10, tokens_per_minute = 1000, scope = "Replica", concurrent = 4 }
      budgets                 = [{ period = "Day", tokens = 1000 }, { period = "Month", cost = "25.00", currency = "EUR", on_exhausted = "Alert" }]
      `,
    );
    expect(await apply()).toMatchObject({ code: 0 });
    const [{ spec }] = await keys();
    expect(spec).toMatchObject({
      owner: "ann@example.com",
      preset: "GatewayDefault",
      gatewayRef: { name: "main" },
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }] },
      mcpDefaultLibraryRef: { name: "handbook" },
      subjectAccess: { mode: "Bound", subject: "user-4711" },
      rateLimit: { requestsPerMinute: 60, burst: 10, tokensPerMinute: 1000, scope: "Replica", concurrent: 4 },
      budgets: [
        { period: "Day", tokens: 1000 },
        { period: "Month", cost: "25.00", currency: "EUR", onExhausted: "Alert" },
      ],
    });
    expect([...spec.allowedModels, ...spec.allowedCIDRs].toSorted()).toEqual([
      ...["127.0.0.0/8", "192.0.2.0/24", "model-a", "model-b"],
    ]);
    expect(await plan()).toMatchObject(UNCHANGED);
  });

  it("is imported by its name or its id, and a plan of the same finds nothing to do", async () => {
    const { tofu, plan } = await makeKeyWorkspace("imported-by-tofu", 'preset = "MCPReadOnly"\nexpires_after = "720h"');
    const spec = { preset: "MCPReadOnly", expiresAfter: "720h" };
    const { body } = await manage("POST", "keys", { name: "reader", team: "imported-by-tofu", spec });
    const imported = (id: string) => tofu("import", "keyplane_platform_key.reader", id);
    expect((await imported("imported-by-tofu/writer")).out).toContain('there is no key named "writer"');
    expect(await imported("imported-by-tofu/reader")).toMatchObject({ code: 0 });
    expect(await plan()).toMatchObject(UNCHANGED);
    await tofu("state", "rm", "keyplane_platform_key.reader");
    expect(await imported(body.id)).toMatchObject({ code: 0 });
    expect(await plan()).toMatchObject(UNCHANGED);
  });

  it("is made again where another client has revoked it, with a warning", async () => {
    const { apply, keys } = await makeKeyWorkspace("revoked", 'preset = "MCPReadOnly"');
    await apply();
    const [{ id }] = await keys();
    await manage("POST", `keys/${id}/revoke`, {});
    const { out } = await apply();
    expect(out).toMatch(/Warning: The key "reader" is gone[\s\S]*It was revoked at/);
    expect(out).toMatch(/1 to add[\s\S]*1 added/);
    expect((await keys()).map(({ state }: { state: string }) => state).toSorted()).toEqual(["active", "revoked"]);
  });

  it("shows what another client has changed, and undoes nothing that its plan has not shown", async () => {
    const { apply, plan, keys } = await makeKeyWorkspace("drift", 'preset = "MCPReadOnly"');
    await apply();
    const [{ id }] = await keys();
    await manage("PUT", `keys/${id}`, { spec: { preset: "MCPReadWrite" } });
    const planned = await plan("-out=plan");
    expect(planned).toMatchObject(CHANGES);
    expect(planned.out).toMatch(/preset += "MCPReadWrite" -> "MCPReadOnly"/);

    await manage("PUT", `keys/${id}`, { spec: { preset: "GatewayDefault" } });
    const refused = await apply("plan");
    expect(refused.out).toContain("Another client has changed it since this plan read it");
    expect(await keys()).toMatchObject([{ spec: { preset: "GatewayDefault" } }]);
    expect((await apply()).out).toContain("1 changed");
    expect(await keys()).toMatchObject([{ spec: { preset: "MCPReadOnly" } }]);
  });

  const lost = [
    ["busy answered", "lost-busy-of-tofu"],
    ["breaks answered", "lost-broken-of-tofu"],
  ] as const;
  it.each(lost.slice(NIGHTLY ? 0 : 1))(
    "b199: knows its own change again whose answer was lost, and undoes no other client's: %s",
    async (fate, team) => {
      const { KEYPLANE_URL: url = "" } = await makeEnvironment();
      const proxy = await startApiProxy(url);
      const { apply, plan, keys, configure } = await makeKeyWorkspace(team, 'preset = "MCPReadOnly"');
      await apply();
      const through = (fields: string) => configure(`${fields}\n}\nprovider "keyplane" {\n  url = "${proxy.url}"`);
      let put = 0;
      proxy.watch(({ method }) => (method === "PUT" && put++ === 0 ? fate : "passes"));
      await through('preset = "MCPReadWrite"');
      expect(await apply()).toMatchObject({ code: 0 });
      expect(put).toBe(2);
      expect(await keys()).toMatchObject([{ spec: { preset: "MCPReadWrite" } }]);
      expect(await plan()).toMatchObject(UNCHANGED);

      put = 0;
      proxy.onAnswer(async ({ method, path }) => {
        if (method === "PUT" && put === 1) await manage("PUT", path, { spec: { preset: "GatewayDefault" } });
      });
      await through('preset = "MCPReadOnly"');
      expect((await apply()).out).toContain("Another client has changed it since this plan read it");
      expect(await keys()).toMatchObject([{ spec: { preset: "GatewayDefault" } }]);
      await proxy.close();
    },
  );

  it("says in a plan that it has expired", async () => {
    const { apply, plan, keys } = await makeKeyWorkspace("expired", 'preset = "MCPReadOnly"\nexpires_after = "1s"');
    await apply();
    await until("it has expired", async () => (await keys())[0].state === "expired");
    expect((await plan()).out).toContain('The key "reader" has expired');
  });

  itByNight("asks no server that is none, and with no key in a token's place", async () => {
    const { write, tofu } = await makeWorkspace({});
    const key = 'resource "keyplane_platform_key" "reader" {\n  name = "reader"\n  team = "none"\n}\n';
    const outOf = async (argument: string) => {
      await write("main.tf", `${REQUIRED_PROVIDERS}provider "keyplane" {\n  ${argument}\n}\n${key}`);
      return (await tofu("apply", "-auto-approve")).out;
    };
    expect(await outOf('url = "ftp://keys.example.com"')).toContain("It must be an http or https URL");
    const given = await outOf(`token = "inf_${"0".repeat(57)}"`);
    expect(given).toContain("holds an API key, which manages nothing");
    expect(given).not.toContain("inf_0");
    expect(await outOf('token = "of-no-issuer"')).toContain("refuses the token");
    expect(await outOf('token_file = "/nowhere/token"')).toContain("cannot be read");
    expect(await outOf('url = "http://127.0.0.1:1"')).toContain("no answer from http://127.0.0.1:1");
  });

  it("is refused in the API's words, and says what to do", async () => {
    const { apply, plan, configure } = await makeKeyWorkspace("refused-by-tofu", 'scopes = ["memory:reed"]');
    expect((await apply()).out).toMatch(/The key "reader" was not made[\s\S]*scopes\[0\]/);
    await configure('preset = "MCPReadOnly"\nstate = "Revoked"');
    expect((await plan()).out).toContain("To revoke a key, destroy the");
    await configure('preset = "MCPReadOnly"');
    await manage("POST", "keys", { name: "reader", team: "refused-by-tofu", spec: { preset: "MCPReadOnly" } });
    const refused = (await apply()).out.replaceAll(/\s+(?:│ +)?/g, " ");
    expect(refused).toMatch(/say so in a moved block\. .*import the one that is there by its id, key_/);
  });
});
