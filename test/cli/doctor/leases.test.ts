import { describe, expect, test } from "vitest";
import {
  findRivals,
  judgeLeaderClocks,
  judgeLeases,
  judgeRivals,
  type WatchedLease,
  watchLeases,
} from "../../../cli/doctor/leases.ts";
import type { ApiClient } from "../../../controller/cluster/kubernetes/api/api-client.ts";
import { ApiError } from "../../../controller/cluster/kubernetes/api/api-error.ts";
import { microTime } from "../../../controller/cluster/kubernetes/events.ts";
import { leaseName } from "../../../controller/cluster/kubernetes/lease-record.ts";
import { leaseResource } from "../../../controller/cluster/kubernetes/resources.ts";

const NAME = "keyplane-controller";
/** Where an installation's controllers have theirs. */
const OURS = { namespace: "one", name: NAME };
const lease = (namespace: string, served: WatchedLease["served"], state: WatchedLease["state"] = "renewed") => ({
  ...{ namespace, name: NAME, served, state },
});

/** A Lease as an API server shows it. */
const shown = (version: string, holderIdentity = "me", namespace = "one", renewTime?: string) => ({
  metadata: { name: NAME, namespace, resourceVersion: version },
  spec: { holderIdentity, renewTime },
});
const NOT_FOUND = new ApiError(404, "NotFound", "there is none", { about: leaseResource(NAME) });

/** An API with a Lease in each of these namespaces: what it shows one time after the other, and at last for good. */
function apiWith(leases: Readonly<Record<string, readonly unknown[]>>): Pick<ApiClient, "request"> {
  const all = new Map(Object.entries(leases).map(([namespace, versions]) => [namespace, [...versions]]));
  return {
    request: async ({ path, query }) => {
      const [, namespace] = /namespaces\/([a-z]+)\/leases\/./.exec(path) ?? [];
      if (namespace === undefined) {
        return { items: query?.fieldSelector === `metadata.name=${NAME}` ? [...all.values()].map(([now]) => now) : [] };
      }
      const versions = all.get(namespace) ?? [NOT_FOUND];
      const now = versions.length > 1 ? versions.shift() : versions[0];
      if (now instanceof Error) throw now;
      return now;
    },
  };
}

describe("doctor watches the Leases, and reports", () => {
  const stateOf = async (...versions: readonly unknown[]) => {
    const [watched] = await watchLeases({ uid: "here", api: apiWith({ one: versions }) }, OURS, ["here"]);
    return watched?.state;
  };

  test("whether each is renewed meanwhile, has been given back, is not there, or cannot be read", async () => {
    const failed = new ApiError(500, "InternalError", "etcdserver: leader changed");
    const states = {
      renewed: stateOf(shown("1"), shown("1"), shown("2")),
      "given back before": stateOf(shown("1", ""), new Error("asked once more")),
      "given back meanwhile": stateOf(shown("1"), shown("1"), shown("2", "")),
      absent: stateOf(NOT_FOUND),
      "deleted meanwhile": stateOf(shown("1"), NOT_FOUND),
      unread: stateOf(failed),
      "unread meanwhile": stateOf(shown("1"), failed),
    };
    const awaited = Object.entries(states).map(async ([what, state]) => [what, await state] as const);
    expect(Object.fromEntries(await Promise.all(awaited))).toEqual({
      ...{ renewed: "renewed", "given back before": "not renewed", "given back meanwhile": "not renewed" },
      ...{ absent: "absent", "deleted meanwhile": "not renewed" },
      ...{ unread: { unknown: failed.message }, "unread meanwhile": { unknown: failed.message } },
    });
  });

  test("on those of each scope of its cluster, and of no other cluster", async () => {
    const scopes = ["here", "here/a,b", "elsewhere", "elsewhere/a"];
    const watched = await watchLeases({ uid: "here", api: apiWith({}) }, OURS, scopes);
    expect(watched.map(({ name, namespace, served }) => ({ name, namespace, served }))).toEqual([
      { name: NAME, namespace: "one", served: null },
      { name: leaseName("here/a,b"), namespace: "one", served: ["a", "b"] },
    ]);
  });
});

describe("doctor judges the Leases of an installation", () => {
  const judged = (...states: readonly WatchedLease["state"][]) =>
    judgeLeases(
      "one",
      states.map((state, i) => ({ ...lease("one", null, state), name: `lease-${i}` })),
    ).map(({ severity, message }) => `${severity} ${message}`);
  const NOT_RENEWED = "no controller renews the Lease one/lease-1: none that has it is running";

  test("as led where one is renewed, and names those that no controller renews any more", () => {
    expect(judged("renewed")).toEqual(["ok a controller leads, and renews lease-0"]);
    expect(judged("renewed", "renewed")).toEqual(["ok a controller leads, and renews lease-0, lease-1"]);
    expect(judged("renewed", "absent")).toEqual(["ok a controller leads, and renews lease-0"]);
    expect(judged("renewed", "not renewed")).toEqual([
      "ok a controller leads, and renews lease-0",
      `note ${NOT_RENEWED}`,
    ]);
  });

  test("as wrong where none is renewed, or one cannot be read", () => {
    expect(judged("absent", "absent")).toEqual(["error no controller has a Lease in one: none runs there"]);
    expect(judged("absent", "not renewed")).toEqual([`error ${NOT_RENEWED}`]);
    const unread = "error the Lease one/lease-1 cannot be read: it failed";
    expect(judged("absent", { unknown: "it failed" })).toEqual([unread]);
    expect(judged("renewed", { unknown: "it failed" })).toEqual(["ok a controller leads, and renews lease-0", unread]);
  });

  test("with where to look, in every case", () => {
    for (const state of ["absent", "not renewed", { unknown: "it failed" }] as const) {
      expect(judgeLeases("one", [lease("one", null, state)])).toMatchObject([
        { action: expect.stringMatching(/^kubectl -n one get pods,leases; give --controller-namespace NAME/) },
      ]);
    }
  });
});

