/** What the controller makes good though no event reports it, and what it claims and does only while it may. */
import { sql } from "kysely";
import { describe, expect, it, type TestContext } from "vitest";
import { takeLeadership } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { deregisterReplica, heartbeat, registerReplica } from "../../store/replicas/replicas.ts";
import { openByAnyPlans } from "../env/database/engines.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { feedHead } from "../store/questions.ts";
import { withCalls } from "./fixtures/cluster-calls.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { key, library, makeWorld, NAMESPACE, NO_VIEW, startWorld, team } from "./fixtures/world.ts";

async function openStore(context: TestContext): Promise<Store> {
  const store = await openByAnyPlans();
  context.onTestFinished(() => store.close());
  return store;
}

/** A replica that lives and acknowledges nothing, until it is let go. */
async function stickReplica(context: TestContext, store: Store): Promise<() => Promise<void>> {
  await registerReplica(store, "stuck", { leaseMs: 60_000 });
  const beat = setInterval(() => heartbeat(store, "stuck", { seq: 0, id: null }).catch(() => {}), 500);
  context.onTestFinished(() => clearInterval(beat));
  return async () => {
    clearInterval(beat);
    await deregisterReplica(store, "stuck");
  };
}

/** Counts how often each Secret is read: each look at a key reads its own. */
function countingReads() {
  const reads = new Map<string, number>();
  const wrap = withCalls(({ readSecret }) => ({
    readSecret(namespace, name) {
      reads.set(name, (reads.get(name) ?? 0) + 1);
      return readSecret(namespace, name);
    },
  }));
  return { wrap, looks: (name: string) => reads.get(name) ?? 0 };
}

