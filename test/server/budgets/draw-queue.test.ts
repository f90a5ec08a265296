/** Whose budgets are drawn from first, where many are (threats b152). */
import { afterEach, expect, test, vi } from "vitest";
import type { Budget } from "../../../domain/budget/budget.ts";
import type { LedgerLine } from "../../../store/budgets/budget-ledger.ts";
import { until } from "../../env/until.ts";
import { keyRecord, testClock } from "../records.ts";
import { budgetsOn, callOf, ledgerInMemory } from "./ledger.ts";

const ITEMS: readonly Budget[] = [{ tokens: 1_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }];
const keyOf = (teamId: string, name: string) =>
  keyRecord({ teamId, budgets: { owner: `${teamId} c/ns/${name}`, items: ITEMS } });

/** A ledger whose statements are answered as the test says. */
function heldLedger() {
  const clock = testClock();
  const ledger = ledgerInMemory();
  const statements: { readonly lines: readonly LedgerLine[]; readonly answer: (error?: Error) => void }[] = [];
  let most = 0;
  let wanting = 0;
  const thread = budgetsOn(async (holder, lines) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const statement = { lines, answer: (error?: Error) => (error === undefined ? resolve() : reject(error)) };
    statements.push(statement);
    wanting += lines.filter(({ wanted }) => wanted > 0).length;
    most = Math.max(most, statements.length);
    await promise;
    return ledger.write(holder, lines);
  }, clock);
  return {
    thread,
    clock,
    statements,
    mostUnderWay: () => most,
    /** Lines that have asked for more. */
    asked: () => wanting,
    answerNext: (error?: Error) => statements.shift()?.answer(error),
  };
}

test("b152: a team with many budgets has two statements under way, and another team's call is in the next one", async () => {
  const { thread, statements, mostUnderWay, answerNext } = heldLedger();
  const calls = Array.from({ length: 500 }, (_, i) => thread.reserve(keyOf("hostile", `k${i}`), callOf(10)));
  await until("its calls ask", () => statements.length === 2);
  const other = thread.reserve(keyOf("other", "k"), callOf(10));
  answerNext();
  await until("the next statement is sent", () => statements.length === 2);
  expect(statements[1]?.lines.map(({ budget }) => budget)).toContain("key other c/ns/k tokens Month");
  answerNext();
  answerNext();
  expect(await other).toMatchObject({ parts: [{}] });
  const answering = setInterval(answerNext, 1);
  await Promise.all(calls);
  clearInterval(answering);
  expect(mostUnderWay()).toBe(2);
});

test("b171: what several teams share is drawn from in a turn of its own, however many wait of the team that asked first", async () => {
  const { thread, statements, answerNext } = heldLedger();
  const shared = [{ owner: "c/all", items: ITEMS }];
  const sharing = (teamId: string) => keyRecord({ teamId, teamLimits: { rate: null, concurrent: null, shared } });
  const many = Array.from({ length: 500 }, (_, i) => thread.reserve(keyOf("hostile", `k${i}`), callOf(10)));
  await until("its calls ask", () => statements.length === 2);
  const first = thread.reserve(sharing("hostile"), callOf(10));
  const other = thread.reserve(sharing("other"), callOf(10));
  answerNext();
  await until("the next statement is sent", () => statements.length === 2);
  expect(statements[1]?.lines.map(({ budget }) => budget)).toContain("policy c/all tokens Month");
  const answering = setInterval(answerNext, 1);
  await Promise.all([...many, first]);
  clearInterval(answering);
  expect(await other).toMatchObject({ parts: [{}] });
});

test("b152: what waits behind a statement that fails waits no longer", async () => {
  const { thread, statements, answerNext } = heldLedger();
  const calls = Array.from({ length: 60 }, (_, i) => thread.reserve(keyOf("team", `k${i}`), callOf(10)));
  await until("they ask", () => statements.length === 2);
  answerNext(new Error("the database is away"));
  const left = setInterval(answerNext, 1);
  const answers = await Promise.all(calls);
  clearInterval(left);
  const kinds = Map.groupBy(answers, (answer) => ("kind" in answer ? answer.kind : "reserved"));
  expect([kinds.get("reserved")?.length, kinds.get("away")?.length]).toEqual([1, 59]);
});

afterEach(() => {
  vi.useRealTimers();
});

test.each([
  { whose: "its own team's", teamOf: () => "hostile", kind: "crowded" },
  { whose: "many teams'", teamOf: (i: number) => `team-${i}`, kind: "busy" },
])(
  "b179: a call that waits behind $whose for half a second is refused as that: the database answers",
  async (given) => {
    // A busy machine would have a statement late that is not.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    const { thread, statements, answerNext } = heldLedger();
    const many = Array.from({ length: 500 }, (_, i) => thread.reserve(keyOf(given.teamOf(i), `k${i}`), callOf(10)));
    await vi.advanceTimersByTimeAsync(0);
    expect(statements).toHaveLength(2);
    const answering = setInterval(answerNext, 80);
    await vi.advanceTimersByTimeAsync(2_000);
    const answers = await Promise.all(many);
    clearInterval(answering);
    const kinds = Map.groupBy(answers, (answer) => ("kind" in answer ? answer.kind : "reserved"));
    expect(new Set(kinds.keys())).toEqual(new Set(["reserved", given.kind]));
    expect(kinds.get("reserved")?.length).toBeGreaterThan(25);
    while (statements.length > 0) answerNext();
  },
);

test("b152: what waits as its thread ends is granted no more: nothing could give it back", async () => {
  const { thread, statements, answerNext, asked } = heldLedger();
  const calls = Array.from({ length: 60 }, (_, i) => thread.reserve(keyOf("team", `k${i}`), callOf(10)));
  await until("they ask", () => statements.length === 2);
  const answering = setInterval(answerNext, 1);
  await thread.close();
  await Promise.all(calls);
  clearInterval(answering);
  expect(asked()).toBe(2);
});

test("b165: statements that are late keep their connections, and no other is sent beside two of them", async () => {
  const { thread, clock, statements, answerNext } = heldLedger();
  for (let i = 0; i < 4; i++) {
    expect(await thread.reserve(keyOf("team", `k${i}`), callOf(10))).toMatchObject({ kind: "away" });
    clock.advance(2_000);
  }
  expect(statements).toHaveLength(2);
  answerNext();
  answerNext();
  const call = await until("a statement is sent again", () => {
    clock.advance(2_000);
    const reserved = thread.reserve(keyOf("team", "another"), callOf(10));
    return statements.length === 1 ? { reserved } : undefined;
  });
  answerNext();
  expect(await call.reserved).toMatchObject({ parts: [{}] });
});
