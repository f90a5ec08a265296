/** What threads of replicas admit by budgets together (docs/decisions/budgets.md). */
import { expect, test } from "vitest";
import type { Budget } from "../../../domain/budget/budget.ts";
import { UNUSED } from "../../../domain/usage/token-reservation.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { BudgetGrants, BudgetReservation } from "../../../server/budgets/budget-grants.ts";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";
import { keyRecord, testClock } from "../harness.ts";
import { budgetsOn, callOf, type Ledger, ledgerInMemory, usedOf } from "./ledger.ts";

function keyWith(budget: Partial<Budget> & { tokens: number }, owner = unique("owner")) {
  const item: Budget = { period: "Month", timeZone: "UTC", onExhausted: "Refuse", ...budget };
  return keyRecord({ budgets: { owner, items: [item] } });
}

async function reserved(thread: BudgetGrants, key: ReturnType<typeof keyWith>, tokens: number) {
  const answer = await thread.reserve(key, callOf(tokens));
  if ("kind" in answer) throw new Error(`refused: ${answer.kind}`);
  return answer;
}

async function kindOf(thread: BudgetGrants, key: ReturnType<typeof keyWith>, tokens: number): Promise<string> {
  const answer = await thread.reserve(key, callOf(tokens));
  if ("kind" in answer) return answer.kind;
  thread.settle(answer, UNUSED);
  return "reserved";
}

describeNightlyOnEachEngine("Threads of replicas", (store) => {
  const write: Ledger = (holder, lines) => writeLedger(store().db, holder, lines);
  const open = (clock: Clock = testClock()) => budgetsOn(write, clock);

  test("b129: admit together what a budget has room for, and no more, and again what was not used", async () => {
    const threads = [open(), open(), open(), open()];
    const key = keyWith({ tokens: 10_000 });
    const answers = await Promise.all(
      threads.flatMap((thread) => [1, 2, 3, 4].map(() => thread.reserve(key, callOf(1_000)))),
    );
    const admitted = answers.filter((answer): answer is BudgetReservation => !("kind" in answer));
    // What a thread has been granted beyond its reservations is a fiftieth of what was left.
    expect(admitted.length).toBeLessThanOrEqual(10);
    expect(admitted.length).toBeGreaterThanOrEqual(9);
    for (const [i, answer] of answers.entries()) {
      if (!("kind" in answer)) threads[Math.floor(i / 4)]?.settle(answer, usedOf(10));
    }
    for (const thread of threads) {
      await thread.endRound();
      await thread.endRound();
    }
    const rest = 10_000 - 10 * admitted.length;
    const [first = open()] = threads;
    expect(await kindOf(open(), key, rest)).toBe("reserved");
    expect(await kindOf(first, key, rest + 1)).toBe("exhausted");
  });

  test("b305: take what a call used beyond its reservation from what they hold, before the next one has any of it", async () => {
    const key = keyWith({ tokens: 100_000 });
    const thread = open();
    // A fiftieth was granted beside, which other calls may have until a call has used more than there is.
    const [one, other] = [await reserved(thread, key, 500), await reserved(thread, key, 500)];
    thread.settle(one, usedOf(600));
    expect(await kindOf(thread, key, 500)).toBe("reserved");
    thread.settle(other, usedOf(200_000));
    expect(await kindOf(thread, key, 1)).toBe("exhausted");
  });

  test("b129: count what a thread that died held as used", async () => {
    const key = keyWith({ tokens: 1_000 });
    const dead = open();
    await reserved(dead, key, 400);
    const alive = open();
    const call = await reserved(alive, key, 600);
    alive.settle(call, usedOf(50));
    await alive.endRound();
    await alive.endRound();
    expect(await kindOf(open(), key, 551)).toBe("exhausted");
    expect(await kindOf(open(), key, 550)).toBe("reserved");
  });

  test("b129: leave nothing behind where they stop in order", async () => {
    const key = keyWith({ tokens: 1_000 });
    const thread = open();
    thread.settle(await reserved(thread, key, 400), usedOf(10));
    await thread.close();
    expect(await kindOf(open(), key, 990)).toBe("reserved");
  });

  test("b130: go on with what a key has used that is deleted and declared again under its name", async () => {
    const thread = open();
    thread.settle(await reserved(thread, keyWith({ tokens: 1_000 }, "team-a c/ns/reader"), 900), usedOf(900));
    await thread.close();
    // Another key by its id, with the same name in the same team.
    expect(await kindOf(open(), keyWith({ tokens: 1_000 }, "team-a c/ns/reader"), 101)).toBe("exhausted");
    expect(await kindOf(open(), keyWith({ tokens: 1_000 }, "team-a c/ns/other"), 101)).toBe("reserved");
  });
});

