import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { COMPILE_CACHE, SHORT_LIVED } from "../env/compile-cache.ts";

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
const env = { PATH: process.env.PATH, ...COMPILE_CACHE };

test("a command whose reader has gone ends without a word", async () => {
  const child = spawn(process.execPath, [...SHORT_LIVED, MAIN, "completion", "zsh"], { env });
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect([code, said]).toEqual([1, ""]);
});

test.skipIf(process.platform !== "linux")("a command whose output cannot be written says so in one line", async () => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [...SHORT_LIVED, MAIN, "version"], { env, stdio: ["ignore", full, "pipe"] });
  if (child.stderr === null) throw new Error("it is a pipe");
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect([code, said]).toEqual([
    1,
    "keyplane: standard output cannot be written: ENOSPC: no space left on device, write\n",
  ]);
});
