import { expect, it } from "vitest";
import { describeWorlds } from "./fixtures/setup.ts";
import { startWorld } from "./fixtures/world.ts";
import { gateway, provider } from "./refused-credentials.ts";

describeWorlds("a gateway that names a data key of which its Secret has none", (setup) => {
  it.for([
    ["constructor", "data key constructor"],
    [`inf_${"x".repeat(57)}`, "data key inf_... (upstream"],
  ])("b78: says so of %s", async ([dataKey, says], context) => {
    const credentialRef = { name: "provider", key: dataKey };
    const upstreams = [{ name: "openai", dialect: "openai", baseURL: "https://a.example", credentialRef }];
    const world = await startWorld(context, setup(), provider("sk-1"), { ...gateway, spec: { upstreams } });
    expect(world.condition("ResolvedRefs", "main", "ModelGateway")).toBe("False/CredentialNotFound");
    const { conditions } = world.get("ModelGateway", "main")?.status ?? {};
    expect(conditions?.find(({ type }) => type === "ResolvedRefs")?.message).toContain(says);
    expect(JSON.stringify([conditions, world.lines])).not.toContain("xxxxxxxxxx");
  });
});
