import { describe, expect, test } from "vitest";
import type { KeyState, VersionState } from "../../../../domain/access/key-record.ts";
import { leakedCondition, leakedSecretState, leakResponse } from "../../../../domain/key/stored/leak.ts";
import type { StoredKey, StoredVersion } from "../../../../domain/key/stored/stored-key.ts";

const NOW = 1_000;
const stateOf = (state: KeyState, versionState: VersionState, more: object = {}) =>
  leakedSecretState(
    { state, versionState, teamHoldsNamespace: true, expiresAt: Number.POSITIVE_INFINITY, ...more },
    NOW,
  );

describe("the state of a secret that was found", () => {
  test.each([
    ["active", stateOf("active", "active")],
    ["active", stateOf("active", "reserved")],
    ["active", stateOf("active", "retiring", { expiresAt: NOW + 1 })],
    ["retired", stateOf("active", "retiring", { expiresAt: NOW })],
    ["retired", stateOf("suspended", "retired")],
    ["retired", stateOf("active", "voided")],
    ["expired", stateOf("active", "active", { expiresAt: NOW })],
    ["suspended", stateOf("suspended", "active")],
    ["suspended", stateOf("active", "active", { teamHoldsNamespace: false })],
    ["revoked", stateOf("revoked", "revoked")],
    ["revoked", stateOf("of a later build" as KeyState, "active")],
    ["retired", stateOf("active", "of a later build" as VersionState)],
  ])("is %s", (expected, state) => expect(state).toBe(expected));
});

describe("what is done about a leaked secret", () => {
  test("is nothing where it never works again, whatever the team wants", () => {
    for (const action of ["Alert", "Revoke"] as const) {
      for (const state of ["retired", "revoked"] as const) expect(leakResponse(action, state, "retired")).toBe("none");
    }
  });

  test.each(["active", "suspended", "expired"] as const)(
    "%s: what the team wants, since it works or may again",
    (state) => {
      expect(leakResponse("Alert", state, "active")).toBe("alert");
      expect(leakResponse("Revoke", state, "active")).toBe("revoke key");
      expect(leakResponse("Revoke", state, "reserved")).toBe("revoke key");
      expect(leakResponse("Revoke", state, "retiring")).toBe("end version");
    },
  );
});

describe("the condition Leaked", () => {
  const version = (number: number, state: VersionState, leakedAt: number | null, retireAt: number | null = null) =>
    ({ number, state, leakedAt, retireAt, expiresAt: null, prefix: `inf_${number}` }) as StoredVersion;
  const reported = (...versions: StoredVersion[]) =>
    leakedCondition({ versions } as unknown as StoredKey, NOW).map(({ message }) => message.match(/Version \d/g));

  test("is there only while a version that was reported works, or may again", () => {
    expect(leakedCondition(undefined, NOW)).toEqual([]);
    expect(reported(version(2, "active", null), version(1, "retired", 1))).toEqual([]);
    expect(reported(version(2, "active", null), version(1, "retiring", 1, NOW))).toEqual([]);
    expect(reported(version(2, "active", null), version(1, "retiring", 1, NOW + 1))).toEqual([["Version 1"]]);
    expect(reported(version(3, "reserved", 3), version(2, "active", 1))).toEqual([["Version 3", "Version 2"]]);
  });
});
