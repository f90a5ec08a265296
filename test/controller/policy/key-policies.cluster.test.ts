/** Policies on a real API server, where finalizers hold what is being deleted and a status is what people see. */
import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import { describeWorldsInSequenceOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { makeKubernetesSide } from "../fixtures/kubernetes-side.ts";
import { key, type Manifest, startWorld } from "../fixtures/world.ts";

const policy = (spec: Record<string, unknown>, name = "production"): Manifest => ({
  kind: "PlatformKeyPolicy",
  name,
  namespace: "",
  spec: { teamSelector: { matchNames: ["team-a"] }, ...spec },
});
const WRITER = { scopes: ["memory:read", "memory:write"] };

describeWorldsInSequenceOnKubernetes("keys of a team with policies", (setup, kubernetes) => {
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

  it("b256: have one of the places among 20 that are declared at once, and no others are issued", async (context) => {
    const world = await startWorld(context, setup(), policy({ maxKeys: 5, gracePeriod: "1s" }));
    const names = Array.from({ length: 20 }, (_, i) => `agent-${i}`);
    await Promise.all(names.map((name) => world.write(key(name))));
    const having = (condition: string) => names.filter((name) => world.condition("Ready", name) === condition);
    await until("each has none, or one and its key", () => {
      const [none, one] = [having("False/PolicyViolated"), having("True/Ready")];
      return none.length === 15 && one.length === 5;
    });
    const stored = (await world.storedKeys()).map(({ name }) => name);
    expect(having("True/Ready").toSorted()).toEqual(stored.toSorted());
  });

  it("has an edit applied that was kept off, once the team's labels let no policy select it", async (context) => {
    const labelled = { kind: "PlatformTeam", name: "team-a", namespace: "", spec: { namespaces: ["dev"] } } as const;
    const world = await startWorld(
      context,
      setup(),
      { ...labelled, labels: { tier: "" } },
      policy({
        teamSelector: { matchNames: ["team-a"], matchExpressions: [{ key: "tier", operator: "In", values: [""] }] },
        allowedScopes: ["memory:read"],
      }),
      key("agent", { scopes: ["memory:read"] }),
    );
    await world.declare(key("agent", WRITER));
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    await world.write({ ...labelled, labels: { tier: "free" } });
    await until("the edit is applied", () => world.condition("Ready", "agent") === "True/Ready");
    expect((await world.stored("agent")).policy.scopes).toEqual(WRITER.scopes);
    await world.write({ ...labelled, labels: { tier: "" } });
    await until("it has a deadline", async () => (await world.stored("agent")).policy.expiresAt !== null);
    await until("its status says so", () => world.condition("PolicyViolated", "agent") !== undefined);
  });

  it("b228: goes on with none where its gateway is gone, also while an edit to one that is not allowed is kept off", async (context) => {
    const gateway = (name: string): Manifest => ({
      kind: "ModelGateway",
      name,
      spec: {
        publicID: `going-${name}`,
        upstreams: [
          {
            ...{ name: "openai", dialect: "openai", baseURL: "https://api.example.com" },
            credentialRef: { name: "provider", key: "api-key" },
          },
        ],
      },
    });
    const bound = (name: string) => ({ preset: "GatewayDefault", gatewayRef: { name } });
    const world = await startWorld(
      context,
      setup(),
      { kind: "Secret", name: "provider", stringData: { "api-key": "sk-one" } },
      gateway("main"),
      gateway("other"),
      policy({ allowedGateways: [{ namespace: "dev", name: "main" }], gracePeriod: "1h" }),
      key("agent", bound("main")),
    );
    await until("it is ready", () => world.condition("Ready", "agent") === "True/Ready");
    await world.remove(gateway("main"));
    await until("it is seen", () => world.condition("Ready", "agent") === "False/ReferenceNotFound");
    expect((await world.stored("agent")).policy).toMatchObject({ boundGatewayId: "", expiresAt: null });
    await world.declare(key("agent", bound("other")));
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    expect((await world.stored("agent")).policy).toMatchObject({ boundGatewayId: "", expiresAt: null });
    await world.declare(key("agent", bound("main")), gateway("main"));
    await until("it is ready", () => world.condition("Ready", "agent") === "True/Ready");
  });

  it("is not issued beside a policy of a later version of Keyplane, which says what of it cannot be read", async (context) => {
    // Before the controller watches: for a while the API server goes on with a watch by the definition of before.
    const crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/platformkeypolicies.keyplane.dev";
    const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/futureRule";
    const { status } = await kubernetes().request("PATCH", crd, {
      body: JSON.stringify([{ op: "add", path, value: { type: "boolean" } }]),
      contentType: "application/json-patch+json",
    });
    expect(status).toBe(200);
    const world = await startWorld(context, setup(), policy({ maxKeys: 5 }), key("agent", { scopes: ["memory:read"] }));
    const { read } = await makeKubernetesSide(kubernetes(), NO_SHIFT, { tag: world.tag });
    const later = policy({ maxKeys: 4, futureRule: true });
    await until("the field is known", async () => {
      await world.write(later);
      return JSON.stringify(await read(later)).includes('"futureRule":true');
    });
    const { list, uids } = world.cluster();
    await until("it is seen", () => list("PlatformKeyPolicy").length < uids("PlatformKeyPolicy").length);
    await world.write(key("next", { scopes: ["memory:read"] }));
    await until("no new key is issued", () => world.condition("Ready", "next") === "False/PolicyUnreadable");
    await until("its status says so", async () => JSON.stringify((await read(later))?.status).includes('"Invalid"'));
    expect(JSON.stringify((await read(later))?.status)).toContain("spec.futureRule");
    expect((await world.stored("agent")).policy).toMatchObject({ suspended: false, expiresAt: null });
    await world.write(policy({ maxKeys: 4 }));
    await until("it is issued", () => world.condition("Ready", "next") === "True/Ready");
  });
});

const NO_SHIFT = { ahead: 0, off: 0, databaseOff: 0 };
