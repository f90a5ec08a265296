import { describe, expect, test } from "vitest";
import { Lease } from "../../../server/key-index/lease.ts";
import { sharedCells } from "../../../server/key-index/shared-cells.ts";

const LENGTH = 5_000;

/** A clock that stands still; the database is 100 s ahead of it. */
function open() {
  const time = { wall: 1_000_000, steady: 50_000 };
  const clock = { now: () => time.wall, monotonic: () => time.steady };
  const { lease: cells } = sharedCells();
  const lease = Lease.begin(clock, cells);
  const pass = (ms: number) => {
    time.wall += ms;
    time.steady += ms;
  };
  return { time, clock, cells, lease, pass };
}

describe("a lease", () => {
  test("has run out until it is first renewed", () => {
    const { lease } = open();
    expect([lease.holds(), lease.remaining()]).toEqual([false, Number.NEGATIVE_INFINITY]);
    lease.renew(lease.moment(), LENGTH);
    expect([lease.holds(), lease.remaining(), lease.age()]).toEqual([true, LENGTH, 0]);
  });

  test("runs from the moment of the question, however late its answer is", () => {
    const { lease, pass } = open();
    const asked = lease.moment();
    pass(4_999);
    lease.renew(asked, LENGTH);
    expect([lease.holds(), lease.remaining()]).toEqual([true, 1]);
    pass(1);
    expect(lease.holds()).toBe(false);
  });

  test.each([1_001, -1_001])("ends as the wall clock jumps by %i ms: the machine may have been suspended", (jump) => {
    const { time, lease } = open();
    lease.renew(lease.moment(), LENGTH);
    time.wall += Math.sign(jump) * 1_000;
    expect(lease.holds()).toBe(true);
    time.wall += jump - Math.sign(jump) * 1_000;
    expect(lease.holds()).toBe(false);
    lease.renew(lease.moment(), LENGTH);
    expect(lease.holds(), "renewed by the clock as it is now").toBe(true);
  });

  test("is one for all threads, by the cells that they share", () => {
    const { clock, cells, lease } = open();
    const read = Lease.read(clock, cells);
    expect(read.holds()).toBe(false);
    lease.renew(lease.moment(), LENGTH);
    expect(read.holds()).toBe(true);
    lease.end();
    expect(read.holds()).toBe(false);
  });
});

describe("the time by the database's clock", () => {
  test("runs on the monotonic clock: a wall clock that is set revives no expired key", () => {
    const { time, lease, pass } = open();
    lease.setDatabaseTime(lease.moment(), 1_100_000);
    time.wall -= 3_600_000;
    pass(250);
    expect(lease.now()).toBe(1_100_250);
  });

  test.each([
    ["is late by nothing of a quick answer", 300, 0],
    ["is early by nothing of one that took a second", 1_000, 0],
    ["is set back by what a slow answer took beyond a second", 1_400, 400],
    ["is set back by a second at most", 9_000, 1_000],
  ])("c39: %s", (_, roundTrip, early) => {
    const { lease, pass } = open();
    const asked = lease.moment();
    pass(roundTrip);
    lease.setDatabaseTime(asked, 1_100_000);
    expect(lease.now()).toBe(1_100_000 + roundTrip - early);
  });

  test("is this machine's own before the database was asked", () => {
    const { time, lease } = open();
    expect(lease.now()).toBe(time.wall);
  });
});