test("c72: doctor says how to delete a Lease that an upgrade has left behind, where another is renewed", () => {
  const leases = [lease("one", null, "renewed"), { ...lease("one", null, "not renewed"), name: "left" }];
  expect(judgeLeases("one", leases)).toMatchObject([
    { severity: "ok" },
    {
      severity: "note",
      action: expect.stringMatching(/^where none is to have it any more.*: kubectl -n one delete lease left; else /),
    },
  ]);
});

test("doctor judges the clock of each leader by when it says that it has renewed its Lease", async () => {
  const judged = async (renewTime?: string, holder?: string) => {
    const leases = { one: [shown("1"), shown("2", holder, "one", renewTime)] };
    const findings = judgeLeaderClocks(await watchLeases({ uid: "here", api: apiWith(leases) }, OURS, ["here"]));
    return findings.map(({ severity, name, message }) => `${severity} ${name}: ${message}`);
  };
  const at = (aheadMs: number) => microTime(Date.now() + aheadMs);
  const right = "ok clock: the controller me's clock and this machine's agree";
  const cases = {
    "as right": [judged(at(0)), [right]],
    "as right though the API server was slow to take it": [judged(at(-5_000)), [right]],
    "as ahead": [
      judged(at(20_000)),
      [expect.stringMatching(/^note clock: the controller me's clock is (19|20) s ahead of this machine's$/)],
    ],
    "as far behind": [
      judged(at(-60_000)),
      [expect.stringMatching(/^error clock: the controller me's clock is 4[67] s behind this machine's$/)],
    ],
    "not at all without a time": [judged(), []],
    "not at all by what is no time": [judged("soon"), []],
    "not at all once it has been given back": [judged(at(60_000), ""), []],
  } as const;
  for (const [how, [finding, expected]] of Object.entries(cases)) expect(await finding, how).toEqual(expected);
});

test("doctor finds two controllers that serve one namespace", () => {
  expect(rivals(lease("one", null), lease("two", null))).toEqual([["one", "two"]]);
  expect(rivals(lease("one", null), lease("two", ["a"]))).toEqual([["one", "two"]]);
  expect(rivals(lease("one", ["a"]), lease("two", null))).toEqual([["one", "two"]]);
  expect(rivals(lease("one", ["a", "b"]), lease("two", ["c"]), lease("three", ["b"]))).toEqual([["one", "three"]]);
});

/** The places of the Leases that findings name, two by two. */
const rivals = (...leases: WatchedLease[]) => placesIn(judgeRivals(leases));
const placesIn = (findings: readonly { readonly message: string }[]) =>
  findings.map(({ message }) => [...message.matchAll(/([a-z]+)\/keyplane-controller/g)].map(([, at]) => at));

test("doctor looks for rivals among the Leases of every other namespace that are renewed", async () => {
  const leases = {
    one: [shown("1")],
    two: [shown("1", "me", "two"), shown("2", "me", "two")],
    three: [shown("1", "", "three")],
  };
  // One of another name in its namespace hides none.
  const ours = [lease("one", null), { ...lease("two", ["a"], "not renewed"), name: leaseName("here/a") }];
  const found = await findRivals({ uid: "here", api: apiWith(leases) }, ours, ["here"]);
  expect(placesIn(found)).toEqual([["one", "two"]]);
});

test("c72: doctor looks for rivals by what their Leases say, whatever these are called", async () => {
  const labels = { "app.kubernetes.io/name": "keyplane", "app.kubernetes.io/component": "controller" };
  const release = (name: string, namespaces: string, version: string) => ({
    metadata: {
      ...{ name, namespace: "one", resourceVersion: version, labels },
      annotations: { "keyplane.dev/namespaces": namespaces },
    },
    spec: { holderIdentity: "me" },
  });
  const served = { "a-controller": "x,y", "b-controller": "y,z", "c-controller": "z", "d-controller": "w" };
  let looks = 0;
  const api: Pick<ApiClient, "request"> = {
    request: async ({ path, query }) => {
      const all = Object.entries(served).map(([name, namespaces]) => release(name, namespaces, String(looks++)));
      const [, name] = /\/leases\/(.+)$/.exec(path) ?? [];
      if (name !== undefined) return all.find(({ metadata }) => metadata.name === name) ?? Promise.reject(NOT_FOUND);
      return { items: query?.labelSelector === undefined ? [] : all };
    },
  };
  const ours = await watchLeases({ uid: "here", api }, { namespace: "one", name: "a-controller" }, ["here"]);
  expect(ours).toMatchObject([
    { name: "a-controller", served: ["x", "y"], state: "renewed" },
    { name: NAME, state: "absent" },
  ]);
  const messages = (await findRivals({ uid: "here", api }, ours, ["here"])).map(({ message }) => message);
  expect(messages).toEqual([
    expect.stringContaining("one/a-controller and one/b-controller serve the same namespaces"),
    expect.stringContaining("one/b-controller and one/c-controller serve the same namespaces"),
  ]);
});

test("doctor leaves alone controllers with namespaces of their own, and those that have ended", () => {
  expect(rivals(lease("one", ["a"]), lease("two", ["b"]))).toEqual([]);
  expect(rivals(lease("one", null), lease("two", null, "not renewed"))).toEqual([]);
});

test.each([
  [
    "is not allowed",
    new ApiError(403, "Forbidden", "leases is forbidden"),
    "note",
    "run it as a cluster administrator",
  ],
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
