/** Controllers as processes of their own: see controller-process.ts. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "vitest";
import type { Store } from "../../store/database/store.ts";
import { databaseUrl } from "../env/database/engines.ts";
import type { StartedKubernetes } from "../env/kubernetes.ts";
import type { ProcessOptions } from "./controller-process.ts";

const PROGRAM = join(import.meta.dirname, "controller-process.ts");

/** Starts one, which is killed at the end of the test at the latest. */
export async function spawnController(
  context: TestContext,
  on: { readonly kubernetes: Pick<StartedKubernetes, "address">; readonly store: Store },
  options: Omit<ProcessOptions, "address" | "databaseUrl" | "encryptionKey">,
): Promise<{ child: ChildProcess; lines: string[]; exit: Promise<unknown[]> }> {
  const rest: ProcessOptions = {
    ...options,
    address: on.kubernetes.address,
    databaseUrl: (await databaseUrl(on.store)).href,
    encryptionKey: randomBytes(32).toString("base64"),
  };
  const env = { ...process.env, OPTIONS: JSON.stringify(rest) };
  const child = spawn(process.execPath, [PROGRAM], { env, stdio: ["ignore", "pipe", "inherit"] });
  context.onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  return { child, lines, exit: once(child, "exit") };
}
