/** In which order the controller works on what has changed. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { GARBAGE_COLLECTION_INTERVAL_MS } from "../../controller/garbage-collection.ts";
import { until } from "../env/until.ts";
import { withCalls } from "./fixtures/cluster-calls.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { key, startWorld } from "./fixtures/world.ts";

/** More than are worked on at once. */
const FLOOD = Array.from({ length: 18 }, (_, i) => `new-${i}`);

/** Has each Secret of the flood wait until it is let go. */
function holdingSecrets() {
  const held: (() => void)[] = [];
  let isOpen = false;
  const wrap = withCalls(({ createSecret }) => ({
    async createSecret(draft) {
      if (!isOpen && FLOOD.includes(draft.name)) await new Promise<void>((go) => held.push(go));
      return createSecret(draft);
    },
  }));
  return {
    wrap,
    held,
    open() {
      isOpen = true;
      for (const go of held.splice(0)) go();
    },
  };
}

describeWorlds("a flood of new keys", (setup) => {
  it("c20: is passed by what ends a key, a revocation, a suspension, a deletion, and so are others that are declared ended", async (context) => {
    const { wrap, held, open } = holdingSecrets();
    const world = await startWorld(context, { ...setup(), wrap }, key("revoked"), key("suspended"), key("deleted"));
    context.onTestFinished(open);
    const { id } = await world.stored("deleted");
    await world.write(...FLOOD.map((name) => key(name)));
    await until("every worker has its hands full", () => held.length === 16);
    const born = Array.from({ length: 8 }, (_, i) => [`suspended-${i}`, `revoked-${i}`]).flat();
    await world.write(
      ...born.map((name) => key(name, { state: name.startsWith("suspended") ? "Suspended" : "Revoked" })),
    );
    await until("they are noticed", () => born.every((name) => world.get("PlatformKey", name) !== undefined));
    await world.write(key("revoked", { state: "Revoked" }), key("suspended", { state: "Suspended" }));
    await world.undeclare({ kind: "PlatformKey", namespace: "dev", name: "deleted" });
    await until("the changes are noticed", () =>
      ["revoked", "suspended"].every((name) => world.get("PlatformKey", name)?.spec.state !== "Active"),
    );
    const states = async () => {
      const stored = await world.storedKeys();
      const stateOf = (name: string) => stored.find((one) => one.name === name)?.state;
      return [stateOf("revoked"), stateOf("suspended"), stored.find((one) => one.id === id)?.state];
    };
    expect(await states()).toEqual(["active", "active", "active"]);
    // Each has a worker as soon as one is free.
    for (const go of held.splice(0, 3)) go();
    await until("all of them have ended", async () => (await states()).join() === "revoked,suspended,revoked");
    expect((await world.storedKeys()).filter(({ versions }) => versions[0]?.state === "active").length).toBeLessThan(
      10,
    );
    open();
    await world.rest();
    for (const name of FLOOD) expect(world.condition("Ready", name), name).toBe("True/Ready");
    expect(world.condition("Ready", "suspended-0")).toBe("True/Suspended");
    expect(world.condition("Ready", "revoked-0")).toBe("True/Revoked");
  });
});

describeWorlds("a controller that has just become the leader", (setup) => {
  it("c13: asks at once for what its lists lack, so that leaders that come and go leave nothing to pile up", async (context) => {
    const asked: string[] = [];
    const wrap = withCalls(({ uids, lookUp }) => ({
      uids: (kind) => (kind === "PlatformKey" ? [] : uids(kind)),
      lookUp(ref, uid) {
        asked.push(ref.name);
        return lookUp(ref, uid);
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap }, key("agent"));
    await sql`update keys set created_at = created_at - interval '1 hour'`.execute(world.store.db);
    expect(asked).toEqual([]);
    await world.restart();
    // An interval after the start would be too late.
    await until("it is asked for", () => asked.length > 0, { timeoutMs: GARBAGE_COLLECTION_INTERVAL_MS / 2 });
  });
});
