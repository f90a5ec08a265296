/** Whose limits are drawn from first, where many are (threats b176). */
import { expect, test } from "vitest";
import type { RateLimit } from "../../../domain/access/rate-limit.ts";
import { InstallationLimits } from "../../../server/limits/installation-limits.ts";
import { until } from "../../env/until.ts";
import { cellsInMemory } from "./cells.ts";

/** Of few requests a second for each thread: every call asks its cell. */
const LIMIT: RateLimit = { requestsPerMinute: 60, burst: 60 };

/** A thread whose statements are answered as the test says. */
function heldCells() {
  const clock = { now: 1_000_000 };
  const cells = cellsInMemory(clock);
  const statements: { readonly limits: readonly string[]; readonly answer: () => void }[] = [];
  const thread = new InstallationLimits({
    async draw(draws) {
      const { promise, resolve } = Promise.withResolvers<void>();
      statements.push({ limits: draws.map(({ limitId }) => limitId), answer: resolve });
      await promise;
      return cells.draw(draws);
    },
    threads: () => 4,
    monotonic: () => clock.now,
  });
  const charge = async (teamId: string, limitId: string, limit = LIMIT) =>
    thread.charge({ limitId, teamId, limit }, 1_000);
  const answerNext = () => statements.shift()?.answer();
  return { thread, clock, statements, charge, answerNext };
}

test("b176: a team with many limits has two short statements under way, and another team's request is in the next one", async () => {
  const { statements, charge, answerNext } = heldCells();
  const many = Array.from({ length: 500 }, (_, n) => charge("hostile", `k${n}`));
  await until("they ask", () => statements.length === 2);
  const other = charge("other", "theirs");
  answerNext();
  await until("the next statement is sent", () => statements.length === 2);
  expect(statements[1]?.limits).toContain("theirs");
  expect(statements[1]?.limits.length).toBeLessThan(50);
  answerNext();
  answerNext();
  expect(await other).toMatchObject({ admitted: true });
  const answering = setInterval(answerNext, 1);
  expect(await Promise.all(many)).toMatchObject(Array(500).fill({ admitted: true }));
  clearInterval(answering);
});

test("b176: requests of a team that wait behind its own for half a second are refused, and have no part of their limit beside it", async () => {
  const { statements, charge, answerNext } = heldCells();
  const answering = setInterval(answerNext, 80);
  const many = Array.from({ length: 500 }, (_, n) => charge("hostile", `k${n}`, { requestsPerMinute: 6, burst: 8 }));
  await until("they ask", () => statements.length === 2);
  const other = charge("other", "theirs");
  expect(await other).toMatchObject({ admitted: true, paidAt: 0 });
  const verdicts = await Promise.all(many);
  clearInterval(answering);
  const refused = verdicts.filter(({ admitted }) => !admitted);
  expect(refused.length).toBeGreaterThan(100);
  expect(verdicts.filter(({ paidAt }) => paidAt !== 0)).toEqual([]);
});

test("b176: a cell is asked by one statement at a time, also where its limit was forgotten meanwhile", async () => {
  const { thread, clock, statements, charge, answerNext } = heldCells();
  const others = [charge("team", "one"), charge("team", "another")];
  await until("they ask", () => statements.length === 2);
  const tokens = { ...LIMIT, unit: 1 };
  thread.settle({ limitId: "cell", teamId: "team", limit: tokens }, 5);
  await Promise.resolve();
  clock.now += 60_000;
  for (let period = 0; period < 3; period++) thread.endPeriod();
  const charged = charge("team", "cell", tokens);
  answerNext();
  answerNext();
  await Promise.all(others);
  await until("the cell is asked", () => statements.length > 0);
  expect(statements.flatMap(({ limits }) => limits).filter((limitId) => limitId === "cell")).toHaveLength(1);
  const answering = setInterval(answerNext, 1);
  expect(await charged).toMatchObject({ admitted: true });
  clearInterval(answering);
});
