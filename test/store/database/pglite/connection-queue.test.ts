import { describe, expect, test } from "vitest";
import { ConnectionQueue, type Priority } from "../../../../store/database/pglite/connection-queue.ts";

/** Questions of these priorities, each of which has the connection for so long, all asked while another one has it. */
async function order(asked: readonly (readonly [Priority, number])[]): Promise<string> {
  let now = 0;
  const queue = new ConnectionQueue(() => now);
  await queue.acquire("feed");
  const went: string[] = [];
  const all = asked.map(async ([priority, ms]) => {
    await queue.acquire(priority);
    went.push(priority);
    now += ms;
    queue.release();
  });
  queue.release();
  await Promise.all(all);
  return went.join(" ");
}

describe("The order of who has the embedded database", () => {
  test("b87: is the feed, what is general, the memory, and last what is unauthenticated", async () => {
    const asked = order([
      ["unauthenticated", 1],
      ["memory", 1],
      ["general", 1],
      ["feed", 1],
    ]);
    expect(await asked).toBe("feed general memory unauthenticated");
  });

  test("b87: gives the memory as much time as all else where both wait, whichever has more transactions", async () => {
    const asked = order([
      ...Array.from({ length: 3 }, () => ["general", 300] as const),
      ...Array.from({ length: 12 }, () => ["memory", 100] as const),
    ]);
    const [once, thrice] = ["general", "memory memory memory"];
    expect(await asked).toBe(`${[once, thrice, once, thrice, once, thrice].join(" ")} memory memory memory`);
  });

  test("b87: gives no priority more than half a second for what it did not ask for before", async () => {
    const asked = order([
      ["general", 60_000],
      ...Array.from({ length: 10 }, () => ["memory", 100] as const),
      ["general", 100],
    ]);
    expect(await asked).toBe(`general ${"memory ".repeat(5)}general${" memory".repeat(5)}`);
  });

  test("does not lend the connection to a caller that has left the queue", async () => {
    const queue = new ConnectionQueue();
    await queue.acquire("general");
    const leaving = new AbortController();
    const left = queue.acquire("memory", leaving.signal);
    const next = queue.acquire("unauthenticated");
    leaving.abort(new Error("has left"));
    await expect(left).rejects.toThrow("has left");
    queue.release();
    await next;
  });
});