function inMemory(start?: number) {
  const clock = testClock(start);
  const { database, write, sumOf } = ledgerInMemory();
  return { clock, database, sumOf, open: () => budgetsOn(write, clock), thread: budgetsOn(write, clock) };
}

test("b129: begins anew with the next period by the calendar of its place, and what was begun before is charged there", async () => {
  // An hour before the month ends in Berlin.
  const { clock, thread, sumOf } = inMemory(Date.UTC(2026, 9, 31, 22));
  const key = keyWith({ tokens: 1_000, timeZone: "Europe/Berlin" }, "o");
  const late = await reserved(thread, key, 1_000);
  const refused = await thread.reserve(key, callOf(1));
  expect(refused).toMatchObject({ kind: "exhausted", endsAt: Date.UTC(2026, 9, 31, 23) });
  clock.advance(3_600_000);
  expect(await kindOf(thread, key, 1_000)).toBe("reserved");
  thread.settle(late, usedOf(700));
  await thread.endRound();
  await thread.endRound();
  expect(sumOf("key o tokens Month", "2026-10-01")).toEqual({ spent: 700, held: 0 });
  expect(sumOf("key o tokens Month", "2026-11-01")).toEqual({ spent: 0, held: 0 });
});

test("b129: a call that used more than it reserved is charged all of it, and later ones are refused", async () => {
  const { thread } = inMemory();
  const key = keyWith({ tokens: 1_000 });
  thread.settle(await reserved(thread, key, 100), usedOf(5_000));
  expect(await thread.reserve(key, callOf(1))).toMatchObject({ kind: "exhausted", spent: 5_000 });
});

test.each(["first", "last"])(
  "b305: what other calls had reserved is no room for the next, settled %s",
  async (when) => {
    const { thread, sumOf } = inMemory();
    const key = keyWith({ tokens: 100_000 }, "o");
    const [call, other] = [await reserved(thread, key, 500), await reserved(thread, key, 50_000)];
    if (when === "first") thread.settle(other, usedOf(10));
    thread.settle(call, usedOf(300_000));
    if (when === "last") thread.settle(other, usedOf(10));
    expect(await kindOf(thread, key, 500)).toBe("exhausted");
    await thread.endRound();
    expect(sumOf("key o tokens Month", "2026-11-01")).toEqual({ spent: 300_010, held: 0 });
  },
);

/** A thread whose next draw has been granted, and comes to it once it is let go. */
async function drawing(key: ReturnType<typeof keyWith>, tokens: number) {
  const { write, sumOf } = ledgerInMemory();
  const gate = Promise.withResolvers<void>();
  let isHeld = false;
  const thread = budgetsOn(async (holder, lines) => {
    const answer = await write(holder, lines);
    if (isHeld) await gate.promise;
    return answer;
  }, testClock());
  const call = await reserved(thread, key, 500);
  isHeld = true;
  const asking = thread.reserve(key, callOf(tokens));
  await until("the grant", () => sumOf("key o tokens Month", "2026-11-01").held > tokens);
  return { thread, call, asking, letGo: gate.resolve };
}

test("b305: what is granted while a call uses more than there is is no room for the next", async () => {
  const key = keyWith({ tokens: 100_000 }, "o");
  const { thread, call, asking, letGo } = await drawing(key, 40_000);
  thread.settle(call, usedOf(300_000));
  letGo();
  expect(await asking).toMatchObject({ kind: "exhausted", spent: 300_000 });
  expect(await kindOf(thread, key, 500)).toBe("exhausted");
});

test("b305: once the ledger has room for what a call used beyond its reservation, nothing of it is owed", async () => {
  const key = keyWith({ tokens: 100_000 }, "o");
  const { thread, call, asking, letGo } = await drawing(key, 40_000);
  thread.settle(call, usedOf(45_000));
  letGo();
  // The grant was of 40,000, of which less is left: the rest is asked for anew.
  const other = await asking;
  if ("kind" in other) throw new Error(other.kind);
  thread.settle(other, usedOf(5_000));
  await thread.endRound();
  await thread.endRound();
  expect(await kindOf(thread, key, 50_001)).toBe("exhausted");
  expect(await kindOf(thread, key, 50_000)).toBe("reserved");
});

