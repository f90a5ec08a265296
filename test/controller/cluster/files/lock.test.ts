import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { DataLockedError, lockData } from "../../../../controller/cluster/files/lock.ts";
import { kill, startChild } from "./child.ts";
import { clock, makeFolder } from "./harness.ts";

describe("the lock on DATA", () => {
  it("lets a second process wait 15 s for the first, and then says what to do", async (context) => {
    const data = await makeFolder(context);
    const holder = await startChild("lock-holder.ts", data, "locked");
    let now = 0;
    const fast = { monotonic: () => (now += 1_000) };
    const said: string[] = [];
    const onWait = (message: string) => said.push(message);
    const error = await lockData(data, { clock: fast, onWait }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(DataLockedError);
    const who = `(pid ${holder.pid} on ${hostname()})`;
    const is = `another keyplane process is using ${data}`;
    expect(String(error)).toContain(`${is}, and still was after 15 s: stop it first`);
    expect(String(error)).toMatch(/with --data \(pid \d+ on .+\)$/);
    expect(said).toEqual([`${is} ${who}: waiting up to 15 s for it to end`]);
    expect(now).toBe(16_000);
  });

  it("c62: is waited for no longer than the signal", async (context) => {
    const data = await makeFolder(context);
    await startChild("lock-holder.ts", data, "locked");
    const stop = new AbortController();
    const onWait = () => stop.abort();
    const waited = await lockData(data, { clock, onWait, signal: stop.signal }).catch((caught: unknown) => caught);
    expect(stop.signal.aborted && waited === stop.signal.reason).toBe(true);
  });

  it("is free as soon as the first is killed with kill -9", async (context) => {
    const data = await makeFolder(context);
    const holder = await startChild("lock-holder.ts", data, "locked");
    await expect(lockData(data, { clock, patienceMs: 0 })).rejects.toThrow(DataLockedError);
    await kill(holder);
    (await lockData(data, { clock, patienceMs: 0 })).release();
  });

  it("is handed to the one that waits when the first ends", async (context) => {
    const data = await makeFolder(context);
    const holder = await startChild("lock-holder.ts", data, "locked");
    const waiting = lockData(data, { clock, patienceMs: 300_000 });
    await kill(holder);
    (await waiting).release();
  });

  it("goes to one alone of many that race for it, also within a process", async (context) => {
    const data = await makeFolder(context);
    const race = await Promise.allSettled(Array.from({ length: 8 }, () => lockData(data, { clock, patienceMs: 0 })));
    expect(race.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await startChild("lock-holder.ts", data, "refused");
    for (const one of race) if (one.status === "fulfilled") one.value.release();
  });

  it("is of one folder: another one can be used meanwhile", async (context) => {
    const [first, second] = [await makeFolder(context), await makeFolder(context)];
    const locks = [await lockData(first, { clock }), await lockData(second, { clock })];
    for (const lock of locks) lock.release();
  });
});
