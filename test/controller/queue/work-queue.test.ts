import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createControllerMetrics } from "../../../controller/metrics.ts";
import type { Timers } from "../../../controller/queue/deadlines.ts";
import { createWorkQueue, type QueueMetrics, REMAINS } from "../../../controller/queue/work-queue.ts";

/** Time that passes only on request. Timers fire in the order of their deadlines, and what is too long at once, as in Node. */
function simulatedTime() {
  let now = 0;
  let last = 0;
  let slept = 0;
  const timers = new Map<number, { at: number; run: () => void }>();
  const clock = { monotonic: () => now, now: () => now + slept };
  const fake: Timers = {
    setTimeout(run, ms) {
      timers.set(++last, { at: now + (ms > 2 ** 31 - 1 ? 1 : ms), run });
      return last;
    },
    clearTimeout: (timer) => void timers.delete(Number(timer)),
  };
  async function pass(ms: number): Promise<void> {
    const end = now + ms;
    for (;;) {
      await settle();
      const due = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined) break;
      timers.delete(due[0]);
      now = due[1].at;
      due[1].run();
    }
    now = end;
  }
  /** Timers and the steady clock stand still meanwhile. */
  const suspend = (ms: number) => {
    slept += ms;
  };
  return { clock, timers: fake, pass, suspend, pending: () => timers.size };
}

/** Lets everything run that only waits for promises. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

type Work = Parameters<typeof createWorkQueue<string>>[0]["work"];

type Options = {
  concurrency?: number;
  metrics?: QueueMetrics;
  isUrgent?: (item: string) => boolean;
  group?: (item: string) => string;
};

function start(work: Work, { concurrency = 2, metrics, isUrgent = () => false, group = () => "" }: Options = {}) {
  const time = simulatedTime();
  const failures: { item: string; retryInMs: number }[] = [];
  const ending = new AbortController();
  const queue = createWorkQueue<string>({
    key: (item) => item,
    work,
    earlyLane: (item) => (isUrgent(item) ? "urgent" : undefined),
    group,
    concurrency,
    clock: time.clock,
    timers: time.timers,
    random: () => 0,
    onFailure: (item, _error, retryInMs) => failures.push({ item, retryInMs }),
    ...(metrics === undefined ? {} : { metrics }),
  });
  return { ...time, queue, failures, ending, end: queue.run(ending.signal) };
}

/** Work that ends on request. */
function heldWork() {
  const started: string[] = [];
  const held: { item: string; end: () => void; fail: (error: Error) => void }[] = [];
  const work: Work = (item) =>
    new Promise((resolve, reject) => {
      started.push(item);
      held.push({ item, end: () => resolve(undefined), fail: reject });
    });
  const release = async (item: string) => {
    const index = held.findIndex((one) => one.item === item);
    held.splice(index, 1)[0]?.end();
    await settle();
  };
  return { started, work, release };
}

