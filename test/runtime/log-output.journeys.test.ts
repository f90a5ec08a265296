import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { COMPILE_CACHE } from "../env/compile-cache.ts";
import { freePort } from "../env/free-port.ts";
import { makePipe } from "../env/pipe.ts";
import { until } from "../env/until.ts";

const PROCESS = fileURLToPath(new URL("./logging-process.ts", import.meta.url));
/** More than is kept for a reader that is behind. */
const MANY = 100_000;
/** More than a pipe takes, and less than is kept. */
const SOME = 2_000;
/** What is kept, and what a pipe of Linux takes besides. */
const MAX_KEPT = 1024 * 1024 + 64 * 1024;

type Line = { readonly level: number; readonly msg: string; readonly seq?: number; readonly count?: number };

/** A process that serves, and logs to this file. */
async function startLogging(stdout: number, ...args: string[]) {
  const port = await freePort();
  const child = spawn(process.execPath, [PROCESS, String(port), ...args], {
    env: { PATH: process.env.PATH, ...COMPILE_CACHE },
    stdio: ["ignore", stdout, "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const ask = async (path: string) => Number(await (await fetch(`http://127.0.0.1:${port}${path}`)).text());
  await until("it serves", async () => (await ask("/")) === 0);
  return {
    ask,
    child,
    ended,
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

/** The same, with a pipe that is not read. */
async function startUnread(...args: string[]) {
  const pipe = makePipe();
  return { ...(await startLogging(pipe.writer, ...args)), pipe };
}

const parsed = (text: string): Line[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const seqsOf = (lines: readonly Line[]) => lines.flatMap(({ seq = [] }) => seq);

describe.skipIf(process.platform === "win32")("where nothing reads standard output", () => {
  test.each([
    ["the main thread", ""],
    ["a worker", "worker"],
  ])(
    "c44: %s answers requests while it logs 100,000 lines; 1 MiB is kept in order, the rest counted and said to be missing",
    async (_, thread) => {
      const { ask, pipe, stop } = await startUnread(thread);
      const dropped = await ask(`/log/${MANY}`);
      expect(dropped).toBeGreaterThan(0);
      expect(await ask("/log/1"), "there is no room yet").toBe(dropped + 1);
      const read = pipe.read();
      await until("there is room again", async () => (await ask("/")) === (await ask("/log/1")));
      const all = await ask("/");
      expect(await stop()).toEqual([0, null]);
      const written = parsed(await read);
      const kept = MANY - dropped;
      expect((await read).indexOf(String(written[kept]?.msg))).toBeLessThan(MAX_KEPT);
      expect(seqsOf(written.slice(0, kept))).toEqual(numbers(kept));
      expect(written[kept]).toMatchObject({ level: 40, count: all, msg: expect.stringContaining("dropped") });
      expect(seqsOf(written.slice(kept + 1))).toEqual([MANY + 1 + all - dropped - 1]);
    },
  );

  test.each([
    ["a signal", "", (child: ChildProcess) => child.kill("SIGTERM"), "/", 0],
    ["a signal with a worker", "worker", (child: ChildProcess) => child.kill("SIGTERM"), "/", 0],
    ["an error that nothing catches", "", () => true, "/fail", 1],
  ] as const)("c44: %s ends the process, and what is read in time is whole", async (_, thread, end, path, code) => {
    const { ask, child, ended, pipe } = await startUnread(thread);
    expect(await ask(`/log/${SOME}`)).toBe(0);
    const read = pipe.read();
    await ask(path);
    end(child);
    expect(await ended).toEqual([code, null]);
    expect(seqsOf(parsed(await read))).toEqual(numbers(SOME));
  });

  test("c44: lines that a pipe takes in parts are whole, whatever other threads write", async () => {
    const { ask, child, pipe } = await startUnread("two");
    const each = 25;
    await ask(`/beside/${each}`);
    let read = "";
    const take = () => {
      read += pipe.take(5_000);
      return read.split("\n").length > 2 * each;
    };
    await until("both have written all", take, { longestPauseMs: 20 });
    child.kill("SIGTERM");
    expect(parsed(read).map(({ msg }) => msg.length)).toEqual(Array.from({ length: 2 * each }, () => 8_000));
  });

  test("c44: a process that ends waits for no reader", async () => {
    const { ask, stop } = await startUnread();
    await ask(`/log/${SOME}`);
    expect(await stop()).toEqual([0, null]);
  });

  test("c44: a reader that has gone stops nothing", async () => {
    const { ask, pipe, stop } = await startUnread();
    pipe.closeReader();
    expect(await ask(`/log/${MANY}`)).toBeGreaterThan(0);
    expect(await stop()).toEqual([0, null]);
  });
});

test.skipIf(process.platform === "win32")(
  "c44: a line that is longer than what is kept is written where no other waits",
  async () => {
    const { ask, pipe, stop } = await startUnread();
    expect(await ask("/long")).toBe(0);
    expect(await ask("/log/1"), "there is no room beside it").toBe(1);
    const read = pipe.read();
    await until("there is room again", async () => (await ask("/")) === (await ask("/log/1")));
    expect(await stop()).toEqual([0, null]);
    const [long, ...others] = parsed(await read);
    expect(String(long?.msg).length).toBeGreaterThan(MAX_KEPT);
    expect(others[0]).toMatchObject({ msg: expect.stringContaining("dropped") });
    expect(others).toHaveLength(2);
  },
);

test.skipIf(process.platform !== "linux")("c44: a disk without room for the log stops nothing", async () => {
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  const { ask, stop } = await startLogging(full);
  expect(await ask(`/log/${MANY}`)).toBeGreaterThan(0);
  expect(await stop()).toEqual([0, null]);
});
