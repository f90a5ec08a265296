import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "../../../store/database/store.ts";
import { markUsageWritten, recordUsage } from "../../../store/keys/uses/usage.ts";
import { openByAnyPlans } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { startCurrentServer } from "../../server/current-server.ts";
import { startReplica } from "../../server/key-index/replica-fixtures.ts";
import { HOUR, key, NO_VIEW, startWorld, type World } from "../fixtures/world.ts";

const MINUTE = 60_000;

const spec = (trigger: string | undefined, overlap: Record<string, unknown> = {}) => ({
  rotation: {
    overlap: { mode: "Adoption", min: "1h", max: "3h", ...overlap },
    ...(trigger === undefined ? {} : { trigger }),
  },
});

const states = async (world: World) =>
  (await world.stored("agent")).versions.map(({ number, state }) => `${number} ${state}`);

/** One replica for all: what it has written is what is known in every world, so they come one after the other. */
describe.concurrent("the old version of a key whose overlap is Adoption", () => {
  let store: Store;
  let replica: ReturnType<typeof startReplica>;
  beforeAll(async () => {
    store = await openByAnyPlans();
    replica = startReplica(store);
    await until("the replica is current", () => replica.view.isCurrent());
  });
  afterAll(async () => {
    await replica.replica.close();
    await store.close();
  });

  /** As the replica reports it, in the time of the world. */
  async function use(world: World, version: number, userAgent?: string): Promise<void> {
    const { id } = await world.stored("agent");
    const who = userAgent === undefined ? {} : { address: "192.0.2.7", userAgent };
    await recordUsage(store, [{ keyId: id, version, at: world.clock.now(), ...who }]);
  }
  const written = (world: World) => markUsageWritten(store, replica.id, world.clock.now());

  async function rotatedWorld(context: Parameters<typeof startWorld>[0]) {
    const world = await startWorld(context, { store, view: replica.view }, key("agent", spec(undefined)));
    const first = await world.plaintextOf("agent");
    await written(world);
    await world.declare(key("agent", spec("2026-11")));
    const second = await world.plaintextOf("agent");
    expect([world.decide(first), world.decide(second)]).toEqual(["allowed", "allowed"]);
    return { world, first, second };
  }
  const message = async (world: World) =>
    (await world.status("agent")).conditions.find(({ type }) => type === "StaleConsumers")?.message ?? "";

  it("ends after min, once the new one has been used and it has been left, by what is written", {
    concurrent: false,
  }, async (context) => {
    const { world, first, second } = await rotatedWorld(context);
    await use(world, 1);
    await use(world, 2);
    await world.advance(30 * MINUTE);
    await written(world);
    await world.advance(1_000);
    expect(world.decide(first), "before min").toBe("allowed");

    await world.advance(25 * MINUTE);
    await use(world, 1, "late/1");
    await written(world);
    await world.advance(6 * MINUTE);
    expect(world.decide(first), "in use").toBe("allowed");
    expect(world.condition("StaleConsumers", "agent")).toBe("True/OldVersionInUse");
    expect(await message(world)).toContain('from 192.0.2.7 with User-Agent "late/1"');

    await world.advance(20 * MINUTE);
    expect(world.decide(first), "it is not yet known to be unused").toBe("allowed");
    await written(world);
    await world.advance(1_000);
    expect([world.decide(first), world.decide(second)]).toEqual(["unauthorized", "allowed"]);
    expect(await states(world)).toEqual(["2 active", "1 retired"]);
    expect(world.condition("StaleConsumers", "agent")).toBe("False/NoStaleConsumers");
    expect(world.lines.filter((line) => line.includes("Retired: Version 1"))).toHaveLength(1);
  });

  it("goes on until max while the new one is not used, or a replica does not report its uses", {
    concurrent: false,
  }, async (context) => {
    const { world, first } = await rotatedWorld(context);
    await world.advance(2 * HOUR);
    await written(world);
    await world.advance(1_000);
    expect(world.decide(first), "the new one is unused").toBe("allowed");
    await use(world, 2);
    await use(world, 1);
    await world.advance(HOUR - 5 * MINUTE);
    expect(world.decide(first), "the replica has not reported").toBe("allowed");
    await world.advance(6 * MINUTE);
    expect(world.decide(first)).toBe("unauthorized");
  });

  it("b78: that ended in use has its last user reported, without a key, until the next rotation is through", {
    concurrent: false,
  }, async (context) => {
    const { world, first } = await rotatedWorld(context);
    await world.advance(3 * HOUR - MINUTE);
    await use(world, 1, `cron/1 ${first}\u001b[2J`);
    await world.advance(MINUTE + 1_000);
    expect(world.decide(first)).toBe("unauthorized");
    expect(world.condition("StaleConsumers", "agent")).toBe("True/EndedInUse");
    expect(await message(world)).toContain('from 192.0.2.7 with User-Agent "cron/1 inf_...');
    expect(JSON.stringify(await world.status("agent"))).not.toContain(first.slice(12));
    expect(world.condition("Ready", "agent")).toBe("True/Ready");

    await world.declare(key("agent", spec("2026-12")));
    expect(world.condition("StaleConsumers", "agent")).toBe("True/EndedInUse");
    await world.advance(3 * HOUR + 1_000);
    expect(world.condition("StaleConsumers", "agent")).toBe("False/NoStaleConsumers");
  });

  it("in steady use is reported every ten minutes, and not at every look", { concurrent: false }, async (context) => {
    const { world } = await rotatedWorld(context);
    await use(world, 2);
    const messages: string[] = [];
    await world.advance(HOUR);
    for (let i = 0; i < 8; i++) {
      await use(world, 1, `agent/${i}`);
      await written(world);
      await world.advance(4 * MINUTE);
      messages.push(await message(world));
    }
    expect(new Set(messages.map((text) => text.match(/agent\/\d/)?.[0]))).toEqual(
      new Set(["agent/0", "agent/3", "agent/6"]),
    );
  });
});

describe.concurrent("a workload that reloads its key", () => {
  it("has the old version end by itself, after it has used the new one and before max", async (context) => {
    const store = await openByAnyPlans();
    context.onTestFinished(() => store.close());
    const server = await startCurrentServer(context, { store });

    const overlap = { min: "0s", max: "1h", quiet: "2s" };
    const world = await startWorld(context, { store, view: NO_VIEW }, key("agent", spec(undefined, overlap)));
    const ask = async (plaintext: string) =>
      (await fetch(`${server.url}/atoms`, { headers: { "x-api-key": plaintext } })).status;
    const first = await world.plaintextOf("agent");
    expect(await ask(first)).toBe(200);
    await world.declare(key("agent", spec(randomBytes(4).toString("hex"), overlap)));
    const second = await world.plaintextOf("agent");
    expect([await ask(first), await ask(second)]).toEqual([200, 200]);
    await until("the old version has ended", async () => (await states(world)).includes("1 retired"));
    await until("the server knows", async () => (await ask(first)) === 401);
    expect(await ask(second)).toBe(200);
    expect(world.condition("StaleConsumers", "agent")).toBe("False/NoStaleConsumers");
  });
});
