import { expect, test } from "vitest";
import type { DeclaredObjects } from "../../../cli/doctor/declarations.ts";
import type { LeaseName, WatchedLease } from "../../../cli/doctor/leases.ts";
import { findOtherWriters } from "../../../cli/doctor/status-writers.ts";

const OURS: WatchedLease = { namespace: "ours", name: "lease", served: ["team-a"], state: "renewed" };

const written = (
  kind: DeclaredObjects["kind"],
  namespace: string,
  name: string,
  controllerName?: string,
): DeclaredObjects => ({
  kind,
  objects: [{ metadata: { namespace, name }, status: controllerName === undefined ? {} : { controllerName } }],
});

async function found(
  declared: readonly DeclaredObjects[],
  /** The namespaces of the Leases that are renewed; all others stay as they are. */
  living: readonly string[],
  isOurs: (lease: LeaseName) => boolean = () => false,
): Promise<string[]> {
  const watch = async ({ namespace }: LeaseName) => ({
    state: living.includes(namespace) ? ("renewed" as const) : ("not renewed" as const),
  });
  const findings = await findOtherWriters(watch, declared, [OURS], isOurs);
  return findings.map(({ severity, name, message }) => `${severity} ${name}: ${message}`);
}

test("c70: doctor notes another installation that runs in the cluster, by the Leases of both", async () => {
  const teams = [written("PlatformTeam", "", "one", "ours/lease"), written("PlatformTeam", "", "two", "theirs/lease")];
  expect(await found(teams, ["theirs"])).toEqual([
    "note leases: another installation runs in this cluster beside this one, whose controllers have the Leases ours/lease: the controller of the Lease theirs/lease writes the status of PlatformTeam two",
  ]);
  expect(await found([written("PlatformKey", "team-b", "reader", "theirs/lease")], ["theirs"])).toEqual([
    expect.stringMatching(/^note leases: another installation .* PlatformKey team-b\/reader$/),
  ]);
});

test("c70: doctor finds two installations that serve one namespace with databases of their own", async () => {
  const both = [
    written("PlatformTeam", "", "two", "theirs/lease"),
    written("PlatformKey", "team-a", "reader", "theirs/lease"),
  ];
  expect(await found(both, ["theirs"])).toEqual([
    "error leases: two installations serve the same namespaces, by the controllers of the Leases theirs/lease and ours/lease: theirs/lease writes the status of PlatformKey team-a/reader",
  ]);
});

test("c70: doctor says nothing of a controller that is its own, has ended, or is not named", async () => {
  const one = (controllerName?: string) => [written("PlatformTeam", "", "one", controllerName)];
  const all = await Promise.all([
    found(one("ours/lease"), ["ours"]),
    found(one("ours/lease-2"), ["ours"], ({ namespace }) => namespace === "ours"),
    found(one("gone/lease"), []),
    found(one(), []),
    found(one("no title"), []),
  ]);
  expect(all).toEqual([[], [], [], [], []]);
});
