import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { key, NAMESPACE, startWorld, team } from "../fixtures/world.ts";

describeWorlds("restartTargets", (setup) => {
  it("c115: are restarted once for each secret, also for a new key whose version has the number of the old one's", async (context) => {
    const values: string[] = [];
    const wrap = withCalls(() => ({
      restartWorkload: async (_namespace, _target, { value }) => void values.push(value),
    }));
    const declared = key("agent", { restartTargets: [{ kind: "Deployment", name: "web" }] });
    const world = await startWorld(context, { ...setup(), wrap }, declared);
    const first = await world.plaintextOf("agent");
    await until("it was restarted for", () => values.length === 1);
    await world.restart();
    await world.declare(key("other"));
    expect(values).toHaveLength(1);
    await world.declare(team("team-a", ["elsewhere"]), team("team-b", [NAMESPACE]));
    await until("another key is delivered", async () => {
      const now = await world.keyIn("agent");
      return now !== undefined && now !== first;
    });
    await until("it was restarted for", () => values.length === 2);
    expect(new Set(values).size).toBe(2);
  });

  it("that an issued key comes to name are restarted with its next version, and not before", async (context) => {
    const restarted: string[] = [];
    const wrap = withCalls(() => ({ restartWorkload: async (_namespace, { name }) => void restarted.push(name) }));
    const naming = (trigger: string, ...names: string[]) =>
      key("agent", { rotation: { trigger }, restartTargets: names.map((name) => ({ kind: "Deployment", name })) });
    const world = await startWorld(context, { ...setup(), wrap }, naming("first"));
    await world.declare(naming("first", "web"));
    await world.declare(naming("first", "web", "worker"));
    await world.restart();
    expect(restarted).toEqual([]);
    await world.declare(naming("second", "web", "worker"));
    await until("both are restarted", () => restarted.length === 2);
    expect(restarted.toSorted()).toEqual(["web", "worker"]);
  });
});
