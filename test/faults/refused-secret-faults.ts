/** What becomes of a key while no Secret is admitted for it. */
import { expect, it } from "vitest";
import { ClusterError } from "../../controller/cluster/port.ts";
import { withCalls } from "../controller/fixtures/cluster-calls.ts";
import type { WorldTests } from "../controller/fixtures/setup.ts";
import { key, startWorld, type World } from "../controller/fixtures/world.ts";
import { until } from "../env/until.ts";
import { isReady } from "./scenarios.ts";

/** Lets Secrets be made while it is open, as it is at first, and refuses each with this message while it is closed. */
function secretAdmission(message: string) {
  let isClosed = false;
  let refused = 0;
  return {
    wrap: withCalls(({ createSecret }) => ({
      async createSecret(draft) {
        if (!isClosed) return createSecret(draft);
        refused++;
        throw new ClusterError("Forbidden", message);
      },
    })),
    close() {
      isClosed = true;
    },
    open() {
      isClosed = false;
    },
    hasRefused: () => refused > 0,
    /** Forgets what it has refused. */
    forget() {
      refused = 0;
    },
  };
}

/** A condition of the key `agent`, as people see it. */
async function conditionOf(world: World, type: string) {
  const { conditions } = await world.status("agent");
  return conditions.find((one) => one.type === type) ?? { status: "", reason: "", message: "" };
}

/** Every version in a world's store, voided ones too, as `1 reserved`. */
async function versionsIn({ store, clusterUid }: World): Promise<string[]> {
  const rows = await store.db
    .selectFrom("key_versions")
    .innerJoin("keys", "keys.id", "key_versions.key_id")
    .select(["number", "key_versions.state"])
    .where("cluster", "=", clusterUid())
    .orderBy("number")
    .execute();
  return rows.map(({ number, state }) => `${number} ${state}`);
}

export const refusedSecretFaults: WorldTests = (setup) => {
  it("c51: a key whose lost Secret cannot be made again says that it is not delivered, and is not ready", async (context) => {
    const admission = secretAdmission("no Secret is admitted");
    const world = await startWorld(context, { ...setup(), wrap: admission.wrap }, key("agent"));
    const said = (type: string) => conditionOf(world, type);
    expect((await said("Ready")).status).toBe("True");

    admission.close();
    await world.loseSecret("agent");
    await until("it is not ready", async () => (await said("Ready")).status === "False");
    expect((await said("SecretDelivered")).status).toBe("False");
    expect((await said("Reconciling")).message).toContain("no Secret is admitted");

    admission.open();
    await until("it is ready again", async () => (await said("Ready")).status === "True");
  });

  it("c60: restarts while no Secret can be made pile up no versions, and none is voided before its Secret can come no more", async (context) => {
    const admission = secretAdmission("exceeded quota: secrets, requested: secrets=1, limited: secrets=0");
    const world = await startWorld(context, { ...setup(), wrap: admission.wrap });
    admission.close();
    await world.write(key("agent"));
    for (const versions of [1, 2, 3, 4]) {
      await until("the Secret is refused", admission.hasRefused);
      expect(await versionsIn(world)).toHaveLength(versions);
      await world.stop();
      admission.forget();
      await world.start();
    }
    await world.rest();

    const waiting = ["1 reserved", "2 reserved", "3 reserved", "4 reserved"];
    expect([await versionsIn(world), admission.hasRefused()]).toEqual([waiting, false]);
    const ready = await conditionOf(world, "Ready");
    expect(ready).toMatchObject({ status: "False", reason: "Minting" });
    expect(ready.message).toMatch(/4 attempts have ended with their controller .* the next one begins at 20/);
    await world.restart();
    expect([await versionsIn(world), admission.hasRefused()]).toEqual([waiting, false]);

    await world.stop();
    await world.advance(60_000);
    await world.start();
    await until("the Secret is refused", admission.hasRefused);
    expect(await versionsIn(world)).toEqual(["1 voided", "2 reserved", "3 reserved", "4 reserved", "5 reserved"]);

    admission.open();
    await until("ready", () => isReady(world));
    expect(await versionsIn(world)).toEqual(["1 voided", "2 voided", "3 voided", "4 voided", "5 active"]);
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
  });
};
