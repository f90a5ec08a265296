import { expect, test } from "vitest";
import { LocalCalls } from "../../../server/calls/local-calls.ts";

test("b124: an owner has no more calls under way than its bound, and each that ends makes room for one", () => {
  const calls = new LocalCalls();
  const take = (owner: string) => calls.take(owner, 2);
  expect([take("a"), take("a"), take("a"), take("b")]).toEqual([true, true, false, true]);
  calls.giveBack("a");
  expect([take("a"), take("a")]).toEqual([true, false]);
});
