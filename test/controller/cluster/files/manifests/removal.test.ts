import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideRemoval } from "../../../../../controller/cluster/files/manifests/removal.ts";
import type { Spec } from "../../../../../domain/kinds/kinds.ts";

const settled = { unreadable: undefined, documents: 100, unchangedFor: 2_000 };

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

/** Beyond every doubt. */
const LATER = { unchangedFor: 30_000 };
const deliberate = { is: "deliberate" } as const;
const doubtful = { is: "doubtful" } as const;
const because = (why: string) => ({ is: "held", why }) as const;
type Absence = Parameters<typeof decideRemoval>[1][number]["absence"];

/** What is decided, in numbers, when all of these are missing and as many others stay. */
function decide(
  view: Partial<typeof settled>,
  going: readonly One[],
  staying: readonly One[] = [],
  absence: Absence = deliberate,
) {
  const missing = going.map((one) => ({ ...one, absence }));
  const decision = decideRemoval({ ...settled, ...view }, missing, [...going, ...staying]);
  if (!decision.isSettled) return decision;
  const { remove, wait, hold } = decision;
  const why = hold[0]?.why;
  return { removed: remove.length, waiting: wait.length, held: hold.length, ...(why === undefined ? {} : { why }) };
}

describe("a removal of declarations", () => {
  it("counts when the folder was complete, without fault and unchanged for 2 s", () => {
    expect(decide({}, [key], times(99, key))).toEqual({ removed: 1, waiting: 0, held: 0 });
  });

  it("waits until the folder has been unchanged for 2 s", () => {
    expect(decide({ unchangedFor: 1_400 }, [key], [key])).toEqual({ isSettled: false, lookAgainMs: 600 });
  });

  it("is refused while the folder cannot be read in full, or is empty, however long that lasts", () => {
    for (const wrong of [{ unreadable: "EACCES" as never }, { documents: 0 }]) {
      expect(decide({ unchangedFor: 1e9, ...wrong }, [key], [key])).toMatchObject({ removed: 0, held: 1 });
    }
  });

  it.each([
    ["one key, its file deleted", [key], deliberate, 2_000],
    ["two keys, their file deleted", [key, key], deliberate, 2_000],
    ["two keys beside what does not end for good", [key, key, team, revoked], deliberate, 2_000],
    ["three keys, their files deleted", [key, key, key], deliberate, 30_000],
    ["two keys and a library with all that is in it", [key, key, library("Delete")], deliberate, 30_000],
    ["a key that vanished from a file that stands", [key], doubtful, 30_000],
    ["a team that vanished from a file that stands", [team], doubtful, 30_000],
  ] as const)("c49: %s", (_, going, absence, patience) => {
    const waits = { removed: 0, waiting: going.length, held: 0 };
    const goes = { removed: going.length, waiting: 0, held: 0 };
    if (patience > 2_000) expect(decide({ unchangedFor: patience - 1 }, going, [key], absence)).toEqual(waits);
    expect(decide({ unchangedFor: patience }, going, [key], absence)).toEqual(goes);
  });

  it("c49: what is held for a reason of its own is held for ever, and holds nothing else back", () => {
    const missing = [
      { ...key, absence: because("its folder is empty") },
      { ...key, absence: deliberate },
    ];
    const decision = decideRemoval({ ...settled, unchangedFor: 1e9 }, missing, [key, key, key]);
    expect(decision).toEqual({
      isSettled: true,
      remove: [missing[1]],
      wait: [],
      hold: [{ missing: missing[0], why: "its folder is empty" }],
    });
  });

  it("c49: what another file declares alike goes at once, and counts neither for the wait nor for the deletion limit", () => {
    const alike = times(12, { ...key, absence: { is: "declared alike" } as const });
    const gone = { ...key, absence: deliberate };
    expect(decideRemoval(settled, [...alike, gone], times(13, key))).toMatchObject({
      remove: [...alike, gone],
      wait: [],
      hold: [],
    });
    const braked = decideRemoval(settled, [...alike, ...times(11, gone)], times(23, key));
    expect(braked).toMatchObject({ remove: alike, hold: times(11, { missing: gone }) });
  });

  it("c49: what waits counts for the deletion limit, so that it does not go in two portions", () => {
    const missing = [...times(2, { ...key, absence: deliberate }), ...times(9, { ...key, absence: doubtful })];
    expect(decideRemoval(settled, missing, times(20, key))).toMatchObject({ remove: [], wait: [] });
  });

  it("of more than 10 keys and more than 5 % of them is refused, and the warning says how to go on", () => {
    expect(decide(LATER, times(10, key), times(2, key))).toMatchObject({ removed: 10 });
    expect(decide(LATER, times(20, key), times(380, key))).toMatchObject({ removed: 20 });
    const refused = decide(LATER, [...times(11, key), team], times(189, key));
    expect(refused).toMatchObject({ held: 12, why: expect.stringContaining("remove at most 10 at a time") });
    expect(refused).toMatchObject({ why: expect.stringContaining("`state: Revoked`") });
  });

  it("of many keys that were declared revoked before goes on: it cuts no client off", () => {
    expect(decide({}, times(400, revoked))).toMatchObject({ removed: 400 });
  });

  it("of many libraries is refused when it would delete what is in them, and says how to keep it", () => {
    const refused = decide(LATER, times(40, library("Delete")), [key]);
    expect(refused).toMatchObject({ why: expect.stringContaining("40 of 40 libraries") });
    expect(refused).toMatchObject({ why: expect.stringContaining("`deletionPolicy: Retain`") });
    expect(decide(LATER, times(10, library("Delete")), [key])).toMatchObject({ removed: 10 });
    expect(decide({}, times(40, library("Retain")), [key])).toMatchObject({ removed: 40 });
  });

  it("of many gateways is refused when the ids in their clients' URLs would be lost", () => {
    const refused = decide(LATER, times(11, gateway()), times(11, gateway("gw-1")));
    expect(refused).toMatchObject({ why: expect.stringContaining("`publicID`") });
    expect(decide({}, times(11, gateway("gw-1")))).toMatchObject({ removed: 11 });
  });

  it("of teams goes on: what it takes away comes back with them", () => {
    expect(decide({}, times(40, team), [key])).toMatchObject({ removed: 40 });
  });

  it("never takes more living keys than the deletion limit allows, whatever the numbers", () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(5_000), (livingKeys, others) => {
        const keys = livingKeys + others;
        const isBraked = livingKeys > 10 && livingKeys > keys * 0.05;
        expect(decide(LATER, [...times(livingKeys, key), ...times(others, revoked)])).toMatchObject({
          removed: isBraked ? 0 : keys,
          held: isBraked ? keys : 0,
        });
      }),
    );
  });
});
