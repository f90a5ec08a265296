import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AnswerBudget,
  GRACE_TICKS,
  type HeldAnswer,
  PATIENCE_TICKS,
} from "../../../../server/http/answers/answer-budget.ts";
import type { Owner } from "../../../../server/http/answers/owner.ts";
import { examples } from "../../../env/nightly.ts";

const LIMITS = { key: 10, team: 20, thread: 40 };
const A1: Owner = { key: "a1", team: "a" };
const A2: Owner = { key: "a2", team: "a" };
const A3: Owner = { key: "a3", team: "a" };
const B1: Owner = { key: "b1", team: "b" };
const NO_CREDENTIAL: Owner = { key: null, team: null };
const OWNERS: readonly Owner[] = [A1, A2, A3, B1, { key: "admin", team: null }, NO_CREDENTIAL];

const tick = (budget: AnswerBudget, times: number) => {
  for (let n = 0; n < times; n++) budget.tick();
};

/** An answer that found room, and whether it was cut. */
function taken(budget: AnswerBudget, owner: Owner, bytes: number) {
  const state = { isCut: false };
  const answer = budget.take(owner, bytes, () => {
    state.isCut = true;
  });
  if (typeof answer === "string") throw new Error(`there is no room of the ${answer}`);
  return { answer, state };
}

describe("b109: room for answers", () => {
  test.each([
    ["a key", "key", [A1], A1],
    ["a team", "team", [A1, A2], A3],
    ["the callers without a credential", "process", [NO_CREDENTIAL, NO_CREDENTIAL], NO_CREDENTIAL],
    ["the process", "process", [A1, A2, B1, { key: "b2", team: "b" }], { key: "c1", team: "c" }],
  ] as const)("b109: what %s holds is bounded, and beyond it calls are refused", (_whose, of, holders, next) => {
    const budget = new AnswerBudget(LIMITS);
    const held = holders.map((owner) => taken(budget, owner, 10));
    expect(budget.take(next, 1, () => {})).toBe(of);
    expect(budget.figures()).toEqual({ heldBytes: 10 * held.length, refused: 1, cut: 0 });
    held[0]?.answer.end();
    taken(budget, next, 1);
  });

  test("b109: the reader without progress for longest goes first, and one that makes progress never", () => {
    const budget = new AnswerBudget(LIMITS);
    const [first, second, third] = [taken(budget, A1, 4), taken(budget, A1, 3), taken(budget, A1, 3)];
    for (const { answer } of [second, first, third]) {
      answer.send();
      budget.tick();
    }
    third.answer.progress(0);
    third.answer.send();
    tick(budget, GRACE_TICKS - 1);
    taken(budget, A1, 2);
    expect([first, second, third].map(({ state }) => state.isCut)).toEqual([false, true, false]);
    expect(budget.take(A1, 6, () => {})).toBe("key");
    expect(first.state.isCut, "not where it would not do").toBe(false);
    taken(budget, A1, 5);
    expect([first, second, third].map(({ state }) => state.isCut)).toEqual([true, true, false]);
    expect(budget.figures()).toEqual({ heldBytes: 10, refused: 1, cut: 2 });
  });

  test("b109: an answer that is not sent yet, or waits for more of its source, is no reader's fault", () => {
    const budget = new AnswerBudget(LIMITS);
    const [waiting, stream] = [taken(budget, A1, 5), taken(budget, A1, 5)];
    stream.answer.send();
    stream.answer.progress(0);
    tick(budget, PATIENCE_TICKS);
    expect(budget.take(A1, 1, () => {})).toBe("key");
    expect([waiting, stream].map(({ state }) => state.isCut)).toEqual([false, false]);
  });

  test("b109: a reader without progress goes after five minutes where no other wants its room", () => {
    const budget = new AnswerBudget(LIMITS);
    const { answer, state } = taken(budget, A1, 5);
    answer.send();
    tick(budget, PATIENCE_TICKS - 1);
    expect(state.isCut).toBe(false);
    budget.tick();
    expect(state.isCut).toBe(true);
    expect(budget.figures().heldBytes).toBe(0);
  });

  test("b109: an answer that is larger than what was taken for it takes more, or is refused and holds what it did", () => {
    const budget = new AnswerBudget(LIMITS);
    const { answer } = taken(budget, A1, 5);
    expect(answer.settle(10)).toBeUndefined();
    expect(answer.settle(11)).toBe("key");
    expect(budget.figures().heldBytes).toBe(10);
    expect(answer.settle(2)).toBeUndefined();
    expect(budget.figures().heldBytes).toBe(2);
  });

  test("b109: whatever happens in whatever order, no bound is broken, and all is given back once", () => {
    const step = fc.record({
      what: fc.constantFrom("take", "settle", "send", "progress", "end", "tick"),
      which: fc.nat(30),
      bytes: fc.nat(14),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const budget = new AnswerBudget(LIMITS);
        const all: { owner: Owner; answer: HeldAnswer; pending: number; quietSince: number }[] = [];
        let now = 0;
        const held = (of: (owner: Owner) => boolean) =>
          all.reduce((sum, { owner, answer }) => (of(owner) ? sum + answer.held : sum), 0);
        for (const { what, which, bytes } of steps) {
          const one = all[which % Math.max(1, all.length)];
          const before = all.filter(({ answer }) => !answer.hasEnded);
          let asked: "none" | "granted" | "refused" = "none";
          if (what === "tick") {
            budget.tick();
            now++;
          } else if (what === "take") {
            const owner = OWNERS[which % OWNERS.length] ?? NO_CREDENTIAL;
            const answer = budget.take(owner, bytes, () => {});
            asked = typeof answer === "string" ? "refused" : "granted";
            if (typeof answer !== "string") all.push({ owner, answer, pending: 0, quietSince: now });
          } else if (what === "settle" && one) asked = one.answer.settle(bytes) === undefined ? "granted" : "refused";
          else if (what === "send" && one) {
            if (one.pending++ === 0) one.quietSince = now;
            one.answer.send();
          } else if (what === "progress" && one && one.pending > 0) {
            one.pending--;
            one.quietSince = now;
            one.answer.progress(bytes);
          } else if (what === "end") one?.answer.end();
          // Who went without having ended by itself.
          const gone = before.filter(({ answer }) => answer.hasEnded && !(what === "end" && answer === one?.answer));
          if (asked !== "granted") expect(gone).toEqual([]);
          for (const { pending, quietSince } of gone) {
            expect(pending).toBeGreaterThan(0);
            expect(now - quietSince).toBeGreaterThanOrEqual(GRACE_TICKS);
          }
          expect(budget.figures().heldBytes).toBe(held(() => true));
          expect(held(() => true)).toBeLessThanOrEqual(LIMITS.thread);
          for (const owner of OWNERS) {
            const ofKey = held(({ key, team }) => key === owner.key && team === owner.team);
            expect(ofKey).toBeLessThanOrEqual(owner.key === null ? LIMITS.team : LIMITS.key);
          }
          expect(held(({ team }) => team === "a")).toBeLessThanOrEqual(LIMITS.team);
          expect(all.every(({ answer }) => answer.held >= 0)).toBe(true);
        }
        for (const { answer } of all) answer.end();
        expect(budget.figures().heldBytes).toBe(0);
        taken(budget, A1, LIMITS.key);
      }),
      { numRuns: examples(100) },
    );
  });
});
