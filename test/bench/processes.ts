import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { until } from "../env/until.ts";
import { PATH } from "./traffic.ts";

/** A server that the bench started, on loopback. */
export type Contestant = {
  readonly name: string;
  readonly port: number;
  /** The process whose CPU counts, together with its children. */
  readonly pid: number;
};

export type ProcessOptions = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly port: number;
  /** What its environment has besides. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it says when something is wrong; a peer's words would drown the tables. */
  readonly stderr?: "inherit" | "ignore";
};

/** The processes of this run. Whatever happens, they end with it. */
export class Processes {
  readonly #children: ChildProcess[] = [];

  /** Starts a server that listens on `port`, and waits until it serves. */
  async start({ name, command, args, port, env = {}, stderr = "inherit" }: ProcessOptions): Promise<Contestant> {
    const child = spawn(command, args, { stdio: ["ignore", "ignore", stderr], env: { ...process.env, ...env } });
    this.#children.push(child);
    await until(
      `${name} listens`,
      async () => {
        if (child.exitCode !== null) return true;
        return (await fetch(`http://127.0.0.1:${port}${PATH}`)).status !== 503;
      },
      { timeoutMs: 90_000 },
    );
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`${name} ended with ${child.exitCode}`);
    return { name, port, pid: child.pid };
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      child.kill("SIGTERM");
      await until("a child process ends", () => child.exitCode !== null || child.signalCode !== null);
    }
  }
}

/** A program's path: what its environment variable names, else what PATH has; undefined where there is none. */
export function findProgram(name: string): string | undefined {
  const named = process.env[`${name.toUpperCase()}_BIN`];
  if (named !== undefined) return named;
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Resident memory of a process, in MB, without its children. */
export function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1_024;
}

/** Linux counts a process's time in hundredths of a second (USER_HZ), wherever it runs. */
const TICK_US = 10_000;

/**
 * Microseconds of CPU, user and system, that a process and its children have taken so far, those that ended too.
 *
 * @param of the kernel's part alone, where that is asked for
 */
export function cpuMicroseconds(pid: number, of: "all" | "kernel" = "all"): number {
  const children = readProc(`${pid}/task/${pid}/children`).split(" ").filter(Boolean);
  const ofChildren = children.reduce((sum, child) => sum + cpuMicroseconds(Number(child), of), 0);
  const stat = readProc(`${pid}/stat`);
  // The second field is the program's name in parentheses, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // User and system of its own, then of its children.
  const times = fields.slice(11, 15).filter((_, place) => of === "all" || place % 2 === 1);
  return times.reduce((sum, ticks) => sum + Number(ticks) * TICK_US, ofChildren);
}

/** Nothing of a process that has ended: what it took is its parent's from then on. */
function readProc(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, "latin1");
  } catch {
    return "";
  }
}
