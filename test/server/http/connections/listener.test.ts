import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { AnswerBudget, answerLimits } from "../../../../server/http/answers/answer-budget.ts";
import { createListener } from "../../../../server/http/connections/listener.ts";
import { LingeringSockets } from "../../../../server/http/connections/refused-request.ts";

/** Calls and resets the connection at once, fifty times, after a line of standard input. */
const RESETS = `
const { connect } = require("node:net");
const port = Number(process.argv[1]);
process.stdout.write("ready");
process.stdin.once("data", () => {
  for (let i = 0; i < 50; i++) {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n", () => socket.resetAndDestroy());
    });
    socket.on("error", () => {});
  }
  process.stdin.destroy();
});
`;

test("b88: a connection that was reset before it was heard of is closed, and nothing of it is decided", async () => {
  const callers: (string | undefined)[] = [];
  const route: Parameters<typeof createListener>[0] = ({ socket }, response) => {
    callers.push(socket.remoteAddress);
    response.end();
  };
  const server = createListener(route, null, new LingeringSockets(1), new AnswerBudget(answerLimits(1))).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const child = spawn(process.execPath, ["-e", RESETS, `${port}`], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  await new Promise((resolve) => child.stdin.write("now", resolve));
  // Meanwhile nothing is accepted.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  await ended;
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200);
  expect(callers).toEqual(["127.0.0.1"]);
  server.close();
});
