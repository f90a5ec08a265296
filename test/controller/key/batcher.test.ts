import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createBatcher } from "../../../controller/key/batcher.ts";

/** A batcher whose batches end when the test says so. */
function batching({ maxSize = 100 } = {}) {
  const batches: { items: readonly string[]; end: (result: number) => void; fail: (error: Error) => void }[] = [];
  const add = createBatcher<string>({
    maxSize,
    isCommon: (error) => error instanceof Error && error.message === "common",
    run: (items) => new Promise((end, fail) => batches.push({ items, end, fail })),
  });
  /** The batch that is under way, once it is. */
  async function batch(index: number) {
    while (batches[index] === undefined) await nextTurn();
    return batches[index];
  }
  return { add, batch, batches };
}

describe("a batcher", () => {
  it("c71: does what comes in one turn of the event loop together, and what comes meanwhile together after that", async () => {
    const { add, batch, batches } = batching();
    const first = [add("a"), add("b")];
    const { items, end } = await batch(0);
    expect(items).toEqual(["a", "b"]);
    const second = [add("c")];
    await nextTurn();
    second.push(add("d"));
    await nextTurn();
    expect(batches, "one at a time").toHaveLength(1);
    end(7);
    expect(await Promise.all(first)).toEqual([7, 7]);
    const next = await batch(1);
    expect(next.items).toEqual(["c", "d"]);
    next.end(8);
    expect(await Promise.all(second)).toEqual([8, 8]);
  });

  it("begins anew after it had nothing to do", async () => {
    const { add, batch } = batching();
    const a = add("a");
    (await batch(0)).end(1);
    await a;
    await nextTurn();
    const b = add("b");
    (await batch(1)).end(2);
    expect(await b).toBe(2);
  });

  it("makes no batch larger than it may be", async () => {
    const { add, batch } = batching({ maxSize: 2 });
    const all = ["a", "b", "c"].map(add);
    const first = await batch(0);
    expect(first.items).toEqual(["a", "b"]);
    first.end(1);
    (await batch(1)).end(2);
    expect(await Promise.all(all)).toEqual([1, 1, 2]);
  });

  it("c71: halves a batch that fails, so that each item fails by its own fault alone", async () => {
    const tried: string[] = [];
    const add = createBatcher<string>({
      maxSize: 100,
      isCommon: () => false,
      async run(items) {
        tried.push(items.join(""));
        if (items.includes("x")) throw new Error("x is refused");
        return items.length;
      },
    });
    const results = await Promise.allSettled(["a", "b", "x", "c"].map(add));
    expect(results.map((one) => (one.status === "fulfilled" ? one.value : String(one.reason)))).toEqual([
      ...[2, 2, "Error: x is refused", 1],
    ]);
    expect(tried).toEqual(["abxc", "ab", "xc", "x", "c"]);
  });

  it("c71: tries none of a batch again whose failure is common to all", async () => {
    const { add, batch, batches } = batching();
    const all = Promise.allSettled(["a", "b", "c"].map(add));
    (await batch(0)).fail(new Error("common"));
    expect((await all).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(batches).toHaveLength(1);
    const after = add("d");
    (await batch(1)).end(1);
    expect(await after).toBe(1);
  });
});
