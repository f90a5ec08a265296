import { type ChildProcess, execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { isListening, MAIN, startGroup } from "./process-group.ts";

const PID_1 = ["unshare", "--pid", "--fork", "--kill-child", process.execPath, MAIN];

/** The process that a program has started. */
function childOf({ pid }: ChildProcess): number {
  return Number(execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" }));
}

test("c61: the first process of a container drains and ends with exit code 0", async (context) => {
  const up = await startGroup(context, PID_1);
  process.kill(childOf(up.child), "SIGTERM");
  expect(await up.ended).toBe(0);
  expect(await isListening(up.url)).toBe(false);
  expect(up.output()).toMatch(/^stopped$/m);
});
