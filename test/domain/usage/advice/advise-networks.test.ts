import { expect, test } from "vitest";
import { adviseNetworks } from "../../../../domain/usage/advice/advise-networks.ts";
import type { KeyUse } from "../../../../domain/usage/advice/key-use.ts";
import { FROM, useOf } from "./uses.ts";

const office = { network: "203.0.113.0/24", lastSeenOn: "2026-11-24" };
const home = { network: "2001:db8:1:200::/56", lastSeenOn: "2026-11-20" };
const unknown = { network: "unknown", lastSeenOn: "2026-11-20" };
const change = (use: Partial<KeyUse>) => adviseNetworks(useOf(use)).change;

test("the networks that a key was called from are advised, and those of more than 30 days ago are not", () => {
  const old = { network: "192.0.2.0/24", lastSeenOn: "2026-10-20" };
  expect(change({ networks: [office, home, old] })).toEqual({ allowedCIDRs: [home.network, office.network] });
});

test("a network that lies in a declared one is advised as it is, also where the list has a part of it too", () => {
  const spec = { allowedCIDRs: ["10.0.0.0/8", "10.1.2.3/32"] };
  const point = adviseNetworks(useOf({ spec, networks: [{ ...office, network: "10.1.2.0/24" }] }));
  expect(point.change).toEqual({ allowedCIDRs: ["10.1.2.0/24"] });
  expect(point.why).not.toContain("refuses");
});

test("a network that the declared list refuses now is not advised, and that it refuses it is said", () => {
  const outsider = { network: "192.0.2.0/24", lastSeenOn: "2026-11-23" };
  const spec = { allowedCIDRs: ["10.0.0.0/8", "203.0.113.8/29"] };
  const point = adviseNetworks(useOf({ spec, networks: [office, outsider, home] }));
  expect(point.change).toEqual({ allowedCIDRs: ["203.0.113.8/29"] });
  expect(point.why).toContain(
    "The list refuses some of them now: 203.0.113.0/24 but for 203.0.113.8/29, 192.0.2.0/24, 2001:db8:1:200::/56.",
  );
});

test("a declared list that refuses all callers' networks now stays as it is", () => {
  for (const allowedCIDRs of [["10.0.0.0/8"], ["10.0.0.0/8", "2001:db8:2::/48"]]) {
    const point = adviseNetworks(useOf({ spec: { allowedCIDRs }, networks: [office, home] }));
    expect(point.change).toEqual({});
    expect(point.why).toContain("The list refuses all of them now.");
  }
});

test("of a declared list what has callers stays, and what is wider becomes the callers' networks", () => {
  const spec = { allowedCIDRs: ["203.0.113.8/29", "203.0.113.16/29", "2001:db8::/32", "10.0.0.0/8"] };
  expect(change({ spec, networks: [office, home] })).toEqual({
    allowedCIDRs: [home.network, "203.0.113.16/29", "203.0.113.8/29"],
  });
  expect(change({ spec: { allowedCIDRs: [office.network] }, networks: [office] })).toEqual({});
});

test("calls without an address, which a declared list refuses now, keep no list from becoming narrower", () => {
  const spec = { allowedCIDRs: ["203.0.0.0/16"] };
  expect(change({ spec, networks: [office, unknown] })).toEqual({ allowedCIDRs: [office.network] });
});

test.each<[what: string, use: Partial<KeyUse>, why: string]>([
  ["where they are known for a shorter time", { networksSince: FROM + 1 }, "is known since"],
  ["where none is known", { networks: [] }, "No caller's network is known."],
  ["where calls came without an address", { networks: [office, unknown] }, "any list would refuse them"],
  [
    "where there may be more than are kept",
    { networks: Array.from({ length: 16 }, (_, place) => ({ ...office, network: `10.0.${place}.0/24` })) },
    "16 networks or more",
  ],
])("no networks are advised %s", (_what, use, why) => {
  const point = adviseNetworks(useOf({ networks: [office], ...use }));
  expect(point.change).toEqual({});
  expect(point.why).toContain(why);
});
