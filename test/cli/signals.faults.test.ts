import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { SHORT_LIVED } from "../env/compile-cache.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { isListening, MAIN, processesOf, startGroup } from "./process-group.ts";

const NPM = ["npm", "run", "--silent", "keyplane", "--"];
const NODE = [process.execPath, ...SHORT_LIVED, MAIN];

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

test("c61: a Ctrl-C that npm passes on as late as the process ends leaves its exit code 0", async (context) => {
  const up = await startGroup(context, NODE, { npm_lifecycle_event: "keyplane" });
  const passOn = () => {
    up.child.kill("SIGINT");
    if (up.child.exitCode === null && up.child.signalCode === null) setImmediate(passOn);
  };
  up.child.stdout.on("data", () => {
    if (/^stopped$/m.test(up.output())) passOn();
  });
  up.child.kill("SIGINT");
  expect(await up.ended).toBe(0);
});

/** By day the pair that has both of them. */
const PAIRS = [["SIGTERM", "SIGINT"], ...(NIGHTLY ? [["SIGINT", "SIGINT"] as const] : [])] as const;
for (const [first, second] of PAIRS) {
  test(`c61: a ${second} after a ${first} ends at once what is still draining`, async (context) => {
    const up = await startGroup(context, NODE);
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
