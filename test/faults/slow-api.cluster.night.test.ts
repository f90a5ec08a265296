/** A controller whose API server takes 5 s for each answer: for three terms of its Lease, or for ten minutes by night. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { describeWorldsInSequenceOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { key, startWorld } from "../controller/fixtures/world.ts";
import { type ApiCall, startApiProxy } from "../env/kubernetes/api-proxy.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { spawnController } from "./spawn-controller.ts";

const ANSWER_MS = 5_000;
/** Each takes an answer. */
const RENEWALS = NIGHTLY ? 120 : 6;
/** For what hangs. */
const patience = { timeoutMs: 10 * RENEWALS * ANSWER_MS };

const NAMES = ["one", "two"];
const overlap = { mode: "Fixed", duration: "1h" };

describeWorldsInSequenceOnKubernetes("an API server that is slow", (setup, kubernetes) => {
  it("c67: answers of 5 s end no leadership, and stop no rotation and no revocation", {
    timeout: 2 * patience.timeoutMs,
  }, async (context) => {
    const api = await startApiProxy(kubernetes());
    context.onTestFinished(() => api.close());
    const declared = [...NAMES, "ended"].map((name) => key(name, { rotation: { overlap } }));
    const world = await startWorld(context, setup(), ...declared);
    const ended = await world.plaintextOf("ended");
    await world.stop();

    api.rule(() => delay(ANSWER_MS).then(() => undefined));
    const { tag } = world;
    const on = { kubernetes: kubernetes(), store: setup().store };
    const leader = await spawnController(context, on, { tag, kubeconfig: api.kubeconfigPath });
    await until("it leads", () => leader.lines.includes("leads"), patience);
    const isRenewal = ({ method, path }: ApiCall) => method === "PUT" && path.endsWith(`/leases/controller${tag}`);

    await world.write(...NAMES.map((name) => key(name, { rotation: { overlap, trigger: "next" } })));
    await world.write(key("ended", { rotation: { overlap }, state: "Revoked" }));
    for (const name of NAMES) {
      await until(`${name} is rotated`, async () => (await world.status(name)).currentVersion === 2, patience);
      expect(world.decide(await world.plaintextOf(name))).toBe("allowed");
    }
    await until("the revocation is felt", () => world.decide(ended) === "unauthorized", patience);
    await until(
      "it has renewed its Lease for long",
      () => leader.lines.some((line) => line.startsWith("failed")) || api.calls.filter(isRenewal).length >= RENEWALS,
      patience,
    );
    expect(leader.lines.filter((line) => /^failed|the lease/.test(line))).toEqual([]);
    leader.child.kill("SIGTERM");
    await leader.exit;
    expect(leader.lines.at(-1)).toBe("ended");
  });
});
