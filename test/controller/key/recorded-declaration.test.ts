import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import { findKeyDeclaration, recordKeyDeclaration } from "../../../store/keys/rows/key-declarations.ts";
import { until } from "../../env/until.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { key, startWorld } from "../fixtures/world.ts";

describeWorlds("the recorded declaration of a key", (setup) => {
  it("is the spec as it stands in the manifest, and follows its changes", async (context) => {
    const spec = { preset: "MCPReadOnly", rotation: { interval: "720h", overlap: { mode: "Fixed", duration: "2h" } } };
    const world = await startWorld(context, setup(), key("agent", spec));
    const { id } = await world.stored("agent");
    const recorded = async () => (await findKeyDeclaration(world.store.db, id))?.spec;
    expect(await recorded()).toEqual(world.get("PlatformKey", "agent")?.spec);
    expect(Object.keys((await recorded()) ?? {})).toEqual(Object.keys(world.get("PlatformKey", "agent")?.spec ?? {}));
    await world.declare(key("agent", { ...spec, rotation: { interval: "48h" }, deletionPolicy: "Retain" }));
    expect(await recorded()).toMatchObject({ rotation: { interval: "48h" }, deletionPolicy: "Retain" });
    await recordKeyDeclaration(world.store.db, id, {
      ...{ ownerUid: world.get("PlatformKey", "agent")?.uid ?? "", generation: 1, spec: null, labels: {} },
    });
    expect(await recorded(), "an earlier generation replaces no later one").toMatchObject({
      rotation: { interval: "48h" },
    });
  });

  it("has the labels of the declaration, and follows a change of these alone", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { preset: "MCPReadOnly" }));
    const { id } = await world.stored("agent");
    const recorded = async () => (await findKeyDeclaration(world.store.db, id))?.labels;
    expect(await recorded()).toEqual({});
    for (const labels of [{ "cost-center": "4711" }, { "cost-center": "4712", unit: "" }, {}]) {
      await world.declare({ ...key("agent", { preset: "MCPReadOnly" }), labels });
      await until("the labels are recorded", async () => isDeepStrictEqual(await recorded(), labels));
    }
  });

  it("is of a key that its declaration revokes the one that revokes it", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { preset: "MCPReadOnly" }));
    const { id } = await world.stored("agent");
    await world.declare(key("agent", { preset: "MCPReadOnly", state: "Revoked" }));
    expect((await findKeyDeclaration(world.store.db, id))?.spec?.state).toBe("Revoked");
  });

  it("has no digest of an imported secret", async (context) => {
    const sha256 = hash("sha256", "inf_of-elsewhere");
    const source = { type: "ImportHash", hash: { sha256, prefix: "inf_of-elsew" } };
    const world = await startWorld(context, setup(), key("agent", { source, secret: { name: "agent-key" } }));
    const { id } = await world.stored("agent");
    const found = await findKeyDeclaration(world.store.db, id);
    expect(found?.spec?.source).toEqual({ type: "ImportHash" });
    expect(JSON.stringify(found)).not.toContain(sha256);
  });
});
