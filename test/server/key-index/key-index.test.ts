import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { unusableBecause } from "../../../domain/access/key-state.ts";
import { keyDigest } from "../../../domain/key/secret/key-format.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { newId } from "../../../store/database/ids.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { gatewayRecord, indexedKey, keyRecord } from "../harness.ts";

const version = (number: number, fields: Partial<KeyRecord> = {}, importedFormat = false) =>
  indexedKey(`digest-${number}`, keyRecord({ keyId: "key_a", version: number, ...fields }), importedFormat);

test("each version of a key is found by its own digest", () => {
  const index = new KeyIndex();
  index.applyKey("key_a", [version(1, { versionState: "retiring" }), version(2)]);
  expect(index.findKey("digest-1")?.version).toBe(1);
  expect(index.findKey("digest-2")?.version).toBe(2);
  expect(index.findKey("digest-3")).toBeUndefined();
  expect(index.findVersion("key_a", 2)?.version).toBe(2);
  expect(index.keyCount).toBe(2);
});

test("a version that is no longer given has ended, and stays to be found", () => {
  const index = new KeyIndex();
  index.applyKey("key_a", [version(1)]);
  index.applyKey("key_a", [version(2)]);
  expect(index.findKey("digest-1")?.versionState).toBe("retired");
  expect(index.findKey("digest-2")?.versionState).toBe("active");
});

test("b30: what has ended does not come back, in whatever order rows arrive", () => {
  const state = fc.record({
    state: fc.constantFrom("active", "suspended", "revoked"),
    versionState: fc.constantFrom("reserved", "active", "retiring", "retired", "voided", "revoked"),
  } as const);
  fc.assert(
    fc.property(fc.array(fc.option(state, { nil: undefined }), { minLength: 1, maxLength: 8 }), (rows) => {
      const index = new KeyIndex();
      let ended = false;
      let seen = false;
      for (const row of rows) {
        index.applyKey("key_a", row === undefined ? [] : [version(1, row)]);
        seen ||= row !== undefined;
        ended ||=
          row === undefined
            ? seen
            : row.state === "revoked" || !["reserved", "active", "retiring"].includes(row.versionState);
        const record = index.findKey("digest-1");
        if (ended) expect(record === undefined || unusableBecause(record, 0) !== undefined).toBe(true);
      }
    }),
  );
});

test("a key that rotates for ever does not grow the index, and its newest versions stay", () => {
  const index = new KeyIndex();
  for (let number = 1; number <= 500; number++) index.applyKey("key_a", [version(number)]);
  expect(index.keyCount).toBeLessThanOrEqual(10);
  expect(index.findKey("digest-500")?.versionState).toBe("active");
  expect(index.findKey("digest-499")?.versionState).toBe("retired");
  expect(index.findKey("digest-1")).toBeUndefined();
});

test("a key that is removed leaves nothing behind", () => {
  const index = new KeyIndex();
  index.applyKey("key_a", [version(1, {}, true)]);
  expect(index.acceptsImportedFormat()).toBe(true);
  index.removeKey("key_a");
  expect([index.keyCount, index.acceptsImportedFormat(), index.findKey("digest-1")]).toEqual([0, false, undefined]);
});

test("a record comes back as it was put in, whatever its id and number", () => {
  const record = fc.record({
    keyId: fc.oneof(
      fc.constantFrom(newId("key"), `key_${"7".repeat(20)}`, "key_a", "", "placeholder"),
      fc.string({ unit: "grapheme" }),
    ),
    version: fc.oneof(fc.constantFrom(1, 2 ** 21 - 1, 2 ** 21, 2 ** 31 - 1), fc.nat()),
    teamId: fc.constantFrom("team-a", "team-b"),
    teamHoldsNamespace: fc.boolean(),
    state: fc.constantFrom("active", "suspended", "revoked"),
    versionState: fc.constantFrom("reserved", "active", "retiring", "retired"),
    expiresAt: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.double({ noNaN: true, min: 0 })),
    scopes: fc.nat(31),
    boundGatewayId: fc.option(fc.constantFrom("", "gw_a")),
    libraryIds: fc.option(fc.array(fc.constantFrom("lib_a", "lib_b"), { maxLength: 2 })),
    mcpDefaultLibraryId: fc.option(fc.constant("lib_a")),
    teamDefaultLibraryId: fc.option(fc.constant("lib_b")),
    allowedModels: fc.option(fc.array(fc.string(), { maxLength: 2 })),
    rateLimit: fc.option(
      fc.record({ requestsPerMinute: fc.nat(), burst: fc.nat(), scope: fc.constantFrom("Replica", "Installation") }),
    ),
  } as const);
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), fc.boolean(), (records, importedFormat) => {
      const index = new KeyIndex();
      const put = records.map((fields, i) => keyRecord({ ...fields, keyId: `${fields.keyId}${i === 0 ? "" : i}` }));
      for (const [i, one] of put.entries()) index.applyKey(one.keyId, [indexedKey(`digest-${i}`, one, importedFormat)]);
      for (const [i, one] of put.entries()) {
        expect(index.findKey(`digest-${i}`)).toMatchObject(one);
        expect(index.findVersion(one.keyId, one.version)).toMatchObject(one);
      }
      expect(index.acceptsImportedFormat()).toBe(importedFormat);
    }),
  );
});

