import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SharedCalls } from "../../../server/calls/shared-calls.ts";

const LIMIT = 3;

test("counts as a map does, whatever is taken and given back in whatever order, also where ids share their place", () => {
  // Ids whose first words are the same begin to look in the same slot.
  const keyId = fc.integer({ min: 0, max: 9 }).map((n) => `key_aaaaaa${String.fromCharCode(97 + n).repeat(14)}`);
  const other = fc.integer({ min: 0, max: 3 }).map((n) => `key_aaaaa${"bcde"[n]}${"a".repeat(14)}`);
  const foreign = fc.constantFrom("imported", "key_of-another-shape");
  const step = fc.record({ keyId: fc.oneof(keyId, other, foreign), takes: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const calls = new SharedCalls();
      const expected = new Map<string, number>();
      for (const { keyId, takes } of steps) {
        const count = expected.get(keyId) ?? 0;
        if (takes) {
          expect(calls.take(keyId, LIMIT)).toBe(count < LIMIT);
          expected.set(keyId, Math.min(LIMIT, count + 1));
        } else if (count > 0) {
          calls.giveBack(keyId);
          expected.set(keyId, count - 1);
        } else expect(() => calls.giveBack(keyId)).toThrow(RangeError);
        for (const [known, many] of expected) expect(calls.countOf(known)).toBe(many);
      }
    }),
    { numRuns: 100 },
  );
});

test("threads that take and give back at once never have more than the limit, and leave nothing behind", async () => {
  const calls = new SharedCalls();
  const under = new Int32Array(new SharedArrayBuffer(8));
  const module = new URL("../../../server/calls/shared-calls.ts", import.meta.url).href;
  const program = `
    import { workerData } from "node:worker_threads";
    const { SharedCalls } = await import(workerData.module);
    const calls = new SharedCalls(workerData.buffer);
    const { under } = workerData;
    for (let i = 0; i < 50_000; i++) {
      const keyId = "key_aaaaaa" + "abcd"[i % 4].repeat(14);
      if (!calls.take(keyId, ${LIMIT})) continue;
      if (i % 4 === 0 && Atomics.add(under, 0, 1) >= ${LIMIT}) Atomics.store(under, 1, 1);
      if (i % 4 === 0) Atomics.sub(under, 0, 1);
      calls.giveBack(keyId);
    }`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  const workers = Array.from(
    { length: 4 },
    () => new Worker(url, { workerData: { module, buffer: calls.buffer, under } }),
  );
  const codes = await Promise.all(workers.map((one) => new Promise((resolve) => one.on("exit", resolve))));
  expect(codes).toEqual([0, 0, 0, 0]);
  expect([...under]).toEqual([0, 0]);
  for (const letter of "abcd") expect(calls.countOf(`key_aaaaaa${letter.repeat(14)}`)).toBe(0);
}, 60_000);

test("refuses a key more where as many as there is room for have calls under way", () => {
  const calls = new SharedCalls();
  const keys = 2 ** 15;
  for (let i = 0; i < keys; i++) if (!calls.take(`imported ${i}`, 1)) throw new Error(`${i} was refused`);
  expect(calls.take("one more", 1)).toBe(false);
  calls.giveBack("imported 7");
  expect(calls.take("one more", 1)).toBe(true);
});
