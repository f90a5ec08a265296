import { expect, it } from "vitest";
import { until } from "../env/until.ts";
import { withCalls } from "./fixtures/cluster-calls.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { NAMESPACE, startWorld, team } from "./fixtures/world.ts";

describeWorlds("a team whose change cannot be applied", (setup) => {
  it("c105: is not ready, says why, and is again once it can be applied", async (context) => {
    const secret = { fails: false };
    const wrap = withCalls((cluster) => ({
      async readSecret(namespace, name) {
        if (secret.fails) throw new Error("the Secret cannot be read now");
        return cluster.readSecret(namespace, name);
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap }, team("labs", [NAMESPACE]));
    const ready = () => world.condition("Ready", "labs", "PlatformTeam");
    expect(ready()).toBe("True/Ready");
    secret.fails = true;
    const secretRef = { namespace: NAMESPACE, name: "signing", key: "secret" };
    const webhook = { url: "https://hooks.example.com/", events: ["key.revoked"], secretRef };
    await world.write(team("labs", [NAMESPACE], { webhooks: [webhook] }));
    await until("it is not ready", () => ready() === "False/Retrying");
    const conditions = world.get("PlatformTeam", "labs")?.status?.conditions ?? [];
    expect(conditions.find(({ type }) => type === "Ready")?.message).toContain("the Secret cannot be read now");
    secret.fails = false;
    await until("it is no longer retried", () => ready() !== "False/Retrying");
    expect(world.get("PlatformTeam", "labs")?.status?.conditions?.map(({ reason }) => reason)).not.toContain(
      "Retrying",
    );
  });
});
