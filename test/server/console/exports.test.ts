import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createExports } from "../../../server/console/exports.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Bytes that a hotel's network takes in a second. */
const BYTES_A_SECOND = 32 << 10;

test("b480: An export goes on for as long as its reader takes some of it, however large its pieces are, and whole characters", async () => {
  const pieces = ["é€😀", "", "x".repeat(2 << 20), `${"😀".repeat(1 << 19)}!`];
  const file = createExports()({ actor: "ann", teamId: "team_1", pieces: eachOf(pieces) });
  const read: Buffer[] = [];
  const reader = new Writable({
    write(chunk: Buffer, _encoding, done) {
      read.push(chunk);
      setTimeout(done, (1_000 * chunk.length) / BYTES_A_SECOND);
    },
  });
  file.pipe(reader);
  for (let i = 0; i < 200 && !reader.writableFinished; i++) await vi.advanceTimersByTimeAsync(1_000);
  expect(reader.writableFinished).toBe(true);
  expect(Buffer.concat(read).toString() === pieces.join("")).toBe(true);
});

test("An export is cut off whose reader takes nothing for 30 seconds", async () => {
  const file = createExports()({ actor: "ann", teamId: "team_1", pieces: eachOf(Array(4).fill("x".repeat(2 << 20))) });
  file.pipe(new Writable({ write: () => {} }));
  await vi.advanceTimersByTimeAsync(29_000);
  expect(file.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(file.destroyed).toBe(true);
});

async function* eachOf(pieces: readonly string[]): AsyncGenerator<string> {
  yield* pieces;
}
