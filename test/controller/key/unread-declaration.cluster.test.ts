import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import { describeWorldsInSequenceOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { key, NAMESPACE, startWorld } from "../fixtures/world.ts";

describeWorldsInSequenceOnKubernetes("a declaration that only the API server takes", (setup, kubernetes) => {
  it("c113: gives its protected key nothing as it is deleted, and keeps it from no policy", async (context) => {
    const spec = { scopes: ["memory:write"], deletionProtection: true, allowedCIDRs: ["192.0.2.0/24", "127.0.0.0/8"] };
    const world = await startWorld(context, setup(), key("p", { ...spec, rateLimit: { requestsPerMinute: 7 } }));
    const plaintext = await world.plaintextOf("p");
    const { policy } = await world.stored("p");
    const path = `/apis/keyplane.dev/v1beta1/namespaces/${NAMESPACE}${world.tag}/platformkeys/p`;
    const body = JSON.stringify({ spec: { allowedCIDRs: ["10.0.0.5/8"] } });
    const { status } = await kubernetes().request("PATCH", path, { body, contentType: "application/merge-patch+json" });
    expect(status).toBe(200);
    await until("its status says that it is not applied", () => world.condition("Accepted", "p") === "False/Invalid");
    await kubernetes().request("DELETE", path);
    const rules = { teamSelector: {}, allowedScopes: ["memory:read"], gracePeriod: "1s" };
    await world.write({ kind: "PlatformKeyPolicy", name: "readers", namespace: "", spec: rules });
    await until("the policy has ended it", () => world.decide(plaintext, "atoms.create") === "unauthorized");
    expect((await world.stored("p")).policy).toEqual({ ...policy, expiresAt: expect.any(Number) });
  });
});
