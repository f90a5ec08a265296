/** A Secret that a person has made immutable, on a real API server: its metadata can be changed, and its data not. */
import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { key, startWorld } from "../fixtures/world.ts";

describeWorldsOnKubernetes("an immutable Secret", (setup, kubernetes) => {
  it.for<[left: string, data: Record<string, string>]>([
    ["c75: of a key", {}],
    ["b470: that also holds what is no text, of a key", { logo: "/9j/4AAQ" }],
  ])("%s with deletionPolicy Retain is left to it as the declaration goes", async ([, data], context) => {
    const world = await startWorld(context, setup(), key("agent", { deletionPolicy: "Retain" }));
    const plaintext = await world.plaintextOf("agent");
    const path = `/api/v1/namespaces/dev${world.tag}/secrets/agent`;
    const { status } = await kubernetes().request("PATCH", path, {
      body: JSON.stringify({ immutable: true, data }),
      contentType: "application/merge-patch+json",
    });
    expect(status).toBe(200);
    await world.remove(key("agent"));
    await until("the declaration is gone", () => world.cluster().list("PlatformKey").length === 0);
    const { body } = await kubernetes().request("GET", path);
    expect(body).toMatchObject({ immutable: true, data });
    expect(body).not.toHaveProperty("metadata.ownerReferences");
    expect(await world.plaintextOf("agent")).toBe(plaintext);
    expect(world.decide(plaintext)).toBe("allowed");
  });
});
