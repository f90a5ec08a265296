import { expect, it } from "vitest";
import type { PlatformKeyArgs } from "../../../infra/pulumi/generated/types.ts";
import { PlatformKey, PlatformTeam } from "../../../infra/pulumi/resources.ts";
import { itByNight } from "../../env/night-test.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";
import { startApiProxy } from "./api-proxy.ts";

describeOnPulumi("a stack whose keys others change", ({ makeStack, manage, call, url }) => {
  it("b77: keeps what it could not destroy while the API was down, and destroys it the next time", async () => {
    const proxy = await startApiProxy(url);
    const { stack, try: run } = await makeStack(
      async () => {
        const { name: team } = new PlatformTeam("team", { name: "down" });
        return { secret: new PlatformKey("key", { team, preset: "MCPReadOnly" }).secret };
      },
      { env: { KEYPLANE_URL: proxy.url } },
    );
    const { outputs } = await stack.up();
    await proxy.close();
    const { out, failed } = await run(stack.destroy());
    expect(failed).toBe(true);
    expect(out).toContain(`no answer from ${proxy.url}`);
    expect(await call(outputs.secret?.value)).toBe(200);
    stack.workspace.envVars.KEYPLANE_URL = url;
    await stack.destroy();
    expect(await call(outputs.secret?.value)).toBe(401);
    expect((await stack.exportStack()).deployment.resources ?? []).toEqual([]);
  });

  it("b77: drops a key that was revoked by hand at its next look, says so, and makes a new one", async () => {
    let args: Partial<PlatformKeyArgs> = {};
    const { stack, try: run } = await makeStack(async () => {
      const { name: team } = new PlatformTeam("team", { name: "by-hand" });
      const { secret, keyID } = new PlatformKey("key", { team, name: "key", preset: "MCPReadOnly", ...args });
      return { secret, keyID };
    });
    const first = (await stack.up()).outputs;
    await manage("POST", `keys/${first.keyID?.value}/revoke`, { reason: "leaked" });
    args = { displayName: "Changed" };
    // Without a look: what cannot be changed any more is not reported as changed.
    const blind = await run(stack.up());
    expect(blind.failed).toBe(true);
    expect(blind.out).toContain("it is not there any more: run `pulumi refresh`");

    const refreshed = await stack.refresh();
    expect(refreshed.stdout).toContain("has been revoked, which is final: the next `pulumi up` makes a new one");
    const { resources } = (await stack.exportStack()).deployment;
    expect(JSON.stringify(resources)).not.toContain("PlatformKey::key");
    const next = (await stack.up()).outputs;
    expect([await call(first.secret?.value), await call(next.secret?.value)]).toEqual([401, 200]);
  });

  itByNight("refuses to write over what another client has changed, until a refresh has read it", async () => {
    let args: Partial<PlatformKeyArgs> = {};
    const { stack, try: run } = await makeStack(async () => {
      const { name: team } = new PlatformTeam("team", { name: "conflict" });
      const spec = { preset: "MCPReadOnly", expiresAfter: "720h" } as const;
      return { keyID: new PlatformKey("key", { team, ...spec, ...args }).keyID };
    });
    const { outputs } = await stack.up();
    const path = `keys/${outputs.keyID?.value}`;
    await manage("PUT", path, { spec: { preset: "MCPReadWrite", expiresAfter: "720h" } });
    args = { displayName: "Ours" };
    const { out, failed } = await run(stack.up());
    expect(failed).toBe(true);
    expect(out).toContain("another client has changed it since this stack last read it: run `pulumi refresh`");
    expect((await manage("GET", path)).body.scopes).toEqual(["memory:read", "memory:write"]);
    await stack.refresh();
    const { stdout } = await stack.preview({ diff: true });
    expect(stdout).toMatch(/~ preset\s*: "MCPReadWrite" => "MCPReadOnly"/);
    expect(stdout, "what no client has changed").not.toContain("expiresAfter");
    await stack.up();
    expect((await manage("GET", path)).body).toMatchObject({ scopes: ["memory:read"], displayName: "Ours" });
  });

  itByNight("goes on from a change of which half was done", async () => {
    const proxy = await startApiProxy(url);
    let args: Partial<PlatformKeyArgs> = { preset: "MCPReadOnly", rotation: { trigger: "1" } };
    const { stack, try: run } = await makeStack(
      async () => {
        const { name: team } = new PlatformTeam("team", { name: "half-done" });
        const { secret, previousSecret, keyID } = new PlatformKey("key", { team, ...args });
        return { secret, previousSecret, keyID };
      },
      { env: { KEYPLANE_URL: proxy.url } },
    );
    const first = (await stack.up()).outputs;
    args = { preset: "MCPReadWrite", rotation: { trigger: "2" } };
    proxy.watch(({ method, path }) => (method === "POST" && path.endsWith("/versions") ? "breaks" : "passes"));
    const { out, failed } = await run(stack.up());
    expect([failed, out]).toEqual([true, expect.stringContaining(`no answer from ${proxy.url}`)]);
    const path = `keys/${first.keyID?.value}`;
    expect((await manage("GET", path)).body).toMatchObject({
      spec: { preset: "MCPReadWrite" },
      versions: [{ number: 1 }],
    });
    expect((await stack.outputs()).secret).toEqual(first.secret);

    const requests: string[] = [];
    proxy.watch(({ method }) => {
      requests.push(method);
      return "passes";
    });
    const next = (await stack.up()).outputs;
    expect(requests.filter((method) => method !== "GET")).toEqual(["POST"]);
    expect(next.previousSecret).toEqual(first.secret);
    expect([await call(first.secret?.value), await call(next.secret?.value)]).toEqual([200, 200]);
    expect((await stack.up()).summary.resourceChanges).toEqual({ same: 3 });
    await proxy.close();
  });

  it("b77: takes up a key that is there without its secret, which cannot be shown again", async () => {
    await manage("POST", "teams", { name: "imported", spec: {} });
    const spec = { preset: "MCPReadOnly", displayName: "Old", expiresAt: "2040-01-01T00:00:00Z" };
    const { body } = await manage("POST", "keys", { name: "old", team: "imported", spec });
    let options: { import?: string } = { import: body.id };
    let rotation: PlatformKeyArgs["rotation"];
    const { stack } = await makeStack(async () => {
      const args: PlatformKeyArgs = { team: "imported", name: "old", preset: "MCPReadOnly", displayName: "Old" };
      const key = new PlatformKey("old", { ...args, expiresAt: spec.expiresAt, rotation }, options);
      return { secret: key.secret, previous: key.previousSecret, prefix: key.prefix };
    });
    const imported = await stack.up();
    expect(imported.summary.resourceChanges).toEqual({ create: 1, import: 1 });
    expect(imported.outputs).toEqual({ prefix: { value: body.prefix, secret: false } });
    expect(await call(body.secret)).toBe(200);

    options = {};
    expect((await stack.up()).summary.resourceChanges).toEqual({ same: 2 });
    rotation = { trigger: "taken over", overlap: "1h" };
    const { outputs } = await stack.up();
    expect(outputs.previous).toBeUndefined();
    expect([await call(body.secret), await call(outputs.secret?.value)]).toEqual([200, 200]);
  });
});
