import { describe, expect, test } from "vitest";
import type { ObservedSecret } from "../../../../domain/key/observed/observed-key.ts";
import { deliveredVersion, governedKey, isOutdated } from "../../../../domain/key/observed/observed-key.ts";
import { KEY, observedKey, SITUATIONS, storedKey, version, versions } from "../situations.ts";

const stored = storedKey({ ...KEY, generation: 3, versions: versions(version(1, { state: "retiring" }), version(2)) });
const observed = { ...observedKey(SITUATIONS["at rest"].state), stored };

describe("the key that a declaration governs", () => {
  test("is the newest row that it owns, also one that was revoked: a declaration mints no second key", () => {
    expect(governedKey(observed)).toBe(stored);
    const revoked = { ...stored, revocation: { reason: "ByHand" as const, at: 0, seq: null } };
    expect(governedKey({ ...observed, stored: revoked })).toBe(revoked);
  });

  test("is none where there is no row, and none where the row was revoked because its namespace moved", () => {
    expect(governedKey({ ...observed, stored: undefined })).toBeUndefined();
    const moved = { ...stored, revocation: { reason: "Moved" as const, at: 0, seq: null } };
    expect(governedKey({ ...observed, stored: moved })).toBeUndefined();
  });
});

describe("the version that the Secret holds", () => {
  const ours = {
    state: "ours",
    immutable: false,
    rendered: true,
    owned: true,
    collected: true,
    deleting: false,
  } as const;
  const held = (secret: ObservedSecret) => deliveredVersion({ ...observed, secret }, stored)?.number;

  test("is the one of its number, whether it is the active one or not", () => {
    expect(held({ ...ours, holds: 2 })).toBe(2);
    expect(held({ ...ours, holds: 1 })).toBe(1);
  });

  test.each<ObservedSecret>([
    { state: "absent" },
    { state: "unmanaged" },
    { state: "unreadable", why: "forbidden" },
    { ...ours, holds: "nothing" },
    { ...ours, holds: "unknown" },
    { ...ours, holds: 7 },
  ])("is none of %o", (secret) => expect(held(secret)).toBeUndefined());
});

test("a generation before the one that was applied is outdated; the same one, a later one, and the first are not", () => {
  const isOld = (generation: number) => isOutdated({ ...observed, generation }, stored);
  expect([2, 3, 4].map(isOld)).toEqual([true, false, false]);
  expect(isOutdated({ ...observed, generation: 1 }, undefined)).toBe(false);
});
