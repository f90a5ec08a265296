import { BlockList, type LookupFunction } from "node:net";
import { expect, test } from "vitest";
import { createAddressGuard } from "../../../../server/gateway/upstream/addresses.ts";
import { lookupLimit } from "../../../../server/gateway/upstream/lookup-limit.ts";

test("Look-ups of several guards go on two at a time, in their turn, whatever comes of each", () => {
  const begun: string[] = [];
  const ends = new Map<string, Parameters<LookupFunction>[2]>();
  const lookup: LookupFunction = (hostname, _options, callback) => {
    begun.push(hostname);
    ends.set(hostname, callback);
  };
  const now = 0;
  const limit = lookupLimit(2, 10_000, () => now);
  const guard = { allows: () => true, lookup };
  const [one, other] = [limit(guard), limit(guard)];
  const found: string[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    (name < "c" ? one : other).lookup(name, {}, (error, address) => found.push(error?.message ?? String(address)));
  }
  expect(begun).toEqual(["a", "b"]);
  ends.get("b")?.(null, "192.0.2.1", 4);
  expect([begun, found]).toEqual([["a", "b", "c"], ["192.0.2.1"]]);
  ends.get("c")?.(new Error("no such name"), "");
  expect([begun, found]).toEqual([
    ["a", "b", "c", "d"],
    ["192.0.2.1", "no such name"],
  ]);
});

test("A guard with a limit still finds the addresses of a name, and refuses private ones", async () => {
  const allowed = new BlockList();
  allowed.addSubnet("127.0.0.0", 8);
  const limit = lookupLimit(1, 10_000);
  const find = (guard: ReturnType<typeof limit>) =>
    new Promise((resolve) => guard.lookup("localhost", { family: 4 }, (error, address) => resolve(error ?? address)));
  const [open, strict] = [limit(createAddressGuard(allowed)), limit(createAddressGuard(new BlockList()))];
  expect(await Promise.all([find(open), find(strict), find(open)])).toEqual([
    "127.0.0.1",
    expect.objectContaining({ code: "ADDRESS_REFUSED" }),
    "127.0.0.1",
  ]);
});
