import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { join } from "node:path";
import { until } from "../../env/until.ts";
import type { FromAttacker, Orders, Outcomes } from "./attacker-process.ts";

/** The hostile tenant's process. */
export type Attacker = {
  /** Where its upstream listens. */
  readonly upstream: string;
  start(orders: Orders): void;
  /** Ends the attacks, and the process with them. */
  stop(): Promise<Outcomes>;
  /** Whatever it is at. */
  kill(): void;
};

/** It is on another machine in truth: here it shall have what processor is left, and not the servers'. */
const NICE = 19;

export async function startAttacker(): Promise<Attacker> {
  const child: ChildProcess = fork(join(import.meta.dirname, "attacker-process.ts"), {
    execArgv: ["--max-old-space-size=1024"],
  });
  setPriority(child.pid ?? 0, NICE);
  const exited = once(child, "exit");
  let upstream: string | undefined;
  let outcomes: Outcomes = [];
  child.on("message", (message: FromAttacker) => {
    if ("upstream" in message) upstream = message.upstream;
    else outcomes = message.outcomes;
  });
  return {
    upstream: await until("the hostile tenant's upstream listens", () => upstream),
    start: (orders) => void child.send(orders),
    async stop() {
      if (child.connected) child.send("stop");
      await exited;
      return outcomes;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
