import { expect, test } from "vitest";
import { findRivals, judgeRivals, type WatchedLease } from "../../../cli/doctor/leases.ts";
import type { ApiClient } from "../../../controller/cluster/kubernetes/api-client.ts";
import { ApiError } from "../../../controller/cluster/kubernetes/api-error.ts";

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

test.each([
  ["is not allowed", new ApiError(403, "Forbidden", "leases is forbidden"), "note", "ask as a cluster administrator"],
  ["fails", new ApiError(500, "InternalError", "etcdserver: leader changed"), "error", "kubectl get leases -A"],
  ["has no answer", new ApiError(null, "", "no answer within 5 s"), "error", "kubectl get leases -A"],
])("doctor goes on where the list of Leases %s", async (_what, error, severity, action) => {
  const api: Pick<ApiClient, "request"> = { request: () => Promise.reject(error) };
  expect(await findRivals({ uid: "here", api }, [], ["here"])).toEqual([
    {
      name: "leases",
      severity,
      message: expect.stringContaining(error.message),
      action: expect.stringContaining(action),
    },
  ]);
});
