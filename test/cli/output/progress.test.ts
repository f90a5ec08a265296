import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createProgress } from "../../../cli/output/progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A terminal of one line, as one sees it. */
function makeTerminal(columns = 80) {
  let line = "";
  const write = (text: string) => {
    line = text.split("\r\u001b[K").at(-1) ?? "";
  };
  return { terminal: { write, columns }, seen: () => line };
}

test("what takes more than a second is one line that is written over, and gone at the end", async () => {
  const { terminal, seen } = makeTerminal();
  const done = Promise.withResolvers<string>();
  let show: (text: string) => void = () => {};
  const result = createProgress(terminal).during("1 of 3", (next) => {
    show = next;
    return done.promise;
  });
  show("2 of 3");
  expect(seen()).toBe("");
  vi.advanceTimersByTime(1_000);
  expect(seen()).toBe("2 of 3");
  show("3 of 3");
  vi.advanceTimersByTime(200);
  expect(seen()).toBe("3 of 3");
  done.resolve("result");
  expect([await result, seen()]).toEqual(["result", ""]);
});

test("the line goes where the task fails, and for what is printed meanwhile", async () => {
  const { terminal, seen } = makeTerminal();
  const progress = createProgress(terminal);
  const done = Promise.withResolvers<void>();
  const result = progress.during("waiting", () => done.promise);
  vi.advanceTimersByTime(1_000);
  progress.hide();
  expect(seen()).toBe("");
  done.reject(new Error("away"));
  await expect(result).rejects.toThrow("away");
  expect(seen()).toBe("");
});

test("the line fits the terminal, and what would steer it is not in it", async () => {
  const { terminal, seen } = makeTerminal(10);
  const done = Promise.withResolvers<void>();
  const result = createProgress(terminal).during("a\u001b[2Jbcdefghijkl", () => done.promise);
  vi.advanceTimersByTime(1_000);
  expect(seen()).toBe("a?[2Jbcde");
  done.resolve();
  await result;
});

test("what is quick, and what is on no terminal, writes nothing", async () => {
  const write = vi.fn();
  await createProgress({ write, columns: 80 }).during("quick", async () => {});
  vi.advanceTimersByTime(5_000);
  expect(write).not.toHaveBeenCalled();
  expect(await createProgress(undefined).during("unseen", async (show) => show("more"))).toBeUndefined();
});
