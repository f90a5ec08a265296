import { once } from "node:events";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { wasReused, watchReuse } from "../../../../server/gateway/upstream/reused-socket.ts";

const AN_HOUR = 3_600_000;

/** What a socket fails with that served a request for an hour, was idle for one, and ends so long after the next. */
async function endOfReused(afterMs: number, code: string, requests = 2): Promise<Error> {
  let now = 5;
  const socket = new Socket();
  const traffic = watchReuse(socket, () => now);
  for (let i = 1; i <= requests; i++) {
    traffic.begin();
    if (i === requests) break;
    now += AN_HOUR;
    traffic.arrive();
    now += AN_HOUR;
  }
  now += afterMs;
  const failed = once(socket, "error");
  socket.destroy(Object.assign(new Error("the other side closed"), { code }));
  const [error] = await failed;
  return error;
}

test.each<[number, boolean]>([
  [0, true],
  [20, true],
  [1_000, true],
  [1_001, false],
  [60_000, false],
  [10 * 60_000, false],
])("b306: a reused socket that is closed %i ms after the request was given up idle: %s", async (afterMs, isReused) => {
  for (const code of ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]) {
    expect(wasReused(await endOfReused(afterMs, code), true)).toBe(isReused);
  }
  expect(wasReused(await endOfReused(afterMs, "ECONNRESET", 3), true)).toBe(isReused);
  expect(wasReused(await endOfReused(afterMs, "ECONNRESET", 1), true), "a new one").toBe(false);
});

test("b306: a request that was not sent is sent on another socket, however long its own was idle", async () => {
  expect(wasReused(await endOfReused(AN_HOUR, "ECONNRESET"), false)).toBe(true);
});
