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
  const limit = lookupLimit({ most: 2, patienceMs: 10_000, holdersOf: () => [] }, () => now);
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

test("b101: names of one holder are looked up one at a time, so that others have their turn while its servers answer none", () => {
  const begun: string[] = [];
  const ends = new Map<string, Parameters<LookupFunction>[2]>();
  const lookup: LookupFunction = (hostname, _options, callback) => {
    begun.push(hostname);
    ends.set(hostname, callback);
  };
  const holders: Record<string, readonly string[]> = {
    a1: ["a"],
    a2: ["a"],
    a3: ["a"],
    b1: ["b"],
    c1: ["c"],
    a4: ["a", "d"],
  };
  let now = 0;
  const limit = lookupLimit({ most: 2, patienceMs: 10_000, holdersOf: (name) => holders[name] ?? [] }, () => now);
  const guard = limit({ allows: () => true, lookup });
  const failed: string[] = [];
  const find = (name: string) => guard.lookup(name, {}, (error) => error && failed.push(name));
  for (const name of ["a1", "a2", "a3", "b1"]) find(name);
  expect(begun).toEqual(["a1", "b1"]);
  for (const name of ["c1", "a4"]) find(name);
  ends.get("b1")?.(null, "192.0.2.1", 4);
  expect(begun.slice(2)).toEqual(["c1"]);
  ends.get("c1")?.(null, "192.0.2.1", 4);
  // A name that another wants too is looked up for that one.
  expect(begun.slice(3)).toEqual(["a4"]);
  now = 10_001;
  ends.get("a1")?.(null, "192.0.2.1", 4);
  expect([begun.slice(4), failed]).toEqual([[], ["a2", "a3"]]);
});

test("b101: holders whose names took long share one place, and leave the other to all others", () => {
  const begun: string[] = [];
  const ends = new Map<string, Parameters<LookupFunction>[2]>();
  const lookup: LookupFunction = (hostname, _options, callback) => {
    begun.push(hostname);
    ends.set(hostname, callback);
  };
  let now = 0;
  const limit = lookupLimit({ most: 2, patienceMs: 60_000, holdersOf: (name) => [name] }, () => now);
  const guard = limit({ allows: () => true, lookup });
  const find = (...names: string[]) => {
    for (const name of names) guard.lookup(name, {}, () => {});
  };
  const end = (name: string) => ends.get(name)?.(null, "192.0.2.1", 4);
  find("dead", "gone");
  now = 5_000;
  end("dead");
  find("dead", "quick");
  // One look-up goes on for five seconds already, and no other slow one beside it.
  expect(begun).toEqual(["dead", "gone", "quick"]);
  end("quick");
  find("other");
  expect(begun.slice(3)).toEqual(["other"]);
  end("gone");
  expect(begun.slice(4)).toEqual(["dead"]);
  end("other");
  // It was quick this time, and is like any other.
  end("dead");
  find("dead", "gone");
  expect(begun.slice(5)).toEqual(["dead", "gone"]);
});

test("b101: a name that a guard looks up already is not looked up beside it, and each caller has what is found", () => {
  const begun: string[] = [];
  const ends: Parameters<LookupFunction>[2][] = [];
  const lookup: LookupFunction = (hostname, _options, callback) => {
    begun.push(hostname);
    ends.push(callback);
  };
  const guard = lookupLimit({ most: 2, patienceMs: 10_000 }, () => 0)({ allows: () => true, lookup }, "a team");
  const found: string[] = [];
  const find = (name: string, family?: number) =>
    guard.lookup(name, { family }, (_, address) => found.push(`${name}: ${address}`));
  for (const name of ["one", "one", "other", "one"]) find(name);
  expect(begun).toEqual(["one"]);
  ends[0]?.(null, "192.0.2.1", 4);
  expect(found).toEqual(["one: 192.0.2.1", "one: 192.0.2.1", "one: 192.0.2.1"]);
  find("other", 6);
  ends[1]?.(null, "192.0.2.2", 4);
  expect(begun).toEqual(["one", "other", "other"]);
  find("one");
  ends[2]?.(null, "2001:db8::1", 6);
  expect(begun.slice(3)).toEqual(["one"]);
});

test("A guard with a limit still finds the addresses of a name, and refuses private ones", async () => {
  const allowed = new BlockList();
  allowed.addSubnet("127.0.0.0", 8);
  const limit = lookupLimit({ most: 1, patienceMs: 10_000, holdersOf: () => [] });
  const find = (guard: ReturnType<typeof limit>) =>
    new Promise((resolve) => guard.lookup("localhost", { family: 4 }, (error, address) => resolve(error ?? address)));
  const [open, strict] = [limit(createAddressGuard(allowed)), limit(createAddressGuard(new BlockList()))];
  expect(await Promise.all([find(open), find(strict), find(open)])).toEqual([
    "127.0.0.1",
    expect.objectContaining({ code: "ADDRESS_REFUSED" }),
    "127.0.0.1",
  ]);
});

test("b153: of one holder 256 names wait, and one more is given up at once, so that its own cost no other one's time", async () => {
  const ends: Parameters<LookupFunction>[2][] = [];
  const limit = lookupLimit({ most: 2, patienceMs: 10_000 }, () => 0);
  const lookup: LookupFunction = (_hostname, _options, callback) => void ends.push(callback);
  const find = (holder: string, name: string) =>
    new Promise<string>((resolve) => {
      limit({ allows: () => true, lookup }, holder).lookup(name, {}, (error) => resolve(error?.message ?? "found"));
    });
  const found: string[] = [];
  const waiting = Array.from({ length: 257 }, (_, i) => find("hostile", `h${i}`).then((how) => found.push(how)));
  expect(await find("hostile", "one-more")).toContain("not looked up in time");
  expect(found).toEqual([]);
  const other = find("other", "name");
  expect(ends).toHaveLength(2);
  ends[1]?.(null, "192.0.2.1", 4);
  expect(await other).toBe("found");
  // As one has had its turn another one may wait.
  ends[0]?.(null, "192.0.2.1", 4);
  const next = find("hostile", "next");
  for (let i = 2; i < ends.length; i++) ends[i]?.(null, "192.0.2.1", 4);
  await Promise.all(waiting);
  expect([await next, new Set(found)]).toEqual(["found", new Set(["found"])]);
});
