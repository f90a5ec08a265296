/**
 * Loaded into a server's threads before the server (`node --import`): what a test cannot do to a thread from outside. At
 * SIGUSR2 one worker throws an error that is not caught. At SIGHUP the main thread stands still, from when the file that
 * `STANDS_STILL` names is there until the test takes it away.
 */
import { existsSync, writeFileSync } from "node:fs";
import { isMainThread, threadId } from "node:worker_threads";

const trouble = new BroadcastChannel("trouble");
trouble.unref();
const POLL_MS = 10;

function standStill(): void {
  const file = process.env.STANDS_STILL;
  if (file === undefined) throw new Error("STANDS_STILL names no file");
  const cell = new Int32Array(new SharedArrayBuffer(4));
  writeFileSync(file, "");
  while (existsSync(file)) Atomics.wait(cell, 0, 0, POLL_MS);
}

if (isMainThread) {
  process.on("SIGUSR2", () => trouble.postMessage("fail"));
  process.on("SIGHUP", standStill);
} else {
  trouble.onmessage = () => {
    if (threadId === 1) throw new Error("a fault that this test makes");
  };
}