test("b305: a budget that is raised has room again for what it has beyond all that was used", async () => {
  const { clock, thread } = inMemory();
  thread.settle(await reserved(thread, keyWith({ tokens: 1_000 }, "o"), 500), usedOf(5_000));
  expect(await kindOf(thread, keyWith({ tokens: 1_000 }, "o"), 1)).toBe("exhausted");
  clock.advance(1_000);
  expect(await kindOf(thread, keyWith({ tokens: 6_000 }, "o"), 1_001)).toBe("exhausted");
  expect(await kindOf(thread, keyWith({ tokens: 6_000 }, "o"), 1_000)).toBe("reserved");
});

test("b129: an estimate is charged no further than the reservation", async () => {
  const { thread, sumOf } = inMemory();
  thread.settle(await reserved(thread, keyWith({ tokens: 1_000 }, "o"), 100), { ...UNUSED, estimated: 5_000 });
  await thread.endRound();
  expect(sumOf("key o tokens Month", "2026-11-01")).toMatchObject({ spent: 100 });
});

test("b129: a budget that alerts refuses nothing, asks nothing before a call, and is counted", async () => {
  const { thread, database, sumOf } = inMemory();
  const key = keyWith({ tokens: 10, onExhausted: "Alert" }, "o");
  thread.settle(await reserved(thread, key, 1_000), usedOf(900));
  thread.settle(await reserved(thread, key, 1_000), usedOf(900));
  expect(database.writes).toBe(0);
  await thread.endRound();
  expect(sumOf("key o tokens Month", "2026-11-01")).toEqual({ spent: 1_800, held: 0 });
});

test("b129: without the database calls go on with what was granted alone, and then are refused as not known", async () => {
  const { clock, thread, database, sumOf } = inMemory();
  const key = keyWith({ tokens: 100_000 }, "o");
  thread.settle(await reserved(thread, key, 100), UNUSED);
  database.isAway = true;
  thread.settle(await reserved(thread, key, 2_000), usedOf(500));
  expect(await kindOf(thread, key, 1_600)).toBe("away");
  const writes = database.writes;
  expect(await kindOf(thread, key, 1_600)).toBe("away");
  expect(database.writes).toBe(writes);
  await thread.endRound();
  database.isAway = false;
  clock.advance(1_000);
  expect(await kindOf(thread, key, 1_600)).toBe("reserved");
  expect(sumOf("key o tokens Month", "2026-11-01")).toMatchObject({ spent: 500 });
});

test("b129: a refusal is remembered for a moment: a flood asks the database little", async () => {
  const { clock, thread, open, database } = inMemory();
  const key = keyWith({ tokens: 1_000 });
  const call = await reserved(thread, key, 1_000);
  const other = open();
  const writes = database.writes;
  for (let i = 0; i < 100; i++) expect(await kindOf(other, key, 500)).toBe("exhausted");
  expect(database.writes).toBe(writes + 1);
  thread.settle(call, usedOf(100));
  await thread.endRound();
  await thread.endRound();
  clock.advance(500);
  expect(await kindOf(other, key, 500)).toBe("reserved");
});

test("b129: threads that each hold too little for a call give it back, also while they are asked all the time", async () => {
  const { clock, open } = inMemory();
  const threads = [open(), open()];
  const key = keyWith({ tokens: 900 });
  for (const thread of threads) thread.settle(await reserved(thread, key, 450), usedOf(400));
  // 100 are left: each holds 50, and a call may use 80.
  const kinds: string[] = [];
  for (let round = 0; round < 3; round++) {
    for (const thread of threads) {
      const answer = await thread.reserve(key, callOf(80));
      kinds.push("kind" in answer ? answer.kind : "reserved");
    }
    for (const thread of threads) await thread.endRound();
    clock.advance(1_000);
  }
  expect(kinds.filter((kind) => kind === "reserved")).toHaveLength(1);
});

