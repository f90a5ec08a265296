import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideRemoval } from "../../../controller/cluster/files/removal.ts";
import type { Spec } from "../../../domain/manifest/kinds.ts";

const settled = { unreadable: undefined, documents: 100, faults: 0, unchangedFor: 2_000 };

const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const key = { kind: "PlatformKey", spec: { displayName: "a key", state: "Active" } as Spec<"PlatformKey"> } as const;
const revoked = { kind: "PlatformKey", spec: { ...key.spec, state: "Revoked" } } as const;
const library = (deletionPolicy: "Delete" | "Retain") =>
  ({ kind: "MemoryLibrary", spec: { deletionPolicy } as Spec<"MemoryLibrary"> }) as const;
const gateway = (publicID?: string) =>
  ({
    kind: "ModelGateway",
    spec: { ...(publicID === undefined ? {} : { publicID }) } as Spec<"ModelGateway">,
  }) as const;
const team = { kind: "PlatformTeam", spec: {} as Spec<"PlatformTeam"> } as const;
type One = typeof key | typeof revoked | ReturnType<typeof library | typeof gateway> | typeof team;
/** All of these objects are missing, and as many others stay. */
const missing = (objects: readonly One[], staying: readonly One[] = []) => ({
  objects,
  secrets: 0,
  held: [...objects, ...staying],
});
const one = missing([key], times(99, key));

describe("a removal of declarations", () => {
  it("counts when the folder was complete, without fault and unchanged for 2 s", () => {
    expect(decideRemoval(settled, one)).toEqual({ remove: true });
  });

  it("waits until the folder has been unchanged for 2 s", () => {
    expect(decideRemoval({ ...settled, unchangedFor: 1_400 }, one)).toEqual({ remove: false, waitMs: 600 });
  });

  it("is refused while the folder cannot be read in full, has a fault, or is empty", () => {
    for (const wrong of [{ unreadable: "EACCES" }, { faults: 1 }, { documents: 0 }]) {
      expect(decideRemoval({ ...settled, ...wrong }, one)).toMatchObject({
        remove: false,
        warning: expect.any(String),
      });
    }
  });

  it("of more than 10 keys and more than 5 % of them is refused, and the warning says how to go on", () => {
    expect(decideRemoval(settled, missing(times(10, key), times(2, key)))).toEqual({ remove: true });
    expect(decideRemoval(settled, missing(times(20, key), times(380, key)))).toEqual({ remove: true });
    const refused = decideRemoval(settled, missing([...times(11, key), team], times(189, key)));
    expect(refused).toMatchObject({ remove: false, warning: expect.stringContaining("remove at most 10 at a time") });
    expect(refused).toMatchObject({ warning: expect.stringContaining("`state: Revoked`") });
  });

  it("of many keys that were declared revoked before goes on: it cuts nobody off", () => {
    expect(decideRemoval(settled, missing(times(400, revoked)))).toEqual({ remove: true });
  });

  it("of many libraries is refused when it would delete what is in them, and says how to keep it", () => {
    const refused = decideRemoval(settled, missing(times(40, library("Delete")), [key]));
    expect(refused).toMatchObject({ warning: expect.stringContaining("40 of 40 libraries") });
    expect(refused).toMatchObject({ warning: expect.stringContaining("`deletionPolicy: Retain`") });
    expect(decideRemoval(settled, missing(times(10, library("Delete")), [key]))).toEqual({ remove: true });
    expect(decideRemoval(settled, missing(times(40, library("Retain")), [key]))).toEqual({ remove: true });
  });

  it("of many gateways is refused when the ids in their clients' URLs would be lost", () => {
    const refused = decideRemoval(settled, missing(times(11, gateway()), times(11, gateway("gw-1"))));
    expect(refused).toMatchObject({ warning: expect.stringContaining("`publicID`") });
    expect(decideRemoval(settled, missing(times(11, gateway("gw-1"))))).toEqual({ remove: true });
  });

  it("of teams goes on: what it takes away comes back with them", () => {
    expect(decideRemoval(settled, missing(times(40, team), [key]))).toEqual({ remove: true });
  });

  it("never takes more living keys than the brake allows, whatever the numbers", () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(5_000), (livingKeys, others) => {
        const keys = livingKeys + others;
        const { remove } = decideRemoval(settled, missing(times(livingKeys, key), times(others, revoked)));
        expect(remove).toBe(!(livingKeys > 10 && livingKeys > keys * 0.05));
      }),
    );
  });
});
