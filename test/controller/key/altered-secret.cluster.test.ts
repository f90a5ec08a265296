/** A Secret that a MutatingAdmissionPolicy of a real API server changes as it is written. */
import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import { alterByPolicy } from "../fixtures/admission.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { key, startWorld } from "../fixtures/world.ts";

const STRIPPED = `[
  JSONPatch{op: "remove", path: "/metadata/ownerReferences"},
  JSONPatch{op: "remove", path: "/metadata/labels"}
]`;
const REWRITTEN = `[JSONPatch{op: "replace", path: "/data/api-key", value: "${btoa("sealed")}"}]`;

describeWorldsOnKubernetes("a Secret that a policy changes as it is written", (setup, kubernetes) => {
  it("c69: without its owner: found at the first answer, used, said, written once a minute, and deleted with the key", async (context) => {
    const world = await startWorld(context, setup());
    const target = { context, kubernetes: kubernetes(), namespace: `dev${world.tag}` };
    const path = `/api/v1/namespaces/${target.namespace}/secrets/agent`;
    const metadata = async () => {
      const { body } = await target.kubernetes.request("GET", path);
      return (body as { metadata: { ownerReferences?: unknown; labels?: unknown; resourceVersion: string } }).metadata;
    };
    const policy = await alterByPolicy(target, STRIPPED);
    await world.declare(key("agent"), key("other"));
    await until("it is said", () => world.condition("Ready", "agent") === "True/SecretAltered");
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    const written = await metadata();
    expect(written).not.toHaveProperty("ownerReferences");
    const message = (await world.status("agent")).conditions.find(({ type }) => type === "Ready")?.message;
    expect(message).toContain("as it is written: metadata.labels[keyplane.dev/key], metadata.ownerReferences.");

    await world.remove(key("other"));
    await until("its Secret is gone", async () => (await world.readSecret("other")) === undefined);

    await policy.end();
    await world.advance(60_000);
    await until("it is as declared", () => world.condition("Ready", "agent") === "True/Ready");
    expect(await metadata()).toMatchObject({ labels: { "keyplane.dev/key": "agent" }, ownerReferences: [{}] });
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("c69: with another value of its key: said, and the same version arrives once that has ended", async (context) => {
    const world = await startWorld(context, setup());
    const target = { context, kubernetes: kubernetes(), namespace: `dev${world.tag}` };
    const policy = await alterByPolicy(target, REWRITTEN);
    await world.declare(key("agent"));
    await until("it is said", () => world.condition("Ready", "agent") === "False/SecretAltered");
    expect((await world.readSecret("agent"))?.["api-key"]).toBe("sealed");
    await policy.end();
    await world.advance(60_000);
    await until("it is as declared", () => world.condition("Ready", "agent") === "True/Ready");
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("c69: that another's finalizer holds: it is deleted once, and its declaration goes", async (context) => {
    let deletions = 0;
    const wrap = withCalls(({ deleteSecret }) => ({
      deleteSecret(read) {
        deletions++;
        return deleteSecret(read);
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap }, key("agent"));
    const plaintext = await world.plaintextOf("agent");
    const path = `/api/v1/namespaces/dev${world.tag}/secrets/agent`;
    const hold = async (finalizers: readonly string[]) => {
      const body = JSON.stringify({ metadata: { finalizers } });
      await kubernetes().request("PATCH", path, { body, contentType: "application/merge-patch+json" });
    };
    await hold(["example.com/backup"]);
    context.onTestFinished(() => hold([]));
    await world.remove(key("agent"));
    expect([deletions, world.decide(plaintext)]).toEqual([1, "unauthorized"]);
    const { body } = await kubernetes().request("GET", path);
    expect(body).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
  });

  it("c69: again and again after it was written: it is put right at once, and from then on every 30 s", async (context) => {
    let writes = 0;
    const wrap = withCalls(({ replaceSecret }) => ({
      replaceSecret(read, draft) {
        writes++;
        return replaceSecret(read, draft);
      },
    }));
    const spec = { secret: { template: "Env" } };
    const world = await startWorld(context, { ...setup(), wrap }, key("agent", spec));
    const plaintext = await world.plaintextOf("agent");
    const address = async () => (await world.readSecret("agent"))?.KEYPLANE_BASE_URL;
    const edit = () => world.editSecret("agent", "http://elsewhere.example", "KEYPLANE_BASE_URL");
    await edit();
    await until("it is put right", async () => (await address()) === "https://keys.example.com");
    await world.rest();
    expect([writes, world.condition("Ready", "agent")]).toEqual([1, "True/Ready"]);
    await edit();
    await until("it is said", () => world.condition("Ready", "agent") === "False/SecretAltered");
    expect((await world.status("agent")).conditions.find(({ type }) => type === "Ready")?.message).toContain(
      "keeps changing Secret agent: data[KEYPLANE_BASE_URL]. It is written again every 30 seconds.",
    );
    expect(writes).toBe(1);
    await world.advance(30_000);
    expect([writes, await address()]).toEqual([2, "https://keys.example.com"]);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(await world.plaintextOf("agent")).toBe(plaintext);
  });
});