test("b129: a thread that is called all the time gives back what its calls need no more, for the others", async () => {
  const { clock, open, sumOf } = inMemory();
  const [busy, other] = [open(), open()];
  const key = keyWith({ tokens: 1_000_000 }, "o");
  const burst = await Promise.all(Array.from({ length: 30 }, () => reserved(busy, key, 32_000)));
  for (const call of burst) busy.settle(call, usedOf(500));
  const kinds: string[] = [];
  for (let round = 0; round < 10; round++) {
    busy.settle(await reserved(busy, key, 1_000), usedOf(100));
    kinds.push(await kindOf(other, key, 50_000));
    for (const thread of [busy, other]) await thread.endRound();
    clock.advance(1_000);
  }
  expect(kinds.slice(2)).toEqual(Array(8).fill("reserved"));
  // A fiftieth stays, for a moment in which the database does not answer.
  const { held } = sumOf("key o tokens Month", "2026-11-01");
  expect(held).toBeGreaterThan(15_000);
  expect(held).toBeLessThan(60_000);
});

test("b129: a thread that is called all the time keeps what it was granted while the database is away", async () => {
  const { clock, thread, database } = inMemory();
  const key = keyWith({ tokens: 1_000_000 });
  const burst = await Promise.all(Array.from({ length: 20 }, () => reserved(thread, key, 32_000)));
  for (const call of burst) thread.settle(call, usedOf(500));
  database.isAway = true;
  for (let round = 0; round < 5; round++) {
    thread.settle(await reserved(thread, key, 1_000), usedOf(100));
    await thread.endRound();
    clock.advance(1_000);
  }
  expect(await kindOf(thread, key, 32_000)).toBe("reserved");
});

test("b129: of the last tokens a thread that is called all the time keeps no more than a fiftieth from the others", async () => {
  const { clock, open } = inMemory();
  const [busy, other] = [open(), open()];
  const key = keyWith({ tokens: 1_000_000 });
  // It is granted a fiftieth, 20,000.
  busy.settle(await reserved(busy, key, 100), usedOf(100));
  other.settle(await reserved(other, key, 970_000), usedOf(970_000));
  const kinds: string[] = [];
  for (let round = 0; round < 5; round++) {
    busy.settle(await reserved(busy, key, 100), usedOf(100));
    kinds.push(await kindOf(other, key, 25_000));
    for (const thread of [busy, other]) await thread.endRound();
    clock.advance(1_000);
  }
  expect(kinds.slice(2)).toEqual(Array(3).fill("reserved"));
});

