import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { SHORT_LIVED } from "../env/compile-cache.ts";
import { isListening, MAIN, startGroup } from "./process-group.ts";

const PID_1 = ["unshare", "--pid", "--fork", "--kill-child", process.execPath, ...SHORT_LIVED, MAIN];

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

test("c61: the first process of a container is ended by a signal while it waits for what does not come", async (context) => {
  const database = createServer((socket) => socket.on("error", () => {}));
  await once(database.listen(0, "127.0.0.1"), "listening");
  context.onTestFinished(() => void database.close());
  const { port } = database.address() as AddressInfo;
  const [program = "", ...args] = PID_1;
  const env = { PATH: process.env.PATH, KEYPLANE_DATABASE_URL: `postgres://keyplane@127.0.0.1:${port}/keyplane` };
  const migration = spawn(program, [...args, "migrate"], { env, stdio: "ignore" });
  const ended = once(migration, "exit");
  await once(database, "connection");
  process.kill(childOf(migration), "SIGTERM");
  expect(await ended).toEqual([143, null]);
});
