import { expect, test } from "vitest";
import { BytePool, freeBytes } from "../../../../server/http/bodies/byte-pool.ts";
import { until } from "../../../env/until.ts";

test("b83: a buffer that was given back is taken again, and no more are kept than may be", () => {
  const pool = new BytePool(1_000, 2);
  const taken = [pool.take(), pool.take(), pool.take()];
  expect(new Set(taken.map(({ buffer }) => buffer)).size).toBe(3);
  for (const buffer of taken) pool.giveBack(buffer);
  expect(pool.idle).toBe(2);
  // The third one's memory is free.
  expect(taken.map(({ length }) => length)).toEqual([1_000, 1_000, 0]);
  expect(taken).toContain(pool.take());
});

test("b83: what nothing has used for a while is freed", async () => {
  const pool = new BytePool(1_000, 2, 10);
  const buffer = pool.take();
  pool.giveBack(buffer);
  expect(pool.idle).toBe(1);
  await until("it is freed", () => pool.idle === 0);
  expect(buffer).toHaveLength(0);
});

test("b83: memory that other buffers are in too is not freed", () => {
  const buffer = Buffer.alloc(1_000, "a");
  const part = buffer.subarray(0, 10);
  freeBytes(part);
  expect(part.toString()).toBe("a".repeat(10));
});
