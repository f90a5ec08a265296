/** Controllers as processes of their own: killed at exact points, and paused while another takes over. */
import { expect, it, type TestContext } from "vitest";
import { describeWorldsInSequenceOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { type KubernetesSide, makeKubernetesSide } from "../controller/fixtures/kubernetes-side.ts";
import { key, startWorld } from "../controller/fixtures/world.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { endState } from "./end-state.ts";
import type { InjectedFault } from "./injector.ts";
import { SCENARIOS, type ScenarioName, usual } from "./scenarios.ts";
import { spawnController } from "./spawn-controller.ts";

/**
 * By row: the scenario, the point, and the highest version number that it ends with. By day one after a write to Kubernetes,
 * and all by night: key-faults.faults.test.ts has each row every day, and kill.faults.test.ts processes that are killed.
 */
const KILLS: readonly (readonly [string, ScenarioName, InjectedFault, number])[] = [
  ["c1", "a first mint", { effect: "commit key.reserved", how: "killed before" }, 1],
  ["c2", "a first mint", { effect: "commit key.reserved", how: "killed after" }, 2],
  ["c4", "a first mint", { effect: "createSecret", how: "killed after" }, 1],
  ["c7", "a first mint", { effect: "commit key.activated", how: "killed after" }, 1],
  ["c9", "a rotation", { effect: "commit key.activated", how: "killed after" }, 2],
  ["c11", "a deletion", { effect: "commit key.revoked", how: "killed after" }, 1],
];
const OF_DAY = ["c4"];

describeWorldsInSequenceOnKubernetes("a controller's process", (setup, kubernetes) => {
  const spawn = (context: TestContext, options: Parameters<typeof spawnController>[2]) =>
    spawnController(context, { kubernetes: kubernetes(), store: setup().store }, options);

  for (const [row, name, fault, lastNumber] of KILLS.filter(([row]) => NIGHTLY || OF_DAY.includes(row))) {
    it(`${row}: ${name} whose process is ${fault.how} ${fault.effect} by SIGKILL ends as it does undisturbed`, async (context) => {
      let side: KubernetesSide | undefined;
      const world = await startWorld(
        context,
        {
          ...setup(),
          async side(shift) {
            side = await makeKubernetesSide(kubernetes(), shift);
            return side;
          },
        },
        key("other"),
        ...SCENARIOS[name].given,
      );
      const before = await world.keyIn("agent");
      await world.stop();
      if (name === "a deletion") await side?.remove(key("agent"));
      else await SCENARIOS[name].act(world);
      const { exit } = await spawn(context, { tag: world.tag, fault });
      expect((await exit)[1]).toBe("SIGKILL");
      await world.start();
      await until(`the end of ${name}`, () => SCENARIOS[name].ended(world));
      await world.rest();
      const seen = before === undefined ? [] : [before];
      expect(await endState(world, ["agent", "other"], seen)).toEqual((await usual(context, setup(), name)).end);
      const stored = (await world.storedKeys()).find((one) => one.name === "agent");
      expect(stored?.lastNumber).toBe(lastNumber);
    });
  }

  it("c21: a leader that was paused in mid-mint writes nothing when it goes on: its successor has the key", async (context) => {
    const world = await startWorld(context, setup());
    const { tag } = world;
    await world.stop();
    const first = await spawn(context, { tag, pausesAfterSecret: "agent" });
    await until("the first leads", () => first.lines.includes("leads"));
    const second = await spawn(context, { tag });
    await world.write(key("agent"));
    await until("the first is paused", async () => (await world.readSecret("agent")) !== undefined);
    await until("the second leads", () => second.lines.includes("leads"));
    const audit = () => world.store.db.selectFrom("audit_events").select("id").execute();
    const active = async () =>
      (await world.storedKeys(await clusterUid())).flatMap(({ versions }) =>
        versions.filter(({ state }) => state === "active").map(({ number }) => number),
      );
    const clusterUid = async () => {
      const { body } = await kubernetes().request("GET", "/api/v1/namespaces/kube-system");
      return `${(body as { metadata: { uid: string } }).metadata.uid}${tag}`;
    };
    await until("the successor has activated it", async () => (await active()).join() === "1");
    await world.write(key("agent", { rotation: { trigger: "next" } }));
    await until("and rotated it", async () => (await active()).join() === "2");
    const plaintext = await world.plaintextOf("agent");
    const before = await audit();

    first.child.kill("SIGCONT");
    await first.exit;
    expect(first.lines.at(-1)).toMatch(/^failed (LeadershipLostError|StaleLeaderError)$/);
    expect(await audit()).toEqual(before);
    expect(await active()).toEqual([2]);
    expect(world.decide(plaintext)).toBe("allowed");
    expect((await world.plaintextOf("agent")) === plaintext, "the Secret is the successor's").toBe(true);
  });
});
