/** Keys that end together: each is refused before anything else is done for any of them. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import type { Cluster } from "../../../controller/cluster/port.ts";
import type { Store } from "../../../store/database/store.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { key, startWorld, type World } from "../fixtures/world.ts";

const COUNT = 15;
const NAMES = Array.from({ length: COUNT }, (_, i) => `key-${i}`);

type Effect = { readonly what: string; readonly working: number };

/** What is done for the keys of a world from its next start on, each with how many of them work at that moment. */
function watchEffects(world: World, store: Store): readonly Effect[] {
  const effects: Effect[] = [];
  const clusterUid = world.clusterUid();
  const watched =
    <O extends object, A extends unknown[], R>(what: string, call: (object: O, ...args: A) => Promise<R>) =>
    async (object: O, ...args: A): Promise<R> => {
      const isOfKey = !("kind" in object) || object.kind === "PlatformKey";
      if (isOfKey) effects.push({ what, working: await workingKeys(store, clusterUid) });
      return call(object, ...args);
    };
  world.wrapWith((cluster: Cluster, given) => ({
    store: given,
    cluster: {
      ...cluster,
      recordEvent: watched("event", cluster.recordEvent),
      replaceSecret: watched("Secret", cluster.replaceSecret),
      deleteSecret: watched("Secret", cluster.deleteSecret),
      removeFinalizer: watched("finalizer", cluster.removeFinalizer),
      writeStatus: watched("status", cluster.writeStatus),
    },
  }));
  return effects;
}

async function workingKeys(store: Store, clusterUid: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from keys
    where cluster = ${clusterUid} and state = 'active'`.execute(store.db);
  return rows[0]?.count ?? 0;
}

/** How many transactions have last written the keys of a world that are in this state. */
async function transactionsOf(store: Store, clusterUid: string, state: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(distinct xmin::text)::int as count from keys
    where cluster = ${clusterUid} and state = ${state}`.execute(store.db);
  return rows[0]?.count ?? 0;
}

describeWorlds("keys that end together", (setup) => {
  it.for([
    { state: "Revoked", stored: "revoked", message: "The key and all its versions are revoked (Declared)." },
    { state: "Suspended", stored: "suspended", message: "The key is suspended, and refused." },
  ])(
    "c71: are all $stored, many in a transaction, before an event or a status of any of them",
    async ({ state, stored, message }, context) => {
      const { store } = setup();
      const world = await startWorld(context, setup(), ...NAMES.map((name) => key(name)));
      const effects = watchEffects(world, store);
      const clusterUid = world.clusterUid();
      await world.stop();
      await world.write(...NAMES.map((name) => key(name, { state })));
      await world.start();
      await world.rest();
      expect(await workingKeys(store, clusterUid)).toBe(0);
      expect(effects.find(({ working }) => working > 0)).toBeUndefined();
      expect(new Set(effects.map(({ what }) => what))).toEqual(new Set(["event", "status"]));
      expect(await transactionsOf(store, clusterUid, stored)).toBeLessThan(COUNT / 3);
      expect(
        world.lines.filter((line) => line.includes(message)),
        "each is reported once",
      ).toHaveLength(COUNT);
    },
  );
});
