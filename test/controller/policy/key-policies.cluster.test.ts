/** Policies on a real API server, where finalizers hold what is being deleted and a status is what people see. */
import { expect, it } from "vitest";
import { describeWorldsOnOwnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { makeKubernetesSide } from "../fixtures/kubernetes-side.ts";
import { key, type Manifest, startWorld } from "../fixtures/world.ts";

const policy = (spec: Record<string, unknown>, name = "production"): Manifest => ({
  kind: "PlatformKeyPolicy",
  name,
  namespace: "",
  spec: { teamSelector: { matchNames: ["team-a"] }, ...spec },
});
const WRITER = { scopes: ["memory:read", "memory:write"] };

describeWorldsOnOwnKubernetes("keys of a team with policies", (setup, kubernetes) => {
  it("c77: hold to none that is being deleted, which says so for as long as a finalizer holds it", async (context) => {
    const READ_ONLY = policy({ allowedScopes: ["memory:read"] });
    const world = await startWorld(context, setup(), READ_ONLY, key("agent", WRITER));
    const { patch, read, remove } = await makeKubernetesSide(kubernetes(), NO_SHIFT, { tag: world.tag });
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    await patch(READ_ONLY, { metadata: { finalizers: ["example.com/held"] } });
    await remove(READ_ONLY);
    await world.rest();
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(await read(READ_ONLY)).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
    expect(world.condition("Ready", "production", "PlatformKeyPolicy", "")).toBe("False/Deleting");
    const shown = await kubernetes().kubectl(["get", "platformkeypolicies", `production${world.tag}`, "-o", "wide"]);
    expect(shown).toMatch(/False +Deleting/);
    expect(shown).toContain(
      "asks nothing of any key any more. It goes once its finalizers are taken off: example.com/held.",
    );
    expect(shown).not.toContain(`team-a${world.tag}`);
    await patch(READ_ONLY, { metadata: { finalizers: null } });
  });
});

const NO_SHIFT = { ahead: 0, off: 0, databaseOff: 0 };
