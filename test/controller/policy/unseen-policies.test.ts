import { expect, it } from "vitest";
import type { Cluster, ObjectRef } from "../../../controller/cluster/port.ts";
import type { Presence } from "../../../domain/garbage-collection.ts";
import { until } from "../../env/until.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, type Manifest, startWorld, type World, type WorldSetup } from "../fixtures/world.ts";

const GOLD = { tier: "gold" };
const WRITER = { scopes: ["memory:read", "memory:write"] };

const team = (labels = GOLD): Manifest => ({
  kind: "PlatformTeam",
  name: "team-a",
  namespace: "",
  labels,
  spec: { namespaces: ["dev"] },
});
const policy = (labels: Record<string, string> = {}): Manifest => ({
  kind: "PlatformKeyPolicy",
  name: "gold",
  namespace: "",
  labels,
  spec: {
    teamSelector: { matchExpressions: [{ key: "tier", operator: "In", values: ["gold"] }] },
    gracePeriod: "1h",
    allowedScopes: ["memory:read"],
  },
});

/** A setup in which the view of the cluster can lack objects that are there, as after an empty list. */
function withGaps(setup: WorldSetup) {
  const gaps = {
    lacks: (_: Pick<ObjectRef, "kind" | "name">) => false,
    /** What the cluster says of an object that its view lacks. */
    presence: "unknown" as Presence,
  };
  const wrap: NonNullable<WorldSetup["wrap"]> = (cluster, store) => ({
    store,
    cluster: {
      ...cluster,
      get(kind, namespace, name) {
        return gaps.lacks({ kind, name }) ? undefined : cluster.get(kind, namespace, name);
      },
      list: (kind) => cluster.list(kind).filter((one) => !gaps.lacks(one)),
      uids(kind) {
        const lacked = cluster.list(kind).filter(gaps.lacks);
        return cluster.uids(kind).filter((uid) => !lacked.some((one) => one.uid === uid));
      },
      lookUp: async (ref, uid) => (gaps.lacks(ref) ? gaps.presence : cluster.lookUp(ref, uid)),
    } satisfies Cluster,
  });
  return { gaps, setup: { ...setup, wrap } };
}

/** Has another process go on; what its view lacks is never at rest. */
async function startAnew(world: World): Promise<void> {
  await world.stop();
  await world.start();
}

describeWorlds("c107: keys whose team or policy the controller's view of the cluster lacks", (setup) => {
  it("are held to the policies that the team's stored labels have select it", async (context) => {
    const { gaps, setup: gapped } = withGaps(setup());
    const world = await startWorld(context, gapped, key("old", WRITER));
    await world.declare(team(), policy());
    await world.advance(2 * HOUR);
    expect(world.condition("Ready", "old")).toBe("False/PolicyViolated");
    const selected = () => world.get("PlatformKeyPolicy", "gold", "")?.status?.teams;
    const before = selected();

    gaps.lacks = ({ kind }) => kind === "PlatformTeam";
    await world.declare(policy({ looked: "at" }));
    await world.declare(key("new", WRITER), key("allowed", { scopes: ["memory:read"] }));
    world.poke("old");
    await world.rest();
    const found = ["old", "new", "allowed"].map((name) => world.condition("Ready", name));
    expect(found).toEqual(["False/PolicyViolated", "False/PolicyViolated", "True/Ready"]);
    expect(selected()).toEqual(before);
    expect(await world.keyIn("new")).toBeUndefined();
  });

  it("get no new key while a stored policy is not seen, and are judged once it is", async (context) => {
    const { gaps, setup: gapped } = withGaps(setup());
    const world = await startWorld(context, gapped, key("old", WRITER));
    await world.declare(team(), policy(), key("new", WRITER));
    await world.advance(2 * HOUR);
    const ready = () => ["old", "new"].map((name) => world.condition("Ready", name));
    expect(ready()).toEqual(["False/PolicyViolated", "False/PolicyViolated"]);
    const { expiresAt } = (await world.stored("old")).policy;

    gaps.lacks = ({ kind }) => kind === "PlatformKeyPolicy";
    await startAnew(world);
    await until("it is seen", () => ready()[1] === "False/PolicyUnreadable");
    const { conditions } = await world.status("new");
    expect(conditions[0]?.message).toContain("The cluster does not show PlatformKeyPolicy gold");
    expect(await world.keyIn("new")).toBeUndefined();
    expect((await world.stored("old")).policy.expiresAt).toBe(expiresAt);

    gaps.lacks = () => false;
    await world.write(policy({ seen: "again" }));
    await until("they are judged", () => ready().every((one) => one === "False/PolicyViolated"));
  });

  it("get their keys where no policy may select their team", async (context) => {
    const { gaps, setup: gapped } = withGaps(setup());
    const world = await startWorld(context, gapped, team({ tier: "free" }), policy());
    gaps.lacks = ({ kind }) => kind === "PlatformKeyPolicy";
    await startAnew(world);
    await world.write(key("new", WRITER));
    await until("it is issued", () => world.condition("Ready", "new") === "True/Ready");
  });

  it("get their keys as soon as the cluster says that the policy is gone", async (context) => {
    const often = { intervalsMs: { madeKeys: 200, resync: HOUR } };
    const { gaps, setup: gapped } = withGaps({ ...setup(), ...often });
    const world = await startWorld(context, gapped, team(), policy(), key("new", WRITER));
    gaps.lacks = ({ kind }) => kind === "PlatformKeyPolicy";
    await startAnew(world);
    await until("it waits", () => world.condition("Ready", "new") === "False/PolicyUnreadable");
    gaps.presence = "gone";
    await until("it is issued", () => world.condition("Ready", "new") === "True/Ready");
  });
});
