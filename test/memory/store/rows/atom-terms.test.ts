import { expect, test } from "vitest";
import { owners } from "../../../../memory/store/rows/atom-terms.ts";
import { lexemesOf } from "../../../../memory/store/rows/text-query.ts";

const MANY = Array.from({ length: 64 }, (_, n) => `lib-${n}`);

test("the index is asked for each library of a key that is restricted to many, since its team may have more", () => {
  expect(lexemesOf(owners({ teamId: "team-a", libraryIds: MANY }, MANY))).toEqual(MANY.map((id) => `library ${id}`));
});

test("the index is asked for a team where its key may read all of many libraries", () => {
  expect(lexemesOf(owners({ teamId: "team-a", libraryIds: null }, [...MANY, "part_1"]))).toEqual([
    "team team-a",
    "library part_1",
  ]);
});
