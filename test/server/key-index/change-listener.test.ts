import { describe, expect, test } from "vitest";
import { createLog } from "../../../runtime/log.ts";
import { ChangeListener } from "../../../server/key-index/change-listener.ts";
import type { Feed } from "../../../server/key-index/feed.ts";
import type { ListenConnection } from "../../../store/database/store.ts";

/** A database whose connections a test ends or lets fail. */
function open() {
  const lines: string[] = [];
  const log = createLog("debug", { write: (line) => lines.push(JSON.parse(line).msg) });
  const time = { now: 0 };
  const database = { refuses: false, isDead: false, opened: 0, closed: 0, pings: 0, notify: () => {}, end: () => {} };
  const connection: ListenConnection = {
    async ping() {
      database.pings++;
      if (database.isDead) throw new Error("no answer");
    },
    async close() {
      database.closed++;
    },
  };
  const listen: Feed["listen"] = async (onHint, onEnd) => {
    if (database.refuses) throw new Error("no connection");
    database.opened++;
    Object.assign(database, { notify: onHint, end: onEnd });
    return connection;
  };
  let hints = 0;
  const clock = { now: () => 0, monotonic: () => time.now };
  const listener = new ChangeListener({ feed: { listen } as Feed, clock, log }, () => hints++);
  return { listener, database, time, lines, hints: () => hints };
}

describe("the connection that listens for changes", () => {
  test("is opened once, and hints at what changed before it was", async () => {
    const { listener, database, hints } = open();
    await Promise.all([listener.tend(), listener.tend()]);
    expect([database.opened, hints()]).toEqual([1, 1]);
    database.notify();
    expect(hints()).toBe(2);
    await listener.tend();
    expect([database.opened, database.pings, hints()]).toEqual([1, 0, 2]);
  });

  test("is asked for a sign of life every five seconds: nothing else would show that it is dead", async () => {
    const { listener, database, time } = open();
    await listener.tend();
    for (time.now of [4_999, 5_000, 5_001, 10_000]) await listener.tend();
    expect([database.pings, database.opened]).toEqual([2, 1]);
  });

  test("is given up where it gives none, closed, and opened again with a hint", async () => {
    const { listener, database, time, hints } = open();
    await listener.tend();
    database.isDead = true;
    time.now = 5_000;
    await listener.tend();
    expect([database.closed, database.opened]).toEqual([1, 1]);
    database.isDead = false;
    await listener.tend();
    expect([database.opened, hints()]).toEqual([2, 2]);
  });

  test("that ends by itself hints, since nothing notifies any more, and is opened again", async () => {
    const { listener, database, hints } = open();
    await listener.tend();
    database.end();
    expect(hints()).toBe(2);
    await listener.tend();
    expect([database.opened, hints()]).toEqual([2, 3]);
  });

  test("that cannot be opened is no error, is logged once until it can be, and is tried again", async () => {
    const { listener, database, lines } = open();
    database.refuses = true;
    for (let time = 0; time < 3; time++) await listener.tend();
    const lost = "the connection that listens for changes is lost; it is opened again";
    expect(lines).toEqual([lost]);
    database.refuses = false;
    await listener.tend();
    expect(database.opened).toBe(1);
    database.end();
    database.refuses = true;
    await listener.tend();
    expect(lines).toEqual([lost, lost]);
  });

  test("is closed with the listener, after what is under way", async () => {
    const { listener, database } = open();
    const tending = listener.tend();
    await listener.close();
    expect([database.opened, database.closed]).toEqual([1, 1]);
    await tending;
  });
});
