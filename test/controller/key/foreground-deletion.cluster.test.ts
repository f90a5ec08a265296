/** Deletions in the foreground, in which Kubernetes deletes what belongs to an object first, on a real API server. */
import { expect, it } from "vitest";
import type { Kubernetes } from "../../env/kubernetes/client.ts";
import { until } from "../../env/until.ts";
import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { key, NAMESPACE, startWorld } from "../fixtures/world.ts";

type World = Awaited<ReturnType<typeof startWorld>>;

describeWorldsOnKubernetes("a deletion in the foreground", (setup, kubernetes) => {
  it("c110: leaves a key with Retain and its Secret, also where Retain was declared later or the Secret is immutable", async (context) => {
    const retain = { deletionPolicy: "Retain" };
    const world = await startWorld(context, setup(), key("born", retain), key("turned"), key("immutable"));
    await change(kubernetes(), secretPath(world, "immutable"), { immutable: true });
    await world.declare(key("turned", retain), key("immutable", retain));
    const names = ["born", "turned", "immutable"];
    await until("no Secret is collected with its declaration", async () => {
      const owners = await Promise.all(names.map((name) => ownersOf(kubernetes(), world, name)));
      return owners.every((references) => references === 0);
    });
    const texts = await Promise.all(names.map((name) => world.plaintextOf(name)));
    for (const name of names) await deleteInForeground(kubernetes(), world, name);
    await until("the declarations are gone", () => world.cluster().list("PlatformKey").length === 0);
    for (const [i, name] of names.entries()) {
      expect([name, (await world.keyIn(name)) === texts[i], world.decide(texts[i] ?? "")]).toEqual([
        name,
        true,
        "allowed",
      ]);
      const { body } = await kubernetes().request("GET", secretPath(world, name));
      expect(body).not.toHaveProperty(["metadata", "annotations", "keyplane.dev/owner-uid"]);
    }
  });

  it("c110: leaves the Secret of a protected key, which goes with the key once the protection is lifted", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { deletionProtection: true }), key("other"));
    const text = await world.plaintextOf("agent");
    for (const name of ["agent", "other"]) await deleteInForeground(kubernetes(), world, name);
    await until("the other key is gone, and its Secret", async () => {
      const { status } = await kubernetes().request("GET", secretPath(world, "other"));
      return status === 404 && world.get("PlatformKey", "other") === undefined;
    });
    await until("the deletion waits", () => world.condition("Ready", "agent") === "False/DeletionProtected");
    expect([(await world.keyIn("agent")) === text, world.decide(text)]).toEqual([true, "allowed"]);
    await change(kubernetes(), keyPath(world, "agent"), { spec: { deletionProtection: false } });
    await until("the key is gone, and its Secret", async () => {
      const { status } = await kubernetes().request("GET", secretPath(world, "agent"));
      return status === 404 && world.get("PlatformKey", "agent") === undefined;
    });
    expect(world.decide(text)).not.toBe("allowed");
  });

  it("is for a key whose Retain was taken back what it is for any other: its Secret names its owner again", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { deletionPolicy: "Retain" }));
    await world.declare(key("agent"));
    await until("it has", async () => (await ownersOf(kubernetes(), world, "agent")) === 1);
    const { body } = await kubernetes().request("GET", secretPath(world, "agent"));
    expect(body).not.toHaveProperty(["metadata", "annotations", "keyplane.dev/owner-uid"]);
  });
});

const namespaceOf = ({ tag }: World) => `${NAMESPACE}${tag}`;
const secretPath = (world: World, name: string) => `/api/v1/namespaces/${namespaceOf(world)}/secrets/${name}`;
const keyPath = (world: World, name: string) =>
  `/apis/keyplane.dev/v1beta1/namespaces/${namespaceOf(world)}/platformkeys/${name}`;

async function change(kubernetes: Kubernetes, path: string, patch: object): Promise<void> {
  const contentType = "application/merge-patch+json";
  const { status } = await kubernetes.request("PATCH", path, { body: JSON.stringify(patch), contentType });
  expect(status).toBe(200);
}

async function deleteInForeground(kubernetes: Kubernetes, world: World, name: string): Promise<void> {
  const { status } = await kubernetes.request("DELETE", `${keyPath(world, name)}?propagationPolicy=Foreground`);
  expect([200, 202]).toContain(status);
}

/** The number of owner references on a key's Secret. */
async function ownersOf(kubernetes: Kubernetes, world: World, name: string): Promise<number> {
  const { body } = await kubernetes.request("GET", secretPath(world, name));
  return (body as { metadata: { ownerReferences?: unknown[] } }).metadata.ownerReferences?.length ?? 0;
}
