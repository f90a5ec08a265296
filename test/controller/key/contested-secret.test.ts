import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import { describeWorldsOnEachCluster, describeWorldsOnKubernetes } from "../fixtures/setup.ts";
import { HOUR, key, startWorld, type World } from "../fixtures/world.ts";

const MINUTE = 60_000;
const delivered = async (world: World) =>
  (await world.status("agent")).conditions.find(({ type }) => type === "SecretDelivered");

describeWorldsOnEachCluster("a Secret that somebody keeps deleting", (setup) => {
  it("c51: ends no version before its time: the fourth new one waits 5 minutes, and the next for the first's end", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const keys: string[] = [];
    for (const waitMs of [0, 5_000, 30_000, 5 * MINUTE]) {
      keys.push(await world.plaintextOf("agent"));
      await world.loseSecret("agent");
      world.poke("agent");
      if (waitMs > 0) {
        await until("it is told", async () => (await delivered(world))?.reason === "SecretContested");
        expect(await world.keyIn("agent")).toBeUndefined();
        await world.advance(waitMs);
      }
      await until("another key", async () => ![undefined, ...keys].includes(await world.keyIn("agent")));
      await world.rest();
    }
    keys.push(await world.plaintextOf("agent"));
    expect(keys.map((one) => world.decide(one))).toEqual(Array(5).fill("allowed"));

    await world.loseSecret("agent");
    world.poke("agent");
    const said = await until("it is told", async () => {
      const condition = await delivered(world);
      return condition?.reason === "SecretContested" ? condition.message : undefined;
    });
    const { versions } = await world.stored("agent");
    const end = versions.at(-1)?.retireAt ?? 0;
    expect(said).toContain("deleted or edited 5 times within the overlap (deleted 20");
    expect(said).toContain(`the next one is minted at ${new Date(end).toISOString().replace(/\.\d+Z$/, "Z")}`);
    expect(said).toContain("nobody else had left a mark on it");
    await world.advance(HOUR);
    expect(await world.keyIn("agent")).toBeUndefined();
    expect(keys.map((one) => world.decide(one))).toEqual(Array(5).fill("allowed"));
    expect(world.condition("Reconciling", "agent")).toBe("True/SecretContested");

    await world.advance(end - world.clock.now());
    const [first, ...others] = keys;
    const next = await until("another key", async () => world.keyIn("agent"));
    await world.rest();
    expect([first, ...others, next].map((one) => world.decide(one ?? ""))).toEqual([
      "unauthorized",
      ...Array(5).fill("allowed"),
    ]);
  });
});

describeWorldsOnKubernetes("who keeps deleting a Secret", (setup, kubernetes) => {
  it("c51: is told by the marks on it: field managers, and those of Argo CD, Flux and Helm, without a key in them", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const path = `/api/v1/namespaces/dev${world.tag}/secrets/agent`;
    const marksRecorded = async () =>
      (await world.stored("agent")).secretFound?.marks.some((mark) => mark.includes("team-a"));
    const mark = async () => {
      const metadata = {
        labels: {
          "kustomize.toolkit.fluxcd.io/name": "team-a",
          "app.kubernetes.io/instance": "x".repeat(63),
          "app.kubernetes.io/part-of": "untold",
        },
        annotations: {
          "argocd.argoproj.io/tracking-id": `apps:/Secret:dev/${await world.plaintextOf("agent")}\u001b[2J`,
          "meta.helm.sh/release-name": "y".repeat(1_000),
        },
      };
      const { status, body } = await kubernetes().request("PATCH", `${path}?fieldManager=argocd-controller`, {
        body: JSON.stringify({ metadata }),
        contentType: "application/merge-patch+json",
      });
      expect(status, JSON.stringify(body)).toBe(200);
      await until("the marks are recorded", marksRecorded);
    };
    await mark();
    await world.loseSecret("agent");
    await until("another key", () => world.keyIn("agent"));
    await world.rest();
    expect((await world.stored("agent")).secretFound?.marks).toEqual([]);
    await mark();
    await world.restart();
    await world.loseSecret("agent");
    const said = await until("it is told", async () => {
      const condition = await delivered(world);
      return condition?.reason === "SecretContested" ? condition.message : undefined;
    });
    expect(said).toContain("field manager argocd-controller");
    expect(said).toContain("label kustomize.toolkit.fluxcd.io/name=team-a");
    expect(said).toContain("annotation argocd.argoproj.io/tracking-id=apps:/Secret:dev/inf_...");
    for (const absent of ["untold", "keyplane-test", "\u001b"]) expect(said).not.toContain(absent);
    expect(said.length).toBeLessThan(1_500);
  });
});
