import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { COMPILE_CACHE } from "./compile-cache.ts";
import { until } from "./until.ts";

const COMMAND = join(import.meta.dirname, "../../cli/main.ts");

/** A command of Keyplane that serves, as a process of its own. */
export type Serving = {
  readonly child: ChildProcess;
  /** What it has printed and logged. */
  readonly lines: readonly string[];
  /** What it says that it is ready on. */
  readonly url: string;
  /** Asks it to end, and waits: its exit code. */
  stop(): Promise<number | null>;
};

/**
 * Starts a command such as `keyplane server`, and waits until it is ready.
 *
 * @param nodeFlags of Node itself
 * @param command the file that it is run from, where that is not the checkout's
 * @param launcher what it is put behind, which becomes it
 */
export async function startServing(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  nodeFlags: readonly string[] = [],
  command = COMMAND,
  launcher: readonly string[] = [],
): Promise<Serving> {
  const [program = "", ...rest] = [...launcher, process.execPath, ...nodeFlags, command, ...args];
  const child = spawn(program, rest, {
    // A server listens on all addresses: here no other machine is to reach it.
    env: { ...process.env, KEYPLANE_HOST: "127.0.0.1", ...COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => lines.push(line));
  }
  const ended = once(child, "exit").then(([code]) => code);
  const ready = () => lines.map(readyUrl).find((url) => url !== undefined);
  await until(`keyplane ${args[0]} is ready`, () => ready() || child.exitCode !== null);
  const url = ready();
  if (url === undefined) throw new Error(lines.join("\n"));
  return {
    child,
    lines,
    url,
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

/** Where a process says in a line that it is ready, if it does: `up` in plain words, a server and a controller in JSON. */
export function readyUrl(line: string): string | undefined {
  return /^(?:ready |\{.*"msg":"ready )([^"]+)(?:"\})?$/.exec(line)?.[1];
}
