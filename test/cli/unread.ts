import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import { COMPILE_CACHE, SHORT_LIVED } from "../env/compile-cache.ts";
import { freePort } from "../env/free-port.ts";
import { makePipe } from "../env/pipe.ts";
import { until } from "../env/until.ts";
import { MAIN } from "./process-group.ts";

/** A pipe that takes no more, and that nothing reads. */
export function makeFullPipe() {
  const pipe = makePipe();
  expect(pipe.fill()).toBeGreaterThan(0);
  return pipe;
}

/** Starts a command that serves, with this file as its standard output, and waits until it is ready. */
export async function startOnto(stdout: number, args: readonly string[], env: Readonly<Record<string, string>>) {
  const adminPort = String(await freePort());
  const child = spawn(
    process.execPath,
    [...(args[0] === "up" ? SHORT_LIVED : []), MAIN, ...args, "--admin-port", adminPort],
    {
      env: { PATH: process.env.PATH, KEYPLANE_HOST: "127.0.0.1", ...COMPILE_CACHE, ...env },
      stdio: ["ignore", stdout, "inherit"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const ask = (path: string) => fetch(`http://127.0.0.1:${adminPort}${path}`);
  await until("it is ready", async () => child.exitCode !== null || (await ask("/readyz")).status === 200);
  expect(child.exitCode).toBeNull();
  return {
    /** How many lines of its log it has dropped, as its metrics have it. */
    async dropped(): Promise<number> {
      const metrics = await (await ask("/metrics")).text();
      return Number(/^keyplane_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
    },
    /** Asks it to end, and waits: its exit code. */
    async stop(): Promise<unknown> {
      child.kill("SIGTERM");
      return (await ended)[0];
    },
  };
}
