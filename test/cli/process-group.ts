import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { ROOT } from "../architecture/sources.ts";
import { COMPILE_CACHE } from "../env/compile-cache.ts";
import { copyEmbedded } from "../env/database/embedded-database.ts";
import { until } from "../env/until.ts";
import { key, makeHome, team } from "./up.ts";

export const MAIN = join(ROOT, "cli/main.ts");

/** `keyplane up`, once it serves, started as given, in a process group of its own, which ends with the test. */
export async function startGroup(context: TestContext, command: readonly string[], env: Record<string, string> = {}) {
  const home = makeHome();
  home.write("all.yaml", team("team-a", "dev") + key("agent"));
  await copyEmbedded(join(home.data, "db"));
  const [program = "", ...args] = [...command, "up", "--manifests", home.manifests, "--data", home.data];
  const child = spawn(program, [...args, "--port", "0", "--admin-port", "0"], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...COMPILE_CACHE, ...env },
  });
  const { pid = 0 } = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const ended = once(child, "exit").then(([code, signal]) => code ?? signal);
  context.onTestFinished(() => {
    if (processesOf(pid) !== "") process.kill(-pid, "SIGKILL");
    home.remove();
  });
  const url = await until("it serves", () => {
    if (child.exitCode !== null) throw new Error(output);
    return /^ready (http:\S+)$/m.exec(output)?.[1];
  });
  await until("its key is delivered", () => /^dev +agent +True/m.test(output));
  return { home, child, pid, ended, url: new URL(url), output: () => output };
}

/** What is left of a process group, a line each. */
export function processesOf(group: number): string {
  const lines = execFileSync("ps", ["-eo", "pgid=,stat=,args="], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => Number(line.trim().split(/\s+/)[0]) === group && !/^\s*\d+\s+Z/.test(line)).join("\n");
}

export async function isListening({ hostname, port }: URL): Promise<boolean> {
  const socket = connect(Number(port), hostname);
  const answers = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return answers;
}
