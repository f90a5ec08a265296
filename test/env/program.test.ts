import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startProgram } from "./kubernetes/program.ts";
import { until } from "./until.ts";

const MODULE = join(import.meta.dirname, "kubernetes/program.ts");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-program-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a program ends when it is stopped", async () => {
  const program = await startProgram(folder, "sleep", "sleep", ["1000"]);
  expect(isRunning(program.pid)).toBe(true);
  await program.stop();
  expect(isRunning(program.pid)).toBe(false);
});

test("a program that is killed can be started again in its folder", async () => {
  const first = await startProgram(folder, "sleep", "sleep", ["1000"]);
  await first.kill();
  expect(isRunning(first.pid)).toBe(false);
  expect(existsSync(folder)).toBe(true);
  const second = await startProgram(folder, "sleep", "sleep", ["1000"]);
  expect(isRunning(second.pid)).toBe(true);
  await second.stop();
  expect(existsSync(folder)).toBe(false);
});

test("a program ends when it is stopped, also where its folder has gone with another", async () => {
  const program = await startProgram(folder, "sleep", "sleep", ["1000"]);
  rmSync(folder, { recursive: true });
  await program.stop();
  expect(isRunning(program.pid)).toBe(false);
});

test("a program that ends too early says so, with its last words", async () => {
  const program = await startProgram(folder, "broken", "sh", ["-c", "echo no such port >&2; exit 3"]);
  await expect(program.died).rejects.toThrow("broken has ended:\nno such port");
});

test("a program and its folder go with the process that started it, even when that is killed", async () => {
  const start = `import { startProgram } from ${JSON.stringify(MODULE)};
    const { pid } = await startProgram(${JSON.stringify(folder)}, "sleep", "sleep", ["1000"]);
    console.log(pid);
    setInterval(() => {}, 1000);`;
  const starter = spawn(process.execPath, ["--input-type=module-typescript", "--eval", start]);
  const [pid] = await once(starter.stdout, "data");
  expect(isRunning(Number(pid))).toBe(true);
  starter.kill("SIGKILL");
  await until("both are gone", () => !isRunning(Number(pid)) && !existsSync(folder));
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
