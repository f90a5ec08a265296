import { expect, test } from "vitest";
import type { VersionState } from "../../../../domain/access/key-record.ts";
import { isLiving, versionIn } from "../../../../domain/key/stored/stored-key.ts";
import { KEY, retiring, storedKey, version, versions } from "../situations.ts";

test.each<[VersionState, boolean]>([
  ["reserved", true],
  ["active", true],
  ["retiring", true],
  ["retired", false],
  ["voided", false],
  ["revoked", false],
])("a version that is %s: whether it lives is %s", (state, expected) => {
  expect(isLiving(version(1, { state }))).toBe(expected);
});

test("of several versions in a state the newest is meant", () => {
  const key = storedKey({ ...KEY, versions: versions(retiring(1, 1_000), retiring(2, 2_000), version(3)) });
  expect(versionIn(key, "retiring")?.number).toBe(2);
  expect(versionIn(key, "active")?.number).toBe(3);
});

test("there is none of a state that no version is in, nor of a key that is not there", () => {
  expect(versionIn(storedKey(KEY), "reserved")).toBeUndefined();
  expect(versionIn(undefined, "active")).toBeUndefined();
});