describeWorlds("the round over everything", (setup) => {
  it("I8: undoes what the store says against the declaration, as a restored database does", async (context) => {
    const world = await startWorld(
      context,
      { ...setup(), intervalsMs: { resync: 1_000 } },
      key("agent", { state: "Suspended" }),
    );
    await world.declare(key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await world.declare(key("agent", { state: "Suspended" }));
    expect(world.decide(plaintext)).toBe("unauthorized");
    const { id } = await world.stored("agent");
    await sql`update keys set state = 'active', generation = 1 where id = ${id}`.execute(world.store.db);
    await until("the suspension", async () => (await world.stored("agent")).state === "suspended");
    await until("the key is refused again", () => world.decide(plaintext) === "unauthorized");
  });

  it("only reads where all is as declared", async (context) => {
    const { wrap, looks } = countingReads();
    const store = await openStore(context);
    const world = await startWorld(
      context,
      { store, view: NO_VIEW, wrap, intervalsMs: { resync: 500 } },
      library("handbook"),
      key("agent"),
    );
    const state = async () => ({
      head: await feedHead(store),
      audit: (await sql<{ n: number }>`select count(*)::int as n from audit_events`.execute(store.db)).rows[0]?.n,
      versions: [
        world.get("PlatformKey", "agent")?.resourceVersion,
        world.get("MemoryLibrary", "handbook")?.resourceVersion,
        world.get("PlatformTeam", "team-a")?.resourceVersion,
      ],
    });
    const before = await state();
    const seen = looks("agent");
    await until("several rounds", () => looks("agent") > seen + 3);
    expect(await state()).toEqual(before);
  });
});

describe("a replica that lives and does not acknowledge", () => {
  it("holds up no revocation, however many keys wait for it", async (context) => {
    const store = await openStore(context);
    const world = await startWorld(context, { store, view: NO_VIEW }, key("victim"));
    await stickReplica(context, store);
    const waiting = Array.from({ length: 24 }, (_, i) => `k${i}`);
    await world.write(...waiting.map((name) => key(name)));
    await until("every key to be reserved", async () => (await world.storedKeys()).length === 25);
    await world.write(key("victim", { state: "Revoked" }));
    const revoked = async () => (await world.stored("victim")).state === "revoked";
    await until("the revocation", revoked);
    expect(await world.keyIn("k0"), "nothing is published before it is confirmed").toBeUndefined();
  });

  it("c95: is what the status says that a new key waits for, where it takes longer", async (context) => {
    const store = await openStore(context);
    const world = await startWorld(context, { store, view: NO_VIEW }, key("settled"));
    const letGo = await stickReplica(context, store);
    await world.write(key("settled", { scopes: ["memory:write"] }));
    await until("the change", async () => (await world.stored("settled")).generation === 2);
    await world.write(key("agent"));
    await until("the status says so", () => world.condition("Ready", "agent") === "False/Confirming");
    expect(world.get("PlatformKey", "agent")?.status).toMatchObject({
      keyID: expect.any(String),
      observedGeneration: 1,
    });
    expect((await world.keyIn("agent")) === undefined).toBe(true);
    expect(world.condition("Ready", "settled"), "a key that works is ready meanwhile").toBe("True/Ready");
    await letGo();
    await until("the key", () => world.condition("Ready", "agent") === "True/Ready");
  });

  it("is waited for by a controller that has just started, too: no receipt is given without proof", async (context) => {
    const { wrap, looks } = countingReads();
    const store = await openStore(context);
    const world = await startWorld(context, { store, view: NO_VIEW, wrap }, key("agent"));
    const letGo = await stickReplica(context, store);
    await world.write(key("agent", { state: "Revoked" }));
    await until("the revocation", async () => (await world.stored("agent")).state === "revoked");
    await world.stop();
    const before = looks("agent");
    await world.start();
    // One look at a key begins when the one before has ended.
    for (const look of [1, 2]) {
      await until(`look ${look}`, () => looks("agent") >= before + look);
      world.poke("agent");
    }
    expect(world.get("PlatformKey", "agent")?.status?.revocation).toBeUndefined();
    await letGo();
    await until("the receipt", async () => (await world.status("agent")).revocation?.confirmedAt);
  });
});

describeWorlds("what depends on something else", (setup) => {
  it("follows a team whose status could not be written", async (context) => {
    let fails = false;
    const wrap = withCalls(({ writeStatus }) => ({
      async writeStatus(object, status) {
        if (fails && object.kind === "PlatformTeam") {
          fails = false;
          throw new Error("another writer wrote it");
        }
        await writeStatus(object, status);
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap }, key("agent"));
    await world.declare(team("team-a", ["other"]));
    await until("it has no team", () => world.condition("Ready", "agent") === "False/NamespaceUnclaimed");
    fails = true;
    await world.write(team("team-a", [NAMESPACE]));
    await until("its status was refused once", () => !fails);
    await until("the team's again", () => world.condition("Ready", "agent") === "True/Ready");
  });

  it("is imported once the Secret that it is imported from is there", async (context) => {
    const source = { type: "ImportSecret", secretRef: { name: "given", key: "k" } };
    const world = await startWorld(context, setup(), key("agent", { source }));
    expect(world.condition("Ready", "agent")).toBe("False/ImportUnusable");
    const secret = "a-key-that-was-made-elsewhere-and-is-long-enough-0123456789";
    await world.write({ kind: "Secret", name: "given", stringData: { k: `inf_${secret}` } });
    await until("the import", () => world.condition("Ready", "agent") === "True/Ready");
  });
});

describeWorlds("a gateway without a public id of its own", (setup) => {
  it("follows its namespace to another team under another one, and has the first again when it comes back", async (context) => {
    const upstream = { name: "openai", dialect: "openai", baseURL: "https://api.example.com" };
    const gateway = {
      kind: "ModelGateway",
      name: "models",
      spec: { upstreams: [{ ...upstream, credentialRef: { name: "provider", key: "api-key" } }] },
    } as const;
    const provider = { kind: "Secret", name: "provider", stringData: { "api-key": "sk" } } as const;
    const world = await startWorld(context, setup(), provider, gateway);
    const publicId = () => String(world.get("ModelGateway", "models")?.status?.publicID);
    const serves = (of: string) =>
      until(`served for ${of}`, () => {
        const { team: owner, publicID } = world.get("ModelGateway", "models")?.status ?? {};
        return owner === of && world.condition("Accepted", "models", "ModelGateway") === "True/Serving" && publicID;
      });
    await serves("team-a");
    const first = publicId();
    await world.declare(team("team-a", ["none-a"]), team("team-b", [NAMESPACE]));
    await serves("team-b");
    expect(publicId()).not.toBe(first);
    await world.declare(team("team-b", ["none-b"]), team("team-a", [NAMESPACE]));
    await serves("team-a");
    expect(publicId()).toBe(first);
  });
});

describeWorlds("teams that claim one namespace at the same first start", (setup) => {
  it.for(NIGHTLY ? [2, 3, 4] : [4])("have it in one order: the older, then by name (%i)", async (count, context) => {
    const world = await makeWorld(setup());
    context.onTestFinished(() => world.end());
    const names = ["zeta", "mike", "alpha", "kilo"].slice(0, count);
    await world.write(...names.map((name) => team(name, [NAMESPACE])));
    await world.start();
    await world.rest();
    const teams = names.map((name) => world.get("PlatformTeam", name, "")).filter((one) => one !== undefined);
    const [first] = teams.sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
    expect(teams.map(({ name }) => [name, world.condition("Accepted", name, "PlatformTeam", "")])).toEqual(
      teams.map(({ name }) => [name, name === first?.name ? "True/Claimed" : "False/NamespaceTaken"]),
    );
  });
});

describeWorlds("a leader that another has deposed", (setup) => {
  it("ends, and writes no status any more", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    await takeLeadership(world.store, world.clusterUid());
    const before = world.get("PlatformKey", "agent")?.status;
    await world.write(key("agent", { state: "Suspended" }));
    await until("its end", () => world.lines.find((line) => line.includes("the controller ended: StaleLeaderError")));
    expect(world.get("PlatformKey", "agent")?.status).toEqual(before);
    await world.stop(true);
  });
});
