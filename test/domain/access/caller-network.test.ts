import { expect, test } from "vitest";
import {
  areNarrower,
  callerNetwork,
  narrowedCallers,
  type SourceLists,
} from "../../../domain/access/caller-network.ts";

test.each([
  ["203.0.113.77", "203.0.113.0/24"],
  ["::ffff:203.0.113.77", "203.0.113.0/24"],
  ["2001:db8:1:2ff:3::4", "2001:db8:1:200::/56"],
  ["fe80::1%eth0", "fe80::/56"],
  ["::1", "::/56"],
  ["", "unknown"],
  ["203.0.113.77:8080", "unknown"],
  ["introspection", "introspection"],
])("b133: of the caller's address %s the network is kept, and no more: %s", (address, network) => {
  expect(callerNetwork(address)).toBe(network);
});

const office = { network: "203.0.113.0/24", lastSeenOn: "2026-11-24" };
const home = { network: "2001:db8:1:200::/56", lastSeenOn: "2026-11-20" };
const unknown = { network: "unknown", lastSeenOn: "2026-11-20" };
const anywhere: SourceLists = [null, null];

test.each<[what: string, before: SourceLists, after: SourceLists, refused: object[], doubtful: object[]]>([
  ["nothing for lists that stay as they are", [["203.0.113.0/24"], null], [["203.0.113.0/24"], null], [], []],
  ["no caller where a list has all networks", anywhere, [["203.0.0.0/16", "2001:db8::/32"], null], [], []],
  ["callers of a network that a new list has nothing of", anywhere, [["203.0.113.0/24"], null], [home], []],
  ["perhaps those of one that it has a part of", anywhere, [["203.0.113.8/29", "2001:db8::/32"], null], [], [office]],
  ["by the team's list as by the key's own", anywhere, [null, ["2001:db8::/32"]], [office], []],
  ["no caller that was refused before", [["2001:db8::/32"], null], [["2001:db8:1::/48"], null], [], []],
  ["no caller anew where a part grows", [["203.0.113.8/29"], null], [["203.0.113.0/25"], null], [], []],
  ["perhaps those of a part that is another", [["203.0.113.8/29"], null], [["203.0.113.16/29"], null], [], [office]],
  ["no caller where a list goes", [["203.0.113.0/24"], ["203.0.113.0/24"]], [null, ["203.0.113.0/24"]], [], []],
])("other lists refuse %s", (_what, before, after, refused, doubtful) => {
  expect(narrowedCallers([office, home], before, after)).toEqual({ refused, doubtful });
});

test("any list refuses callers without an address", () => {
  const { refused } = narrowedCallers([office, unknown], anywhere, [null, ["0.0.0.0/0", "::/0"]]);
  expect(refused).toEqual([unknown]);
});

test.each<[before: SourceLists, after: SourceLists, isNarrower: boolean]>([
  [anywhere, anywhere, false],
  [anywhere, [["10.0.0.0/8"], null], true],
  [[["10.0.0.0/8"], null], [["10.0.0.0/8", "192.0.2.0/24"], null], false],
  [[["10.0.0.0/8"], null], [["10.1.0.0/16"], null], true],
  [[null, ["10.0.0.0/8"]], [null, ["192.0.2.0/24"]], true],
  [[["10.0.0.0/8"], null], anywhere, false],
])("lists %j that become %j are narrower: %s", (before, after, isNarrower) => {
  expect(areNarrower(before, after)).toBe(isNarrower);
});