describe("the work queue", () => {
  it("works on a name once, however often it was added before its turn", async () => {
    const { started, work, release } = heldWork();
    const { queue } = start(work, { concurrency: 1 });
    for (const item of ["a", "b", "b", "b", "c", "b"]) queue.add(item);
    for (const item of ["a", "b", "c"]) await release(item);
    expect(started).toEqual(["a", "b", "c"]);
  });

  it("works again on a name that was added while it was being worked on, and never at the same time", async () => {
    const { started, work, release } = heldWork();
    const { queue } = start(work, { concurrency: 4 });
    for (let i = 0; i < 3; i++) queue.add("a");
    await settle();
    expect(started).toEqual(["a"]);
    await release("a");
    expect(started).toEqual(["a", "a"]);
    await release("a");
    expect(started).toHaveLength(2);
  });

  it("works on as many names at once as it may, in the order they came", async () => {
    const { started, work, release } = heldWork();
    const { queue } = start(work, { concurrency: 3 });
    for (const item of ["a", "b", "c", "d", "e"]) queue.add(item);
    await settle();
    expect(started).toEqual(["a", "b", "c"]);
    await release("b");
    expect(started).toEqual(["a", "b", "c", "d"]);
  });

  it.for([
    ["as they were added", false],
    ["urgently", true],
  ] as const)(
    "b352: holds no namespace up behind the many names of another, which alternate, each in its order: %s",
    async ([, areUrgent]) => {
      const { started, work, release } = heldWork();
      const { queue } = start(work, {
        concurrency: 1,
        isUrgent: () => areUrgent,
        group: (item) => item.split("/")[0] ?? "",
      });
      for (let i = 0; i < 1_000; i++) queue.add(`many/${i}`);
      for (const item of ["few/0", "few/1", "one/0"]) queue.add(item);
      for (let i = 0; i < 7; i++) await release(started.at(-1) ?? "");
      expect(started).toEqual(["many/0", "many/1", "few/0", "one/0", "many/2", "few/1", "many/3", "many/4"]);
      // A namespace that comes back is behind those that wait, and takes no turn for the time that it was away.
      for (const item of ["few/2", "few/3"]) queue.add(item);
      for (let i = 0; i < 4; i++) await release(started.at(-1) ?? "");
      expect(started.slice(8)).toEqual(["many/5", "few/2", "many/6", "few/3"]);
    },
  );

  it("finishes what is half done before it begins anything", async () => {
    const { started, work, release } = heldWork();
    const run = start(work, { concurrency: 1 });
    for (const item of ["a", "b", "c", "d"]) run.queue.add(item);
    run.queue.resume("e");
    run.queue.resume("c");
    for (const item of ["a", "e", "c", "b", "d"]) await release(item);
    expect(started).toEqual(["a", "e", "c", "b", "d"]);
  });

  it("c20: lets what is urgent pass what waits, also what had begun to wait before it was, and three of four turns at most", async () => {
    const { started, work, release } = heldWork();
    const urgent = new Set<string>();
    const { queue } = start(work, { concurrency: 1, isUrgent: (item) => urgent.has(item) });
    const items = ["in hand", ...Array.from({ length: 9 }, (_, i) => `key-${i}`)];
    for (const item of items) queue.add(item);
    queue.resume("half done");
    for (const item of ["key-8", "key-7", "gone-1", "gone-2", "gone-3"]) {
      urgent.add(item);
      queue.add(item);
    }
    for (let i = 0; i < 12; i++) await release(started.at(-1) ?? "");
    expect(started).toEqual([
      ...["in hand", "key-8", "key-7", "gone-1", "half done", "gone-2", "gone-3"],
      ...["key-0", "key-1", "key-2", "key-3", "key-4", "key-5", "key-6"].slice(0, 6),
    ]);
  });

  it("c71: leaves what remains of urgent names until none of them waits or is worked on, be it added again", async () => {
    const done: string[] = [];
    const last = Promise.withResolvers<void>();
    const { queue } = start(
      async (item, _signal, isUrgent) => {
        if (isUrgent && item === "key-3") await last.promise;
        done.push(`${isUrgent ? "end" : "rest of"} ${item}`);
        return isUrgent ? REMAINS : undefined;
      },
      { isUrgent: (item) => item.startsWith("key") },
    );
    for (const item of ["key-1", "key-2", "key-3"]) queue.add(item);
    await settle();
    expect(done, "one is still to end").toEqual(["end key-1", "end key-2"]);
    queue.add("key-1");
    queue.add("other");
    await settle();
    expect(done.slice(2), "of four turns one is another's").toEqual(["rest of other", "end key-1"]);
    last.resolve();
    await settle();
    expect(done.slice(4)).toEqual(["end key-3", "rest of key-2", "rest of key-1", "rest of key-3"]);
  });

  it("c71: lets what remains pass what waits, in three of four turns at most", async () => {
    const done: string[] = [];
    const { queue } = start(
      async (item, _signal, isUrgent) => {
        done.push(item);
        return isUrgent ? REMAINS : undefined;
      },
      { concurrency: 1, isUrgent: (item) => item.startsWith("key") },
    );
    for (const item of ["a", "b", "c", "key-1", "key-2", "key-3", "key-4"]) queue.add(item);
    await settle();
    expect(done.join(" ")).toBe("a key-1 key-2 key-3 b key-4 key-1 key-2 c key-3 key-4");
  });

  it("c71: goes on with a longer back-off for a name of which only the rest fails", async () => {
    const run = start(async (_item, _signal, isUrgent) => (isUrgent ? REMAINS : Promise.reject(new Error("refused"))), {
      isUrgent: () => true,
    });
    run.queue.add("key");
    await run.pass(40);
    expect(run.failures.map(({ retryInMs }) => retryInMs)).toEqual([5, 10, 20, 40]);
  });

  it("gives the worker away while something goes on without it, and works on the name again when that ends", async () => {
    const started: string[] = [];
    const slow = Promise.withResolvers<void>();
    const { queue } = start(
      async (item) => {
        started.push(item);
        return item === "slow" && started.length === 1 ? { done: slow.promise } : undefined;
      },
      { concurrency: 1 },
    );
    for (const item of ["slow", "a", "b"]) queue.add(item);
    await settle();
    expect(started).toEqual(["slow", "a", "b"]);
    slow.resolve();
    await settle();
    expect(started).toEqual(["slow", "a", "b", "slow"]);
  });

  it("retries what failed without a worker after a back-off that grows, as it does what failed with one", async () => {
    const run = start(async () => ({ done: Promise.reject(new Error("refused")) }));
    run.queue.add("a");
    await run.pass(40);
    expect(run.failures.map(({ retryInMs }) => retryInMs)).toEqual([5, 10, 20, 40]);
    run.ending.abort();
    await run.end;
    expect(run.pending()).toBe(0);
  });

  it("lets a name that is added all the time starve no other", async () => {
    const order: string[] = [];
    const { queue, ending } = start(
      async (item) => {
        order.push(item);
        if (item === "busy" && order.length < 50) queue.add("busy");
        return undefined;
      },
      { concurrency: 1 },
    );
    for (const item of ["busy", "a", "b"]) queue.add(item);
    await settle();
    expect(order.slice(0, 4)).toEqual(["busy", "a", "b", "busy"]);
    ending.abort();
  });

  it("looks again after the time that the work asked for", async () => {
    const at: number[] = [];
    const run = start(async () => {
      at.push(run.clock.monotonic());
      return 1_000;
    });
    run.queue.add("a");
    await run.pass(3_500);
    expect(at).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it("keeps the earliest of several deadlines of one name", async () => {
    const at: number[] = [];
    const run = start(async () => {
      at.push(run.clock.monotonic());
      return undefined;
    });
    run.queue.addAfter("a", 500);
    run.queue.addAfter("a", 200);
    run.queue.addAfter("a", 900);
    await run.pass(5_000);
    expect(at).toEqual([200]);
  });

  it("looks at a deadline that is far away when it has come, and not before", async () => {
    const far = 30 * 24 * 3_600_000;
    const at: number[] = [];
    const run = start(async () => {
      at.push(run.clock.monotonic());
      return undefined;
    });
    run.queue.addAfter("a", far);
    await run.pass(2 * far);
    expect(at).toEqual([far]);
  });

  it("is late by no more than 30 s at a deadline that passed while the machine was suspended", async () => {
    const at: number[] = [];
    const run = start(async () => {
      at.push(run.clock.now());
      return undefined;
    });
    run.queue.addAfter("a", 3_600_000);
    await run.pass(45_000);
    run.suspend(7_200_000);
    await run.pass(30_000);
    expect(at).toEqual([60_000 + 7_200_000]);
  });

  it("retries a failure sooner at first, then ever later, never later than after 30 s", async () => {
    const run = start(() => Promise.reject(new Error("no")));
    run.queue.add("a");
    await run.pass(10 * 60_000);
    const delays = run.failures.map(({ retryInMs }) => retryInMs);
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(Math.max(...delays)).toBe(30_000);
    expect(delays.at(-1)).toBe(30_000);
  });

  it("starts over with short retries once the work has succeeded", async () => {
    let failing = true;
    const run = start(() => (failing ? Promise.reject(new Error("no")) : Promise.resolve(undefined)));
    run.queue.add("a");
    await run.pass(1_000);
    failing = false;
    await run.pass(60_000);
    failing = true;
    run.failures.length = 0;
    run.queue.add("a");
    await run.pass(1);
    expect(run.failures[0]?.retryInMs).toBe(5);
  });

  it("c23: a name whose work fails for ever delays no other", async () => {
    const worked: string[] = [];
    const run = start(
      async (item) => {
        if (item === "poison") throw new Error("poison");
        worked.push(item);
        return undefined;
      },
      { concurrency: 1 },
    );
    run.queue.add("poison");
    for (let i = 0; i < 100; i++) {
      await run.pass(100);
      run.queue.add(`name-${i}`);
      await run.pass(0);
      expect(worked).toHaveLength(i + 1);
    }
    expect(run.failures.length).toBeLessThan(20);
  });

  it("c20: what fails once is tried again before what has not been begun, what fails on behind it", async () => {
    const worked: string[] = [];
    const run = start(
      async (item) => {
        const isRetried = worked.includes(item);
        worked.push(item);
        await new Promise<void>((resolve) => run.timers.setTimeout(resolve, 10));
        if (item === "poison" || (item === "unlucky" && !isRetried)) throw new Error("no answer");
        return undefined;
      },
      { concurrency: 1 },
    );
    const others = Array.from({ length: 10 }, (_, i) => `name-${i}`);
    for (const item of ["unlucky", "poison", ...others]) run.queue.add(item);
    await run.pass(1_000);
    expect(worked.slice(0, 15)).toEqual(["unlucky", "poison", "unlucky", "poison", ...others, "poison"]);
  });

  it("ends with the work in hand when it is stopped, and begins nothing more", async () => {
    const { started, work, release } = heldWork();
    const run = start(work, { concurrency: 1 });
    let ended = false;
    void run.end.then(() => {
      ended = true;
    });
    for (const item of ["a", "b"]) run.queue.add(item);
    run.queue.addAfter("c", 10);
    run.ending.abort();
    await run.pass(1_000);
    expect(ended).toBe(false);
    await release("a");
    expect(ended).toBe(true);
    run.queue.add("d");
    run.queue.addAfter("e", 10);
    await run.pass(1_000);
    expect(started).toEqual(["a"]);
    expect(run.pending()).toBe(0);
  });

  it("ends at once when it is stopped with nothing in hand, or before it began", async () => {
    const idle = start(async () => undefined);
    idle.ending.abort();
    await idle.end;
    const { clock, timers } = simulatedTime();
    const never = createWorkQueue<string>({
      key: (item) => item,
      group: () => "",
      work: () => Promise.reject(new Error("must not run")),
      concurrency: 1,
      clock,
      timers,
      random: () => 0,
      onFailure: () => {
        throw new Error("ran");
      },
    });
    never.add("a");
    await never.run(AbortSignal.abort());
  });

  it("counts what the workqueue metrics show", async () => {
    const seen = { depth: 0, added: 0, retried: 0, waited: [] as number[], took: [] as number[] };
    const { started, work, release } = heldWork();
    const run = start(work, {
      concurrency: 1,
      metrics: {
        depth: (waiting) => {
          seen.depth = waiting;
        },
        added: () => void seen.added++,
        retried: () => void seen.retried++,
        started: (ms) => void seen.waited.push(ms),
        finished: (ms) => void seen.took.push(ms),
      },
    });
    for (const item of ["a", "b", "b"]) run.queue.add(item);
    expect(seen.depth).toBe(1);
    await run.pass(30);
    await release("a");
    await run.pass(12);
    await release("b");
    expect(started).toEqual(["a", "b"]);
    expect(seen).toEqual({ depth: 0, added: 2, retried: 0, waited: [0, 30], took: [30, 12] });
  });

  it("shows nothing as waiting once it has been stopped, not even what was added again meanwhile", async () => {
    let depth = 0;
    const { work, release } = heldWork();
    const counted = { added() {}, retried() {}, started() {}, finished() {} };
    const run = start(work, {
      concurrency: 1,
      metrics: {
        ...counted,
        depth: (waiting) => {
          depth = waiting;
        },
      },
    });
    for (const item of ["a", "a", "b"]) run.queue.add(item);
    expect(depth).toBe(1);
    run.ending.abort();
    expect(depth).toBe(0);
    await release("a");
    await run.end;
    expect(depth).toBe(0);
  });

  it("counts as failed the reconciliation that failed, and no other, whatever goes on without a worker", async () => {
    const { queue: metrics, registry } = createControllerMetrics();
    const rollout = Promise.withResolvers<void>();
    const tries = new Map<string, number>();
    const run = start(
      async (item) => {
        const isFirst = !tries.has(item);
        tries.set(item, 1);
        if (item === "refused" && isFirst) throw new Error("refused");
        return item === "rollout" && isFirst ? { done: rollout.promise } : undefined;
      },
      { concurrency: 1, metrics },
    );
    run.queue.add("rollout");
    await settle();
    rollout.reject(new Error("the rollout failed"));
    await run.pass(5);
    for (const item of ["healthy", "refused"]) run.queue.add(item);
    await run.pass(5);
    const text = await registry.metrics();
    // The rollout's two, the healthy one and the second of the refused one.
    expect(text).toContain('controller_runtime_reconcile_total{controller="keyplane",result="success"} 4');
    expect(text).toContain('controller_runtime_reconcile_total{controller="keyplane",result="error"} 1');
    expect(text).toContain('controller_runtime_reconcile_errors_total{controller="keyplane"} 2');
  });

  it("for any order of events works on each name after it was last added, one worker a name, and comes to rest", async () => {
    const name = fc.constantFrom("a", "b", "c", "d");
    const step = fc.oneof(
      fc.record({ do: fc.constant("add" as const), name }),
      fc.record({ do: fc.constant("addAfter" as const), name, ms: fc.nat({ max: 100 }) }),
      fc.record({ do: fc.constant("fail" as const), name }),
      fc.record({ do: fc.constant("pass" as const), ms: fc.nat({ max: 60 }) }),
    );
    const promise = async (steps: (typeof step extends fc.Arbitrary<infer S> ? S : never)[], concurrency: number) => {
      let moment = 0;
      const inHand = new Set<string>();
      const failing = new Set<string>();
      const added = new Map<string, number>();
      const begun = new Map<string, number>();
      const work: Work = async (item) => {
        expect(inHand).not.toContain(item);
        inHand.add(item);
        expect(inHand.size).toBeLessThanOrEqual(concurrency);
        const beginning = ++moment;
        await settle();
        inHand.delete(item);
        if (failing.delete(item)) throw new Error("on request");
        begun.set(item, beginning);
        return undefined;
      };
      const run = start(work, { concurrency });
      for (const now of steps) {
        if (now.do === "pass") await run.pass(now.ms);
        if (now.do === "fail") failing.add(now.name);
        if (now.do === "add" || now.do === "addAfter") added.set(now.name, ++moment);
        if (now.do === "add") run.queue.add(now.name);
        if (now.do === "addAfter") run.queue.addAfter(now.name, now.ms);
      }
      for (let i = 0; i < 10; i++) await run.pass(1_000);
      for (const [item, last] of added) expect(begun.get(item)).toBeGreaterThan(last);
      expect(run.pending()).toBe(0);
      run.ending.abort();
      await run.end;
    };
    const orders = fc.array(step, { maxLength: 60 });
    await fc.assert(fc.asyncProperty(orders, fc.integer({ min: 1, max: 3 }), promise), { numRuns: 60 });
  });
});
