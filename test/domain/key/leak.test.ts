import { describe, expect, test } from "vitest";
import type { KeyState, VersionState } from "../../../domain/access/key-record.ts";
import { leakResponse, secretState } from "../../../domain/key/leak.ts";

const NOW = 1_000;
const stateOf = (state: KeyState, versionState: VersionState, more: object = {}) =>
  secretState({ state, versionState, teamHoldsNamespace: true, expiresAt: Number.POSITIVE_INFINITY, ...more }, NOW);

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
