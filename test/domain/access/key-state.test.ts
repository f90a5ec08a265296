import fc from "fast-check";
import { expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { unusableBecause } from "../../../domain/access/key-state.ts";
import { keyRecord } from "../../server/harness.ts";

const NOW = 1_800_000_000_000;

test("c42: a state that this build does not know is refused, whatever else holds", () => {
  const known = new Set(["active", "suspended", "revoked", "reserved", "retiring", "retired", "voided"]);
  fc.assert(
    fc.property(fc.string(), (state) => {
      fc.pre(!known.has(state));
      const of = (fields: object): KeyRecord => ({ ...keyRecord(), ...fields });
      expect(unusableBecause(of({ state }), NOW)).toBeDefined();
      expect(unusableBecause(of({ versionState: state }), NOW)).toBeDefined();
    }),
  );
});

test("b29: expiry is decided at each moment anew, and a key that is usable at a time is so at every earlier one", () => {
  const time = fc.integer({ min: NOW - 1e9, max: NOW + 1e9 });
  fc.assert(
    fc.property(time, time, (expiresAt, now) => {
      const usable = unusableBecause(keyRecord({ expiresAt }), now) === undefined;
      expect(usable).toBe(now < expiresAt);
      if (usable) expect(unusableBecause(keyRecord({ expiresAt }), now - 1)).toBeUndefined();
    }),
  );
});
