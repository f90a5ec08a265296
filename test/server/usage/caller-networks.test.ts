import { expect, test } from "vitest";
import { INTROSPECTION } from "../../../domain/access/caller-network.ts";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { CallerNetworks } from "../../../server/usage/caller-networks.ts";
import { NOW } from "../../store/fixtures.ts";
import { indexedKey, keyRecord } from "../harness.ts";

const DAY = 86_400_000;

/** A key as a decision finds it. */
function indexed(index: KeyIndex, keyId: string): KeyRecord {
  const digest = keyId.padEnd(32, "-");
  index.applyKey(keyId, [indexedKey(digest, keyRecord({ keyId }))]);
  const found = index.findKey(digest);
  if (found === undefined) throw new Error("a key that was added is not there");
  return found;
}

test("a network that a key is called from is noted once a day, whichever addresses it has", () => {
  const index = new KeyIndex();
  const [a, b] = [indexed(index, "key_a"), indexed(index, "key_b")];
  const networks = new CallerNetworks();
  for (const ip of ["192.0.2.1", "192.0.2.1", "192.0.2.9", "2001:db8::1"]) networks.note(a, NOW, { ip });
  networks.note(b, NOW, { ip: "192.0.2.1" });
  const noted = (keyId: string, network: string, day: string) => ({ teamId: "team-a", keyId, network, day });
  expect(networks.drain()).toEqual([
    noted("key_a", "192.0.2.0/24", "2026-11-14"),
    noted("key_a", "2001:db8::/56", "2026-11-14"),
    noted("key_b", "192.0.2.0/24", "2026-11-14"),
  ]);
  networks.note(a, NOW + 1, { ip: "192.0.2.1" });
  expect(networks.drain()).toEqual([]);
  networks.note(a, NOW + DAY, { ip: "192.0.2.1" });
  expect(networks.drain()).toEqual([noted("key_a", "192.0.2.0/24", "2026-11-15")]);
});

test("b133: of a key that is called from everywhere 16 networks a day are noted, and all that is no address as one", () => {
  const key = indexed(new KeyIndex(), "key_a");
  const networks = new CallerNetworks();
  for (const ip of ["unknown", "", "not an address"]) networks.note(key, NOW, { ip });
  for (let place = 0; place < 1_000; place++) networks.note(key, NOW, { ip: `10.${place >> 8}.${place & 255}.1` });
  networks.note(key, NOW, { ip: undefined });
  const noted = networks.drain().map(({ network }) => network);
  expect([noted.length, noted.indexOf("unknown"), noted.lastIndexOf("unknown")]).toEqual([16, 0, 0]);
});

test("b436: a service that introspects a key is noted, whether 16 networks have called it or are to call it yet", () => {
  const key = indexed(new KeyIndex(), "key_a");
  const networks = new CallerNetworks();
  const callFromMany = (at: number) => {
    for (let place = 0; place < 20; place++) networks.note(key, at, { ip: `10.0.${place}.1` });
  };
  callFromMany(NOW);
  for (let times = 0; times < 2; times++) networks.note(key, NOW, { ip: INTROSPECTION });
  const noted = networks.drain().map(({ network }) => network);
  expect([noted.length, noted.indexOf(INTROSPECTION)]).toEqual([17, 16]);
  networks.note(key, NOW + DAY, { ip: INTROSPECTION });
  callFromMany(NOW + DAY);
  expect(networks.drain()).toHaveLength(17);
});

test("a caller whose address is not known is noted", () => {
  const networks = new CallerNetworks();
  networks.note(indexed(new KeyIndex(), "key_a"), NOW, { ip: undefined });
  expect(networks.drain()).toMatchObject([{ network: "unknown" }]);
});

test("the callers of a placeholder key are not noted", () => {
  const networks = new CallerNetworks();
  networks.note(keyRecord(), NOW, { ip: "192.0.2.1" });
  expect(networks.drain()).toEqual([]);
});