test("b129: a call that its team's budget refuses costs its key's nothing", async () => {
  const { thread, open, sumOf } = inMemory();
  const budget: Budget = { tokens: 1_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" };
  const teamLimits = { rate: null, concurrent: null, budgets: [{ ...budget, tokens: 100 }] };
  const key = keyRecord({ budgets: { owner: "o", items: [budget] }, teamLimits });
  expect(await thread.reserve(key, callOf(500))).toMatchObject({ kind: "exhausted", budget: { of: "team" } });
  await thread.endRound();
  await thread.endRound();
  expect(sumOf("key o tokens Month", "2026-11-01")).toEqual({ spent: 0, held: 0 });
  expect(await kindOf(open(), keyRecord({ budgets: { owner: "o", items: [budget] } }), 1_000)).toBe("reserved");
});

test("b129: what the ledger has lost is written again within ten minutes", async () => {
  const { clock, thread, database, sumOf } = inMemory();
  thread.settle(await reserved(thread, keyWith({ tokens: 1_000 }, "o"), 100), usedOf(100));
  await thread.endRound();
  await thread.endRound();
  const writes = database.writes;
  await thread.endRound();
  expect(database.writes).toBe(writes);
  clock.advance(600_000);
  await thread.endRound();
  expect(database.writes).toBe(writes + 1);
  expect(sumOf("key o tokens Month", "2026-11-01")).toEqual({ spent: 100, held: 0 });
});

test("b130: of a budget that is lowered nothing is used that was granted before", async () => {
  const { thread } = inMemory();
  thread.settle(await reserved(thread, keyWith({ tokens: 1_000_000 }, "o"), 100), usedOf(100));
  expect(await kindOf(thread, keyWith({ tokens: 1_000 }, "o"), 2_000)).toBe("exhausted");
  expect(await kindOf(thread, keyWith({ tokens: 1_000 }, "o"), 900)).toBe("reserved");
});

test("b130: what a call under way gives back of a budget that was lowered meanwhile goes to the ledger, and to no call here", async () => {
  const { thread, sumOf } = inMemory();
  const large = await reserved(thread, keyWith({ tokens: 1_000_000 }, "o"), 900_000);
  const key = keyWith({ tokens: 10_000 }, "o");
  expect(await kindOf(thread, key, 5_000)).toBe("exhausted");
  thread.settle(large, usedOf(15_000));
  expect(await kindOf(thread, key, 5_000)).toBe("exhausted");
  await thread.endRound();
  expect(sumOf("key o tokens Month", "2026-11-01")).toEqual({ spent: 15_000, held: 0 });
});

test("b129: what is granted while other lines are written is not taken back by a line of before", async () => {
  const { write } = ledgerInMemory();
  const gates: Promise<void>[] = [];
  const slow: Ledger = async (holder, lines) => {
    const gate = gates.shift();
    const answer = await write(holder, lines);
    await gate;
    return answer;
  };
  const thread = budgetsOn(slow, testClock(), { mostLines: 1 });
  const [one, other] = [keyWith({ tokens: 10_000 }, "one"), keyWith({ tokens: 10_000 }, "other")];
  for (const key of [one, other]) thread.settle(await reserved(thread, key, 100), usedOf(10));
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  gates.push(first.promise, second.promise);
  // The first line of the round is under way, and then a grant of the second budget.
  const round = thread.endRound();
  const call = reserved(thread, other, 9_000);
  first.resolve();
  await round;
  second.resolve();
  await call;
  expect(await kindOf(budgetsOn(write, testClock()), other, 9_000)).toBe("exhausted");
});

test("b129: no call waits longer than half a second for lines that the database does not take", async () => {
  const { write } = ledgerInMemory();
  let isFrozen = false;
  const frozen: Ledger = (holder, lines) => (isFrozen ? new Promise(() => {}) : write(holder, lines));
  const thread = budgetsOn(frozen, testClock());
  const key = keyWith({ tokens: 10_000 });
  thread.settle(await reserved(thread, key, 100), usedOf(10));
  isFrozen = true;
  void thread.endRound();
  expect(await kindOf(thread, key, 5_000)).toBe("away");
  expect(await kindOf(thread, key, 5_000)).toBe("away");
}, 5_000);

/** A key with four budgets of tokens of its own, and as many of its team's. */
function keyWithMany(own: number) {
  const items = (["Day", "Week", "Month", "Total"] as const).map(
    (period): Budget => ({ tokens: 1_000_000, period, timeZone: "UTC", onExhausted: "Refuse" }),
  );
  const [first, ...others] = items.map((item, place) => (place === 0 ? { ...item, tokens: own } : item));
  const budgets = { owner: "o", items: first === undefined ? others : [...others, first] };
  return keyRecord({ teamId: "t", budgets, teamLimits: { rate: null, concurrent: null, budgets: items } });
}

test("b289: what a call lacks of several budgets is asked for together, and not of one after the other", async () => {
  const { write } = ledgerInMemory();
  const underWay: (() => void)[] = [];
  const held: Ledger = async (holder, lines) => {
    await new Promise<void>((resolve) => underWay.push(resolve));
    return write(holder, lines);
  };
  const call = Promise.resolve(budgetsOn(held, testClock()).reserve(keyWithMany(1_000), callOf(10)));
  let isOver = false;
  void call.finally(() => {
    isOver = true;
  });
  let waits = 0;
  await until("it is reserved", () => {
    if (underWay.length > 0) waits++;
    for (const answer of underWay.splice(0)) answer();
    return isOver;
  });
  expect(await call).toMatchObject({ parts: Array(8).fill({ isRefusing: true }) });
  expect(waits, "two for its key's, and two for its team's").toBe(4);
});

test("b289: a call that one of its key's own budgets refuses keeps nothing of the others, and asks nothing of its team's", async () => {
  const { thread, sumOf } = inMemory();
  const key = keyWithMany(100);
  expect(await thread.reserve(key, callOf(500))).toMatchObject({ kind: "exhausted", budget: { period: "Day" } });
  expect(sumOf("team t tokens Total", "total")).toEqual({ spent: 0, held: 0 });
  await thread.endRound();
  await thread.endRound();
  expect(sumOf("key o tokens Total", "total")).toEqual({ spent: 0, held: 0 });
});
