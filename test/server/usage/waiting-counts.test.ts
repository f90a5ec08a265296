import { describe, expect, test } from "vitest";
import { WaitingCounts } from "../../../server/usage/waiting-counts.ts";
import { leastOfFive, threadCpuTimeOf } from "../../env/cpu-time.ts";

const MOST = 12;
const open = () => new WaitingCounts<number>(MOST, (known, more) => known + more);

/** Adds counts of a team, and returns which are given up. */
function addTo(waiting: WaitingCounts<number>, teamId: string, counts: readonly number[]): number[] {
  return counts.flatMap((count) => waiting.add(teamId, `${teamId} ${count}`, count) ?? []);
}

/** How many of each team wait; nothing does any more then. */
function takeAll(waiting: WaitingCounts<number>): Record<string, number> {
  const of: Record<string, number> = {};
  for (const name of waiting.take(MOST).keys()) {
    const [teamId = ""] = name.split(" ");
    of[teamId] = (of[teamId] ?? 0) + 1;
  }
  return of;
}

const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);

describe("Counts that wait", () => {
  test("are all of one team where no other has any, and no more than there is room for", () => {
    const waiting = open();
    expect(addTo(waiting, "a", from(0, 15))).toEqual([12, 13, 14]);
    expect(waiting.size).toBe(MOST);
    expect(takeAll(waiting)).toEqual({ a: MOST });
    expect(waiting.size).toBe(0);
  });

  test("b213: of a team that has more than its even part are given up for another's", () => {
    const waiting = open();
    addTo(waiting, "a", from(0, 12));
    expect(addTo(waiting, "b", from(100, 8))).toEqual([0, 1, 2, 3, 4, 5, 106, 107]);
    expect(addTo(waiting, "c", from(200, 2))).toHaveLength(2);
    expect(addTo(waiting, "a", from(300, 5))).toEqual([300, 301, 302, 303, 304]);
    expect(takeAll(waiting)).toEqual({ a: 5, b: 5, c: 2 });
  });

  test("b213: are given up by the team that has the most by then, where its predecessor's were taken between", () => {
    const waiting = open();
    addTo(waiting, "a", from(0, 12));
    waiting.take(10);
    expect(addTo(waiting, "b", from(100, 9))).toEqual([]);
    expect(addTo(waiting, "c", from(200, 4))).toEqual([100, 101, 102]);
    expect(takeAll(waiting)).toEqual({ a: 2, b: 6, c: 4 });
  });

  test("b213: of another team are given up also where they are as many as those that come", () => {
    const waiting = open();
    for (let i = 0; i < MOST; i++) waiting.add("a", `a ${i}`, 1);
    expect(waiting.add("b", "b 0", 1)).toBe(1);
    expect(waiting.size).toBe(MOST);
    expect(takeAll(waiting)).toEqual({ a: MOST - 1, b: 1 });
  });

  test("are added to those of their name, also where there is no room", () => {
    const waiting = open();
    addTo(waiting, "a", from(0, 12));
    expect(waiting.add("a", "a 3", 40)).toBeUndefined();
    expect(waiting.take(MOST).get("a 3")).toBe(43);
  });

  test("of one name and two teams are taken one after the other", () => {
    const waiting = open();
    waiting.add("a", "key", 1);
    waiting.add("b", "key", 2);
    expect([...waiting.take(MOST)]).toEqual([["key", 1]]);
    expect([...waiting.take(MOST)]).toEqual([["key", 2]]);
    expect(waiting.size).toBe(0);
  });

  test("b235: are taken of a team that adds without end no sooner than those of another that waited meanwhile", () => {
    const waiting = open();
    addTo(waiting, "a", from(0, 8));
    addTo(waiting, "b", from(100, 2));
    expect([...waiting.take(4).values()]).toEqual([0, 1, 2, 3]);
    addTo(waiting, "a", from(10, 4));
    expect([...waiting.take(4).values()]).toEqual([100, 101, 4, 5]);
  });

  test("b235: are given up of however many teams without a look at each of them", async () => {
    const [most, teams] = [50_000, 25_000];
    const took = await leastOfFive(1_000, () => {
      const waiting = new WaitingCounts<number>(most, (known, more) => known + more);
      for (let i = 0; i < most; i++) waiting.add(`team ${i % teams}`, `key ${i}`, i);
      return threadCpuTimeOf(() => {
        for (let i = most; i < 2 * most; i++) waiting.add(`team ${i % teams}`, `key ${i}`, i);
        expect(waiting.size).toBe(most);
      });
    });
    expect(took).toBeLessThan(1_000);
  });

  test("b272: are given up of one team that has many of them without a look at those that it gave up before", async () => {
    const [most, more] = [250_000, 40_000];
    let waiting = new WaitingCounts<number>(most, (known, more) => known + more);
    const took = await leastOfFive(300, () => {
      waiting = new WaitingCounts<number>(most, (known, more) => known + more);
      for (let i = 0; i < most; i++) waiting.add(i < 180_000 ? "large" : `team ${i % 700}`, `key ${i}`, i);
      const given: (number | undefined)[] = [];
      const spent = threadCpuTimeOf(() => {
        for (let i = 0; i < more; i++) given.push(waiting.add(`other ${i % 500}`, `new ${i}`, i));
      });
      expect(given).toEqual(from(0, more));
      return spent;
    });
    expect(took).toBeLessThan(300);
    const { size } = waiting.take(250);
    for (let i = 0; i < size; i++) expect(waiting.add("other 0", `newer ${i}`, i)).toBeUndefined();
    expect(waiting.add("other 0", "newest", 0)).toBe(more + size);
  });
});
