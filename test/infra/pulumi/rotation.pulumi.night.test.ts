import { expect, it } from "vitest";
import type { PlatformKeyArgs } from "../../../infra/pulumi/generated/types.ts";
import { PlatformKey, PlatformTeam } from "../../../infra/pulumi/resources.ts";
import { itByNight } from "../../env/night-test.ts";
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

  itByNight(
    "c56: is refused where four old secrets work, with the time of the next, and ends none of them",
    async () => {
      let trigger = 0;
      let overlap = "1h";
      const made = await makeStack(async () => {
        const { name: team } = new PlatformTeam("team", { name: "crowded" });
        const rotation = { trigger: String(trigger), overlap };
        return { secret: new PlatformKey("key", { team, preset: "MCPReadOnly", rotation }).secret };
      });
      const secrets = [];
      for (; trigger < 5; trigger++) secrets.push((await made.stack.up()).outputs.secret?.value);
      const { failed, out } = await made.try(made.stack.up());
      expect(failed).toBe(true);
      expect(out).toMatch(/the next of them ends at 20[-\d]+T[\d:.]+Z/);
      expect(out).toContain('rotation.overlap: "0s"');
      for (const secret of secrets) expect(await call(secret)).toBe(200);

      overlap = "0s";
      const last = (await made.stack.up()).outputs.secret?.value;
      expect(await call(last)).toBe(200);
      for (const secret of secrets) expect(await call(secret)).toBe(401);
    },
  );
});
