/** How the provider asks a server's management API, whatever a program asks of it at once. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type TestContext, test } from "vitest";
import { openApi } from "../../../infra/pulumi/provider/api/api.ts";
import { Refusal } from "../../../infra/pulumi/provider/api/refusal.ts";
import { until } from "../../env/until.ts";

async function startServer(context: TestContext, answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = { url, token: "t", tokenFile: undefined };
  return { ...openApi(config), config };
}

const send = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { "content-type": "application/json", "retry-after": "1" }).end(JSON.stringify(body));

test("b136: as many requests of one program are under way as leave room for others of its team, and the rest wait", async (context) => {
  const held: ServerResponse[] = [];
  const api = await startServer(context, (response) => {
    if (response.req.method === "POST") held.push(response);
    else send(response, 200, {});
  });
  const others = openApi(api.config);
  const asking = Array.from({ length: 150 }, () => api.send("POST", "keys", {}));
  for (const underWay of [64, 64, 22]) {
    await until(`${underWay} are under way`, () => held.length >= underWay);
    // Were more sent than that, they would be there before these, which begin later.
    for (let i = 0; i < 3; i++) await others.send("GET", "keys");
    expect(held).toHaveLength(underWay);
    for (const response of held.splice(0)) send(response, 200, { id: "key_1" });
  }
  expect(await Promise.all(asking)).toHaveLength(150);
});

test.concurrent.for([429, 503])(
  "a server that is busy (%i) is asked again, and at last is a refusal",
  async (status, context) => {
    let asked = 0;
    const busy = { status, code: "rate_limited", detail: "try again later" };
    const api = await startServer(context, (response) => {
      asked++;
      if (asked === 2) send(response, 200, {});
      else send(response, status, busy);
    });
    await api.send("POST", "keys", {});
    expect(asked).toBe(2);
    await expect(api.send("POST", "keys", {})).rejects.toBeInstanceOf(Refusal);
    expect(asked).toBe(6);
  },
);

const page = (response: ServerResponse, status: number) => response.writeHead(status).end("<html>");
const FATES: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  ["a proxy's 502", (response) => page(response, 502)],
  ["a proxy's 503", (response) => page(response, 503)],
  ["a balancer's 504", (response) => send(response, 504, { message: "Endpoint request timed out" })],
  ["a limit before the server", (response) => page(response, 429)],
  ["a reset", (response) => response.req.socket.resetAndDestroy()],
  [
    "half an answer",
    (response) => response.writeHead(200, { "content-length": 9 }).write("{", () => response.destroy()),
  ],
];

for (const [fate, befalls] of FATES) {
  test.concurrent(`after ${fate} the same is asked again, whatever it is, and at last is said`, async (context) => {
    let isAway = false;
    let asked = 0;
    const api = await startServer(context, (response) => {
      if (isAway || ++asked % 2 === 1) befalls(response);
      else send(response, 200, { id: "key_1" });
    });
    const key = { "idempotency-key": "one" };
    await api.send("GET", "keys/key_1");
    await api.send("POST", "keys", {}, key);
    await api.send("DELETE", "keys/key_1");
    expect(asked).toBe(6);
    isAway = true;
    await expect(api.send("GET", "keys/key_1")).rejects.toThrow(/run it again/);
  });
}
