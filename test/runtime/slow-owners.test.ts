import { expect, test } from "vitest";
import { SlowOwners } from "../../runtime/slow-owners.ts";

test("an owner is slow from the end of a slow piece of work to the end of a quick one", () => {
  let now = 0;
  const slow = new SlowOwners(1_000, () => now);
  now = 1_000;
  slow.noteEnd("team-a", 0);
  expect([slow.takesLong(0), slow.has("team-a")]).toEqual([false, false]);
  now = 1_001;
  slow.noteEnd("team-a", 0);
  expect([slow.takesLong(0), slow.has("team-a"), [...slow.all()]]).toEqual([true, true, ["team-a"]]);
  slow.noteEnd("team-a", 500);
  expect(slow.has("team-a")).toBe(false);
});

test("ten thousand slow owners are remembered", () => {
  const slow = new SlowOwners(-1, () => 0);
  for (let n = 0; n <= 10_000; n++) slow.noteEnd(`team-${n}`, 0);
  expect([slow.has("team-9999"), slow.has("team-10000")]).toEqual([true, false]);
});
