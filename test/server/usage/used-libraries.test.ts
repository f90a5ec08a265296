import { expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { UsedLibraries } from "../../../server/usage/used-libraries.ts";
import { NOW } from "../../store/fixtures.ts";
import { indexedKey, keyRecord } from "../harness.ts";

const DAY = 86_400_000;

/** A key as a decision finds it. */
function indexed(index: KeyIndex, keyId: string): KeyRecord {
  const digest = keyId.padEnd(32, "-");
  index.applyKey(keyId, [indexedKey(digest, keyRecord({ keyId }))]);
  const found = index.findKey(digest);
  if (found === undefined) throw new Error("a key that was added is not there");
  return found;
}

test("a library that a key uses is noted once a day", () => {
  const index = new KeyIndex();
  const [a, b] = [indexed(index, "key_a"), indexed(index, "key_b")];
  const libraries = new UsedLibraries();
  for (const id of ["lib_1", "lib_1", "lib_2", "lib_1"]) libraries.note(a, id, NOW);
  libraries.note(b, "lib_1", NOW);
  const noted = (keyId: string, libraryId: string, day: string) => ({ teamId: "team-a", keyId, libraryId, day });
  expect(libraries.drain()).toEqual([
    noted("key_a", "lib_1", "2026-11-14"),
    noted("key_a", "lib_2", "2026-11-14"),
    noted("key_b", "lib_1", "2026-11-14"),
  ]);
  libraries.note(a, "lib_1", NOW + 1);
  expect(libraries.drain()).toEqual([]);
  libraries.note(a, "lib_1", NOW + DAY);
  expect(libraries.drain()).toEqual([noted("key_a", "lib_1", "2026-11-15")]);
});

test("of a key that uses more than 64 libraries a day 64 are noted", () => {
  const key = indexed(new KeyIndex(), "key_a");
  const libraries = new UsedLibraries();
  for (let place = 0; place < 1_000; place++) libraries.note(key, `lib_${place}`, NOW);
  expect(libraries.drain()).toHaveLength(64);
});

test("the libraries of a placeholder key are not noted", () => {
  const libraries = new UsedLibraries();
  libraries.note(keyRecord(), "lib_1", NOW);
  expect(libraries.drain()).toEqual([]);
});
