import { expect, it } from "vitest";
import { describeOnTofu } from "../../env/opentofu.ts";

const HEAD = `
terraform {
  required_providers {
    keyplane = { source = "keyplane.dev/keyplane/keyplane" }
  }
}
`;

describeOnTofu("keyplane_platform_key", ({ makeWorkspace, manage }) => {
  it("is made, changed in place, found unchanged, and revoked", async () => {
    await manage("POST", "teams", { name: "lifecycle", spec: {} });
    const configured = (more: string) => `${HEAD}
resource "keyplane_platform_key" "reader" {
  name = "reader"
  team = "lifecycle"
  ${more}
}
`;
    const { tofu, write } = await makeWorkspace({ "main.tf": configured('preset = "MCPReadOnly"') });
    const made = await tofu("apply", "-auto-approve");
    expect(made.out).toContain("1 added");
    const listed = await manage("GET", "keys?team=lifecycle");
    expect(listed.body.items).toMatchObject([{ name: "reader", scopes: ["memory:read"], state: "active" }]);
    expect(await tofu("plan", "-detailed-exitcode")).toMatchObject({ code: 0 });

    await write("main.tf", configured('scopes = ["memory:write", "memory:read"]\n  display_name = "Reader"'));
    const changed = await tofu("apply", "-auto-approve");
    expect(changed.out).toContain("0 added, 1 changed, 0 destroyed");
    expect(await tofu("plan", "-detailed-exitcode")).toMatchObject({ code: 0 });

    expect(await tofu("destroy", "-auto-approve")).toMatchObject({ code: 0 });
    const after = await manage("GET", `keys/${listed.body.items[0].id}`);
    expect(after.body).toMatchObject({ state: "revoked", displayName: "Reader" });
  });
});
