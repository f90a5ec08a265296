import { describe, expect, test } from "vitest";
import { createIdleCheck, unlessIdle } from "../../runtime/polling.ts";

describe("A caller that looks for work", () => {
  test("leaves out looks while nothing was written since its last, but every fifth", () => {
    let writes = 7;
    const isIdle = createIdleCheck(() => writes);
    const looks = (count: number) => Array.from({ length: count }, () => !isIdle());
    expect(looks(1)).toEqual([true]);
    expect(looks(11)).toEqual([...Array(4).fill(false), true, ...Array(4).fill(false), true, false]);
    writes++;
    expect(looks(2)).toEqual([true, false]);
  });

  test("has its task run at the looks that are due, with what it is given", async () => {
    const runs: string[] = [];
    const task = unlessIdle(
      () => 7,
      async (name: string) => runs.push(name),
    );
    for (const name of ["a", "b", "c", "d", "e", "f"]) await task(name);
    expect(runs).toEqual(["a", "f"]);
  });

  test("leaves out none where others may write too", () => {
    const isIdle = createIdleCheck(undefined);
    expect([isIdle(), isIdle(), isIdle()]).toEqual([false, false, false]);
  });
});
