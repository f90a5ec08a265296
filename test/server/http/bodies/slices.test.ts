import { expect, test } from "vitest";
import { inSlices } from "../../../../server/http/bodies/slices.ts";

test("b83: work that ends in its first slice is done at once", () => {
  expect(inSlices(() => true)).toBeUndefined();
});

test("b83: one slice is taken in a turn of the event loop, however many works wait", async () => {
  const taken: string[] = [];
  const work = (name: string, slices: number) => {
    let left = slices;
    return inSlices(() => {
      taken.push(name);
      return --left === 0;
    });
  };
  let iterations = 0;
  let isDone = false;
  const iteration = () => {
    iterations += 1;
    taken.push("|");
    if (!isDone) setImmediate(iteration);
  };
  const both = Promise.all([work("a", 4), work("b", 3)]);
  setImmediate(iteration);
  await both;
  isDone = true;
  // The first slices are taken where the work is begun; from then on the turns are shared.
  expect(taken.join("")).toMatch(/^ab(?:a\||\|a)(?:b\||\|b)(?:a\||\|a)(?:b\||\|b)a\|?$/);
  expect(iterations).toBeGreaterThanOrEqual(4);
});

test("b83: what a work throws rejects its own promise alone", async () => {
  let slices = 0;
  const failing = inSlices(() => {
    if (++slices === 2) throw new Error("refused");
    return false;
  });
  let left = 4;
  const other = inSlices(() => --left === 0);
  await expect(failing).rejects.toThrow("refused");
  await other;
  expect(left).toBe(0);
});
