import { expect, it } from "vitest";
import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { key, startWorld } from "../fixtures/world.ts";

describeWorldsOnKubernetes("a Secret that is unchanged since it was written", (setup) => {
  it("is rendered again when its declaration wants other content, with the same key in it", async (context) => {
    const template = (name: string) => key("agent", { scopes: ["memory:read"], secret: { template: name } });
    const world = await startWorld(context, setup(), template("McpConfig"));
    const plaintext = await world.plaintextOf("agent");
    expect(Object.keys((await world.readSecret("agent")) ?? {}).sort()).toEqual(["api-key", "mcp.json"]);
    await world.declare(template("Env"));
    expect(await world.readSecret("agent")).toEqual({
      "api-key": plaintext,
      KEYPLANE_API_KEY: plaintext,
      KEYPLANE_BASE_URL: "https://keys.example.com",
    });
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });
});
