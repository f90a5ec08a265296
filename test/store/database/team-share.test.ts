import { describe, expect, test } from "vitest";
import { MemoryBusyError } from "../../../store/database/errors.ts";
import { TeamShare } from "../../../store/database/team-share.ts";

const NEVER = new AbortController().signal;

/** A share in which calls are known by their names, in the order in which they began. */
function share(limits: ConstructorParameters<typeof TeamShare>[0]) {
  let now = 0;
  const teams = new TeamShare(limits, () => now);
  const began: string[] = [];
  const enter = (team: string, name: string, signal = NEVER, isUrgent = false) =>
    teams.enter(team, signal, isUrgent).then(() => {
      began.push(name);
    });
  /** @param ranMs how long the call ran, in milliseconds */
  const leave = async (team: string, ranMs = 0, isUrgent = false) => {
    teams.leave(team, ranMs, isUrgent);
    await new Promise(setImmediate);
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { enter, leave, pass, began };
}

describe("The memory's share of the database", () => {
  test("b86: teams take turns, however many calls of one wait", async () => {
    const { enter, leave, began } = share({ running: 1, runningPerTeam: 1, waiting: 10, waitingPerTeam: 5 });
    const calls = [enter("a", "a1"), enter("a", "a2"), enter("a", "a3"), enter("b", "b1"), enter("c", "c1")];
    await calls[0];
    for (const team of ["a", "b", "c", "a"]) await leave(team);
    await Promise.all(calls);
    expect(began).toEqual(["a1", "b1", "c1", "a2", "a3"]);
  });

  test("b86: short calls that wait together pass the long ones of another team until they have had as much time", async () => {
    const { enter, leave, began } = share({ running: 1, runningPerTeam: 1, waiting: 20, waitingPerTeam: 9 });
    const calls = ["a1", "a2", "a3"].map((name) => enter("a", name));
    calls.push(...["b1", "b2", "b3", "b4"].map((name) => enter("b", name)));
    await leave("a", 30);
    for (let i = 0; i < 3; i++) await leave("b", 10);
    await leave("a", 30);
    await leave("b", 10);
    await Promise.all(calls);
    expect(began).toEqual(["a1", "b1", "b2", "b3", "a2", "b4", "a3"]);
  });

  test("b353: what a team reads has one of four turns, however many changes of its own wait without an end", async () => {
    const { enter, leave, began } = share({ running: 1, runningPerTeam: 1, waiting: 100, waitingPerTeam: 50 });
    const change = (name: string) => enter("a", name, NEVER, true);
    const calls = [change("c0")];
    await calls[0];
    calls.push(...["c1", "c2", "c3", "c4"].map(change), ...["r1", "r2"].map((name) => enter("a", name)));
    for (let i = 5; i < 12; i++) {
      calls.push(change(`c${i}`));
      await leave("a", 1, began.at(-1)?.startsWith("c"));
    }
    expect(began).toEqual(["c0", "c1", "c2", "r1", "c3", "c4", "c5", "r2"]);
    for (let i = 0; i < 7; i++) await leave("a", 1, began.at(-1)?.startsWith("c"));
    await Promise.all(calls);
  });

  test("b154, b353: a change that comes after many waits behind no read that is long", async () => {
    const { enter, leave, began } = share({ running: 4, runningPerTeam: 1, waiting: 100, waitingPerTeam: 50 });
    for (let i = 0; i < 3; i++) {
      await enter("a", "change", NEVER, true);
      await leave("a", 1, true);
    }
    await enter("a", "long read");
    const calls = [enter("a", "read"), enter("a", "revocation", NEVER, true)];
    await calls[1];
    expect(began.slice(3)).toEqual(["long read", "revocation"]);
    await leave("a", 1, true);
    await leave("a", 1);
    await Promise.all(calls);
  });

  test("b86: a team that comes back has saved no time up", async () => {
    const { enter, leave, began } = share({ running: 1, runningPerTeam: 1, waiting: 20, waitingPerTeam: 9 });
    await enter("b", "b0");
    await leave("b", 1);
    for (let i = 0; i < 3; i++) {
      await enter("a", "");
      await leave("a", 100);
    }
    began.length = 0;
    const calls = [enter("a", "a1"), enter("a", "a2"), ...["b1", "b2", "b3"].map((name) => enter("b", name))];
    for (const team of ["a", "b", "a", "b"]) await leave(team, 10);
    await Promise.all(calls);
    expect(began).toEqual(["a1", "b1", "a2", "b2", "b3"]);
  });

  test("b86: no team runs more than its share, though no other team asks", async () => {
    const { enter, leave, began } = share({ running: 4, runningPerTeam: 2, waiting: 10, waitingPerTeam: 5 });
    const calls = ["a1", "a2", "a3"].map((name) => enter("a", name));
    await enter("b", "b1");
    expect(began).toEqual(["a1", "a2", "b1"]);
    await leave("a");
    await Promise.all(calls);
    expect(began).toEqual(["a1", "a2", "b1", "a3"]);
  });

  describe("of a team whose calls are long", () => {
    const LIMITS = { running: 8, runningPerTeam: 4, waiting: 20, waitingPerTeam: 20 };

    /** A share in which a team's calls have taken so long each, and another team asks or not. */
    async function shareOfLong(ranMs: number, calls: number, other: boolean) {
      const made = share(LIMITS);
      for (let i = 0; i < calls; i++) {
        await made.enter("a", "");
        if (other) await made.enter("b", "");
        await made.leave("a", ranMs);
        if (other) await made.leave("b", 2);
      }
      made.began.length = 0;
      for (let i = 1; i <= 5; i++) void made.enter("a", `a${i}`);
      await new Promise(setImmediate);
      return made;
    }

    test.each([
      ["b86: one runs at a time beside other teams", 100, true, 1],
      ["two run at a time beside other teams where they take half as long", 28, true, 2],
      ["as many run as of any team where they are short", 5, true, 4],
      ["as many run as of any team where no other team asks", 100, false, 4],
    ])("%s", async (_what, ranMs, other, running) => {
      const { began } = await shareOfLong(ranMs, 40, other);
      expect(began).toHaveLength(running);
    });

    test("b86: many short calls between them make no room for more long ones", async () => {
      const { enter, leave, began } = await shareOfLong(100, 40, true);
      for (let i = 0; i < 5; i++) await leave("a", 100);
      for (let i = 0; i < 30; i++) {
        await enter("a", "");
        await leave("a", 1);
      }
      began.length = 0;
      for (let i = 1; i <= 5; i++) void enter("a", `a${i}`);
      await new Promise(setImmediate);
      expect(began).toEqual(["a1"]);
    });

    test("all that wait run again once the other teams have gone", async () => {
      const { enter, pass, began } = await shareOfLong(100, 40, true);
      expect(began).toEqual(["a1"]);
      pass(2_001);
      void enter("a", "a6");
      await new Promise(setImmediate);
      expect(began).toEqual(["a1", "a2", "a3", "a4"]);
    });
  });

  test("b87: what waits is dropped when its caller leaves, and few may wait", async () => {
    const { enter, leave, began } = share({ running: 1, runningPerTeam: 1, waiting: 3, waitingPerTeam: 2 });
    await enter("a", "a1");
    const left = new AbortController();
    const dropped = enter("a", "a2", left.signal);
    const kept = enter("a", "a3");
    await expect(enter("a", "a4")).rejects.toMatchObject({ of: "team" });
    const others = enter("b", "b1");
    await expect(enter("c", "c1")).rejects.toThrow(MemoryBusyError);
    left.abort(new Error("left"));
    await expect(dropped).rejects.toThrow("left");
    const late = enter("c", "c2");
    for (const team of ["a", "b", "c"]) await leave(team);
    await Promise.all([kept, others, late]);
    expect([...began].sort()).toEqual(["a1", "a3", "b1", "c2"]);
    expect(began).not.toContain("a2");
  });
});
