import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { until } from "../../../env/until.ts";

/** Starts a script, named from this folder on, and waits for a line of its output. It ends with the test. */
export async function startChild(script: string, argument: string, line: string): Promise<ChildProcess> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, argument], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => kill(child));
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  await until(`"${line}" from ${script}`, () => output.includes(line));
  return child;
}

/** Ends it as `kill -9` does, and waits until it is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
