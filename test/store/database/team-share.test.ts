import { describe, expect, test } from "vitest";
import { MemoryBusyError } from "../../../store/database/errors.ts";
import { TeamShare } from "../../../store/database/team-share.ts";

const NEVER = new AbortController().signal;

/** A share in which calls are known by their names, in the order in which they began. */
function share(limits: ConstructorParameters<typeof TeamShare>[0]) {
  const teams = new TeamShare(limits);
  const began: string[] = [];
  const enter = (team: string, name: string, signal = NEVER) =>
    teams.enter(team, signal).then(() => {
      began.push(name);
    });
  const leave = async (team: string) => {
    teams.leave(team);
    await new Promise(setImmediate);
  };
  return { enter, leave, began };
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

  test("b86: no team runs more than its share, though no other team asks", async () => {
    const { enter, leave, began } = share({ running: 4, runningPerTeam: 2, waiting: 10, waitingPerTeam: 5 });
    const calls = ["a1", "a2", "a3"].map((name) => enter("a", name));
    await enter("b", "b1");
    expect(began).toEqual(["a1", "a2", "b1"]);
    await leave("a");
    await Promise.all(calls);
    expect(began).toEqual(["a1", "a2", "b1", "a3"]);
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
