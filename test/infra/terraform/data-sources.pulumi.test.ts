import { expect, it } from "vitest";
import { describeOnTofu, REQUIRED_PROVIDERS } from "../../env/opentofu.ts";

describeOnTofu("data sources", ({ makeWorkspace, manage }) => {
  it("show a gateway, a library and a key, by name or id", async () => {
    await manage("POST", "teams", { name: "shown", spec: {} });
    const upstream = { name: "one", dialect: "openai", baseURL: "https://api.example.com", credential: "c" };
    const route = { model: "fast-chat", routeID: "rt-fast", upstream: "one", upstreamModel: "m" };
    const gateway = { name: "main", team: "shown", spec: { upstreams: [upstream], routes: [route] } };
    const { body: madeGateway } = await manage("POST", "gateways", gateway);
    await manage("POST", "libraries", { name: "shown-handbook", team: "shown", spec: { displayName: "Handbook" } });
    const key = { name: "reader", team: "shown", spec: { preset: "MCPReadWrite" } };
    const { body: madeKey } = await manage("POST", "keys", key);
    const { tofu, write } = await makeWorkspace({});
    await write(
      "main.tf",
      `${REQUIRED_PROVIDERS}
data "keyplane_model_gateway" "main" {
  name = "main"
  team = "shown"
}

data "keyplane_memory_library" "handbook" {
  name = "shown-handbook"
}

data "keyplane_platform_key" "reader" {
  id = "${madeKey.id}"
}

output "shown" {
  value = [data.keyplane_model_gateway.main, data.keyplane_memory_library.handbook, data.keyplane_platform_key.reader]
}
`,
    );
    expect(await tofu("apply", "-auto-approve")).toMatchObject({ code: 0 });
    const { out } = await tofu("output", "-json", "shown");
    const shown = { team: "shown", namespace: "", team_id: madeKey.teamId };
    expect(JSON.parse(out)).toEqual([
      {
        ...{ ...shown, id: madeGateway.id, name: "main", public_id: madeGateway.publicID },
        ...{ upstreams: ["one"], models: ["fast-chat"], routes_only: false },
      },
      {
        ...{ ...shown, id: expect.any(String), name: "shown-handbook" },
        ...{ display_name: "Handbook", description: null, deletion_policy: "Retain" },
      },
      {
        ...{ ...shown, id: madeKey.id, name: "reader", display_name: "reader", state: "active" },
        ...{ effective_scopes: ["memory:read", "memory:write"], prefix: madeKey.prefix, version: 1 },
        ...{ expires_time: null, is_declared: false },
      },
    ]);
    expect(out).not.toContain(madeKey.secret);
  });

  it("say what is missing", async () => {
    const none = 'data "keyplane_memory_library" "none" {\n  name = "none"\n}\n';
    const open = 'data "keyplane_memory_library" "open" {}\n';
    const { tofu } = await makeWorkspace({ "main.tf": `${REQUIRED_PROVIDERS}${none}${open}` });
    const { out } = await tofu("plan");
    expect(out).toContain('there is no library named "none"');
    expect(out).toContain("Which one is meant?");
  });
});
