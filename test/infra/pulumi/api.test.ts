/** How the provider asks a server's management API, whatever a program asks of it at once. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { openApi } from "../../../infra/pulumi/provider/api/api.ts";
import { Refusal } from "../../../infra/pulumi/provider/api/refusal.ts";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function startServer(answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return openApi({ url, token: "t", tokenFile: undefined });
}

const send = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { "content-type": "application/json", "retry-after": "1" }).end(JSON.stringify(body));

test("b136: as many requests of one program are under way as leave room for others of its team, and the rest wait", async () => {
  const held: ServerResponse[] = [];
  let most = 0;
  const api = await startServer((response) => {
    held.push(response);
    most = Math.max(most, held.length);
    // What waits comes only once one of these is answered.
    setTimeout(() => {
      held.splice(held.indexOf(response), 1);
      send(response, 200, { id: "key_1" });
    }, 20);
  });
  const answers = await Promise.all(Array.from({ length: 300 }, () => api.send("POST", "keys", {})));
  expect([answers.length, most]).toEqual([300, 64]);
});

test.each([429, 503])("a server that is busy (%i) is asked again, and at last is a refusal", async (status) => {
  let asked = 0;
  const busy = { status, code: "rate_limited", detail: "try again later" };
  const api = await startServer((response) => {
    asked++;
    if (asked === 2) send(response, 200, {});
    else send(response, status, busy);
  });
  await api.send("POST", "keys", {});
  expect(asked).toBe(2);
  await expect(api.send("POST", "keys", {})).rejects.toBeInstanceOf(Refusal);
  expect(asked).toBe(6);
});
