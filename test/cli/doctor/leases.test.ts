import { expect, test } from "vitest";
import { judgeRivals, type WatchedLease } from "../../../cli/doctor/leases.ts";

const lease = (namespace: string, served: WatchedLease["served"], state: WatchedLease["state"] = "renewed") => ({
  ...{ namespace, name: "keyplane-controller", served, state },
});

/** The places of the Leases that are told of, two by two. */
const rivals = (...leases: WatchedLease[]) =>
  judgeRivals(leases).map(({ message }) => [...message.matchAll(/([a-z]+)\/keyplane-controller/g)].map(([, at]) => at));

test("doctor tells of two controllers that serve one namespace", () => {
  expect(rivals(lease("one", null), lease("two", null))).toEqual([["one", "two"]]);
  expect(rivals(lease("one", null), lease("two", ["a"]))).toEqual([["one", "two"]]);
  expect(rivals(lease("one", ["a", "b"]), lease("two", ["c"]), lease("three", ["b"]))).toEqual([["one", "three"]]);
});

test("doctor leaves alone controllers with namespaces of their own, and those that have ended", () => {
  expect(rivals(lease("one", ["a"]), lease("two", ["b"]))).toEqual([]);
  expect(rivals(lease("one", null), lease("two", null, "not renewed"))).toEqual([]);
});
