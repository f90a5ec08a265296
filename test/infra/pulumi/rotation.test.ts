import { expect, it } from "vitest";
import type { PlatformKeyArgs } from "../../../infra/pulumi/generated/types.ts";
import { PlatformKey, PlatformTeam } from "../../../infra/pulumi/resources.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";
import { until } from "../../env/until.ts";

describeOnPulumi("the rotation of a key", ({ makeStack, call }) => {
  it("gives a new secret when its trigger changes or its interval has passed, beside the old one for the overlap", async () => {
    let rotation: PlatformKeyArgs["rotation"] = { trigger: "1" };
    const { stack } = await makeStack(async () => {
      const { name: team } = new PlatformTeam("team", { name: "rotated" });
      const { secret, previousSecret, versions } = new PlatformKey("key", { team, preset: "MCPReadOnly", rotation });
      return { secret, previousSecret, newest: versions.apply((all) => all?.[0]) };
    });
    const first = (await stack.up()).outputs;
    expect(first.previousSecret).toBeUndefined();

    rotation = { trigger: "2", overlap: "1h" };
    expect((await stack.preview()).stdout).toContain("rotation.trigger has changed: it gets a new secret");
    const second = (await stack.up()).outputs;
    expect(second.previousSecret).toEqual(first.secret);
    expect([await call(first.secret?.value), await call(second.secret?.value)]).toEqual([200, 200]);

    rotation = { trigger: "2", interval: "1s", overlap: "1s" };
    await until("the interval to pass", () => Date.now() - Date.parse(second.newest?.value.mintedAt) > 1_000);
    const due = await stack.up();
    expect(due.stdout).toContain("it is older than rotation.interval: it gets a new secret");
    expect(due.outputs.previousSecret).toEqual(second.secret);
    await until("the overlap to end", async () => (await call(second.secret?.value)) === 401);

    rotation = { trigger: "2", interval: "24h" };
    // Nothing but time has changed what is true.
    const over = (await stack.up()).outputs;
    expect(over.secret).toEqual(due.outputs.secret);
    expect(over.previousSecret).toBeUndefined();
    expect(await call(over.secret?.value)).toBe(200);

    rotation = { trigger: "3", overlap: "0s" };
    const last = (await stack.up()).outputs;
    expect(last.previousSecret).toBeUndefined();
    expect([await call(over.secret?.value), await call(last.secret?.value)]).toEqual([401, 200]);
  });
});
