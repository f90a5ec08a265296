import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { ROOT } from "../architecture/sources.ts";
import { until } from "../env/until.ts";
import { key, makeHome, team } from "./up.ts";

const MAIN = join(ROOT, "cli/main.ts");
const NPM = ["npm", "run", "--silent", "keyplane", "--"];
const PID_1 = ["unshare", "--pid", "--fork", "--kill-child", process.execPath, MAIN];
const canUnshare = spawnSync("unshare", ["--pid", "--fork", "true"]).status === 0;
if (!canUnshare && process.env.CI === "true") throw new Error("unshare --pid is needed");

/** `keyplane up`, once it serves, started as given, in a process group of its own, which ends with the test. */
async function startGroup(context: TestContext, command: readonly string[], env: Record<string, string> = {}) {
  const home = makeHome();
  home.write("all.yaml", team("team-a", "dev") + key("agent"));
  const [program = "", ...args] = [...command, "up", "--manifests", home.manifests, "--data", home.data];
  const child = spawn(program, [...args, "--port", "0", "--admin-port", "0"], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  });
  const { pid = 0 } = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const ended = once(child, "exit").then(([code]) => code);
  context.onTestFinished(() => {
    if (processesOf(pid) !== "") process.kill(-pid, "SIGKILL");
    home.remove();
  });
  const url = await until("it serves", () => {
    if (child.exitCode !== null) throw new Error(output);
    return /^ready (http:\S+)$/m.exec(output)?.[1];
  });
  await until("its key is delivered", () => output.includes("agent"));
  return { home, child, pid, ended, url: new URL(url), output: () => output };
}

/** What is left of a process group, a line each. */
function processesOf(group: number): string {
  const lines = execFileSync("ps", ["-eo", "pgid=,stat=,args="], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => Number(line.trim().split(/\s+/)[0]) === group && !/^\s*\d+\s+Z/.test(line)).join("\n");
}

async function isListening({ hostname, port }: URL): Promise<boolean> {
  const socket = connect(Number(port), hostname);
  const answers = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return answers;
}

/** The process that a program has started. */
function childOf({ pid }: ChildProcess): number {
  return Number(execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" }));
}

test("c61: a SIGTERM to the npm that runs keyplane up ends all that it started, with exit code 0", async (context) => {
  const up = await startGroup(context, NPM);
  up.child.kill("SIGTERM");
  expect(await up.ended).toBe(0);
  await until("no process of it is left", () => processesOf(up.pid) === "");
  expect(await isListening(up.url)).toBe(false);
  expect(up.output()).toMatch(/^stopping\b.*\n(.*\n)*stopped$/m);
});

test("c61: a Ctrl-C, which npm passes on besides, is one: it drains, says so, and ends with exit code 0", async (context) => {
  const up = await startGroup(context, NPM);
  process.kill(-up.pid, "SIGINT");
  expect(await up.ended).toBe(0);
  await until("no process of it is left", () => processesOf(up.pid) === "");
  expect(up.output().match(/^(stopping\b|stopped$)/gm)).toEqual(["stopping", "stopped"]);
});

test.skipIf(!canUnshare)("c61: the first process of a container drains and ends with exit code 0", async (context) => {
  const up = await startGroup(context, PID_1);
  process.kill(childOf(up.child), "SIGTERM");
  expect(await up.ended).toBe(0);
  expect(await isListening(up.url)).toBe(false);
  expect(up.output()).toMatch(/^stopped$/m);
});

for (const [first, second] of [
  ["SIGINT", "SIGINT"],
  ["SIGTERM", "SIGINT"],
] as const) {
  test(`c61: a ${second} after a ${first} ends at once what is still draining`, async (context) => {
    const up = await startGroup(context, [process.execPath, MAIN]);
    const call = await startCall(up.url, up.home.secretOf("dev", "agent"));
    up.child.kill(first);
    await until("it drains", async () => !(await isListening(up.url)));
    expect([up.child.exitCode, call.destroyed]).toEqual([null, false]);
    up.child.kill(second);
    // Drained, it would be 0.
    expect(await up.ended).toBe(1);
    expect(up.output()).not.toMatch(/^stopped$/m);
  });
}

/** A call whose body never ends. */
async function startCall({ hostname, port }: URL, credential: string): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  const head = ["POST /atoms HTTP/1.1", `Host: ${hostname}:${port}`, `Authorization: Bearer ${credential}`];
  head.push("Content-Type: application/json", "Content-Length: 100", "Expect: 100-continue");
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1.1 100 /);
  socket.write("{");
  return socket;
}
