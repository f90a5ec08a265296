import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
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

describe("What is written in the background of the embedded database", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  /** Has the connection once it is lent, for so many milliseconds, and says which it was. */
  async function ask(queue: ConnectionQueue, went: string[], priority: Priority, ms: number): Promise<void> {
    await queue.acquire(priority);
    went.push(priority);
    await vi.advanceTimersByTimeAsync(ms);
    queue.release();
  }

  test("b269: goes between no two questions of a request, and goes where it is quiet", async () => {
    const queue = new ConnectionQueue();
    const went: string[] = [];
    const page = (async () => {
      for (let question = 0; question < 5; question++) {
        await ask(queue, went, "general", 4);
        await vi.advanceTimersByTimeAsync(2);
      }
    })();
    const written = ask(queue, went, "background", 10);
    await page;
    expect(went).toEqual(Array(5).fill("general"));
    await vi.advanceTimersByTimeAsync(5);
    await written;
    expect(went.at(-1)).toBe("background");
  });

  test("b269: goes first of all but the feed once it has waited for 50 ms", async () => {
    const queue = new ConnectionQueue();
    const went: string[] = [];
    await queue.acquire("general");
    const waiting = (["general", "memory", "background", "feed"] as const).map((each) => ask(queue, went, each, 1));
    await vi.advanceTimersByTimeAsync(50);
    queue.release();
    await Promise.all(waiting);
    expect(went).toEqual(["feed", "background", "memory", "general"]);
  });

  test("b270: keeps no question waiting behind more than one of it, however many take turns in the background", async () => {
    const queue = new ConnectionQueue();
    const went: string[] = [];
    await queue.acquire("general");
    const loops = Array.from({ length: 2 }, async () => {
      for (let statement = 0; statement < 3; statement++) await ask(queue, went, "background", 60);
    });
    const questions = (async () => {
      for (let question = 0; question < 3; question++) await ask(queue, went, "general", 25);
    })();
    await vi.advanceTimersByTimeAsync(50);
    queue.release();
    await questions;
    expect(went.slice(0, 5)).toEqual(["background", "general", "general", "background", "general"]);
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(loops);
  });
});
