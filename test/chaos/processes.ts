import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { COMPILE_CACHE } from "../env/compile-cache.ts";
import { readyUrl } from "../env/serving.ts";

const COMMAND = join(import.meta.dirname, "../../cli/main.ts");
const SET_CLOCK = join(import.meta.dirname, "set-clock.ts");
/** How soon a process that ended by itself is started again, as a kubelet does. Milliseconds. */
const RESTART_PAUSE_MS = 1_000;

/** A `keyplane` process that is started again whenever it ends, unless it is to stay down. */
export type Supervised = {
  readonly name: string;
  /** Everything that all of its lives have printed. */
  readonly lines: readonly string[];
  /** The address that it printed when it last became ready; undefined before that, and while it is down. */
  url(): string | undefined;
  pid(): number | undefined;
  /** Ends it by that signal, and keeps it down. Resolves when it is gone. */
  down(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  up(): void;
  /** Stops its clock, or lets it go on. */
  send(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Has its wall clock be off from now on, also after a restart. Milliseconds. */
  setClock(offsetMs: number): void;
};

export type SuperviseOptions = {
  readonly name: string;
  /** Where it may keep files. */
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Called with each end that was not requested, and its last words. */
  readonly onDeath: (code: number | null, lastWords: string) => void;
};

export function supervise({ name, folder, args, env, onDeath }: SuperviseOptions): Supervised {
  const lines: string[] = [];
  let child: ChildProcess | undefined;
  let url: string | undefined;
  let wanted = false;
  const clock = join(folder, `${name}.clock`);
  writeFileSync(clock, "0");
  process.once("exit", () => child?.kill("SIGKILL"));

  function start(): void {
    const started = spawn(process.execPath, ["--import", SET_CLOCK, COMMAND, ...args], {
      env: { PATH: process.env.PATH, CHAOS_CLOCK: clock, ...COMPILE_CACHE, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    for (const stream of [started.stdout, started.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        url = readyUrl(line) ?? url;
      });
    }
    started.on("exit", async (code) => {
      url = undefined;
      child = undefined;
      if (!wanted) return;
      onDeath(code, lines.at(-1) ?? "");
      await delay(RESTART_PAUSE_MS);
      if (wanted && child === undefined) start();
    });
  }

  return {
    name,
    lines,
    url: () => url,
    pid: () => child?.pid,
    async down(signal) {
      wanted = false;
      const gone = child && once(child, "exit");
      child?.kill(signal);
      // A stopped process does not see SIGTERM before it goes on.
      child?.kill("SIGCONT");
      await gone;
    },
    up() {
      wanted = true;
      if (child === undefined) start();
    },
    send(signal) {
      child?.kill(signal);
    },
    setClock(offsetMs) {
      writeFileSync(clock, String(offsetMs));
      // One that is not ready may not listen as yet, and would end by the signal: it has read the file, or will.
      if (url !== undefined) child?.kill("SIGUSR2");
    },
  };
}
