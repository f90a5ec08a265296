import { expect, test } from "vitest";
import { KeysOfDay } from "../../../server/usage/keys-of-day.ts";
import { NOW } from "../../store/fixtures.ts";

test("b186: of one key more than are remembered nothing is known, so that all of it is noted with each call", () => {
  const remembered = 1 << 18;
  const keys = new KeysOfDay<string[]>(() => []);
  const noted = (row: number) => {
    const known = keys.find({ row, generation: 1 }, NOW);
    if (known.length > 0) return false;
    known.push("192.0.2.0/24");
    return true;
  };
  for (let row = 0; row < remembered; row++) noted(row);
  expect([noted(0), noted(remembered - 1)]).toEqual([false, false]);
  expect([noted(remembered), noted(remembered)]).toEqual([true, true]);
});