test("what has come and gone leaves the others as they are, through every growth of the tables", () => {
  const index = new KeyIndex();
  const expected = new Map<string, KeyRecord>();
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % (2 ** 31 - 1);
    return seed % below;
  };
  const ids = Array.from({ length: 700 }, () => newId("key"));
  const digestsOf = new Map(ids.map((id) => [id, [0, 1].map((i) => keyDigest(`${id}${i}`))]));
  for (let step = 0; step < (NIGHTLY ? 20_000 : 4_000); step++) {
    const keyId = ids[random(ids.length)] ?? "";
    const digests = digestsOf.get(keyId) ?? [];
    if (random(10) === 0) {
      index.removeKey(keyId);
      for (const digest of digests) expected.delete(digest);
      continue;
    }
    const versions = digests.map((_, i) => keyRecord({ keyId, version: i + 1, teamId: `team-${random(5)}` }));
    index.applyKey(
      keyId,
      versions.map((record, i) => indexedKey(digests[i] ?? "", record)),
    );
    for (const [i, record] of versions.entries()) expected.set(digests[i] ?? "", record);
  }
  expect(index.keyCount).toBe(expected.size);
  for (const digest of [...digestsOf.values()].flat()) {
    const { teamId, keyId, version } = expected.get(digest) ?? {};
    const found = index.findKey(digest);
    expect([found?.keyId, found?.version, found?.teamId]).toEqual([keyId, version, teamId]);
  }
});

test("c45: a key costs the tables at most 96 bytes, and twice the keys twice as much", () => {
  const attributes = keyRecord();
  const bytesOf = (keys: number) => {
    const index = new KeyIndex(keys);
    for (let i = 0; i < keys; i++)
      index.add(indexedKey(randomBytes(32).toString("latin1"), { ...attributes, keyId: newId("key") }));
    expect(index.keyCount).toBe(keys);
    return index.bytes;
  };
  const count = NIGHTLY ? 50_000 : 20_000;
  const [once, twice] = [bytesOf(count), bytesOf(2 * count)];
  expect(once / count).toBeLessThanOrEqual(96);
  expect(twice / once).toBeCloseTo(2, 1);
});

describe("uses", () => {
  const NOW = Date.UTC(2026, 10, 14);

  test("are reported once, with the last time and their number", () => {
    const index = new KeyIndex();
    index.applyKey("key_a", [version(1), version(2)]);
    const [first, second] = [index.findKey("digest-1"), index.findKey("digest-2")];
    if (first === undefined || second === undefined) throw new Error("a version is missing");
    index.noteUse(first, NOW);
    index.noteUse(first, NOW + 7);
    index.noteUse(second, NOW + 1);
    expect(index.drainUses(NOW + 9_000)).toEqual([
      { keyId: "key_a", version: 1, at: NOW + 7, requests: 2 },
      { keyId: "key_a", version: 2, at: NOW + 1, requests: 1 },
    ]);
    expect(index.drainUses(NOW + 9_000)).toEqual([]);
  });

  test("are not lost when the key changes, the tables grow or the whole index is replaced", () => {
    const index = new KeyIndex();
    index.applyKey("key_a", [version(1)]);
    const before = index.findKey("digest-1");
    if (before === undefined) throw new Error("the version is missing");
    index.noteUse(before, NOW);
    index.applyKey("key_a", [version(1, { teamId: "team-z" })]);
    index.noteUse(before, NOW + 1);
    for (let i = 0; i < 3_000; i++) index.applyKey(`key_${i}`, [indexedKey(`other-${i}`, keyRecord())]);
    index.noteUse(before, NOW + 2);
    const next = new KeyIndex(0, index);
    next.applyKey("key_a", [version(1)]);
    next.noteUse(before, NOW + 3);
    index.noteUse(before, NOW + 4);
    const uses = next.drainUses(NOW + 10);
    expect(uses.map(({ keyId, at }) => [keyId, at - NOW]).sort()).toEqual([
      ["key_a", 1],
      ["key_a", 3],
      ["key_a", 4],
    ]);
    expect(uses.reduce((sum, { requests }) => sum + requests, 0)).toBe(5);
  });
});

describe("gateways", () => {
  test("a public id that changes hands is the new gateway's alone", () => {
    const index = new KeyIndex();
    const [old, next] = [gatewayRecord({ publicId: "main" }), gatewayRecord({ publicId: "main" })];
    index.applyGateway(old);
    index.applyGateway(next);
    index.removeGateway(old.gatewayId);
    expect(index.findGateway("main")).toBe(next);
  });

  test("one that is removed is not found", () => {
    const index = new KeyIndex();
    const gateway = gatewayRecord();
    index.applyGateway(gateway);
    index.removeGateway(gateway.gatewayId);
    expect([index.findGateway(gateway.publicId), index.gatewayCount]).toEqual([undefined, 0]);
  });
});
