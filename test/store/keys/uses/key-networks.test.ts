import { sql } from "kysely";
import { expect, test } from "vitest";
import { INTROSPECTION } from "../../../../domain/access/caller-network.ts";
import { NOTES_KEPT_DAYS } from "../../../../store/keys/uses/daily-notes.ts";
import { readNetworks, recordNetworks } from "../../../../store/keys/uses/key-networks.ts";
import { prune } from "../../../../store/retention.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { HOUR, unique } from "../../fixtures.ts";

const DAY = 24 * HOUR;
/** A day that is so many days ago. */
const day = (ago: number) => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);

describeNightlyOnEachEngine("The networks that a key was called from", (store) => {
  const note = (keyId: string, ...networks: readonly (readonly [network: string, ago: number])[]) =>
    recordNetworks(
      store(),
      networks.map(([network, ago]) => ({ keyId, network, day: day(ago) })),
    );
  const known = async (keyId: string) => (await readNetworks(store().db, [keyId])).get(keyId) ?? [];

  test("are kept with the last day of each, whatever comes in whichever order", async () => {
    const key = unique("key");
    await note(key, ["192.0.2.0/24", 3], ["198.51.100.0/24", 1]);
    await note(key, ["192.0.2.0/24", 2], ["192.0.2.0/24", 5]);
    await note(key, ["198.51.100.0/24", 4]);
    expect(await known(key)).toEqual([
      { network: "198.51.100.0/24", lastSeenOn: day(1) },
      { network: "192.0.2.0/24", lastSeenOn: day(2) },
    ]);
  });

  test("b133: are the last 16, and none of more than 40 days ago", async () => {
    const key = unique("key");
    const many = Array.from({ length: 30 }, (_, place) => [`10.0.${place}.0/24`, place] as const);
    await note(key, ...many);
    await note(key, ["203.0.113.0/24", 0]);
    expect((await known(key)).map(({ network }) => network)).toHaveLength(16);
    expect(await known(key)).toContainEqual({ network: "203.0.113.0/24", lastSeenOn: day(0) });
    const [mixed, old] = [unique("key"), unique("key")];
    await note(mixed, ["192.0.2.0/24", NOTES_KEPT_DAYS + 2], ["198.51.100.0/24", 1]);
    await note(old, ["192.0.2.0/24", NOTES_KEPT_DAYS + 2]);
    expect(await known(mixed)).toEqual([{ network: "198.51.100.0/24", lastSeenOn: day(1) }]);
    expect(await known(old)).toEqual([]);
    expect((await prune(store(), 90 * DAY)).networks).toBe(2);
    const { rows } = await sql<{ id: string; seen: object }>`
      select key_id as id, seen from key_networks where key_id in (${mixed}, ${old})`.execute(store().db);
    expect(rows).toEqual([{ id: mixed, seen: { "198.51.100.0/24": day(1) } }]);
    expect((await prune(store(), 90 * DAY)).networks).toBe(0);
  });

  test("b436: leave the note that a service has introspected the key, however many they are", async () => {
    const key = unique("key");
    const networks = Array.from({ length: 20 }, (_, place) => `10.0.${place}.0/24`);
    await note(key, [INTROSPECTION, 1]);
    for (const ago of [1, 0]) await note(key, ...networks.map((network) => [network, ago] as const));
    const noted = await known(key);
    expect(noted).toHaveLength(17);
    expect(noted).toContainEqual({ network: INTROSPECTION, lastSeenOn: day(1) });
    const atOnce = unique("key");
    await note(atOnce, ...[...networks, INTROSPECTION].map((network) => [network, 0] as const));
    expect((await known(atOnce)).map(({ network }) => network)).toContain(INTROSPECTION);
  });

  test("are written by several servers at once, and none is lost", async () => {
    const keys = [unique("key"), unique("key")];
    await Promise.all(
      [1, 2, 3, 4].map((server) =>
        recordNetworks(
          store(),
          keys.toReversed().map((keyId) => ({ keyId, network: `10.0.${server}.0/24`, day: day(0) })),
        ),
      ),
    );
    for (const key of keys) expect(await known(key)).toHaveLength(4);
  });
});
