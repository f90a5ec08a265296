import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { keyplane } from "./up.ts";

test("keyplane rotate sends a request again whose answer was lost, by one Idempotency-Key", async (context) => {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    if (request.method === "POST" && asked.push(request.headers["idempotency-key"]) === 1) return request.destroy();
    const versions = [{ number: 1 + asked.length, prefix: "inf_abcdefgh", state: "active" }];
    const key = { id: "key_1", name: "reader", namespace: "dev", rotationRequestedAt: null, versions };
    response.end(JSON.stringify(request.method === "POST" ? { sequence: 7 } : key));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, err } = await keyplane(["rotate", "key_1", "--server", url], { KEYPLANE_TOKEN: "t" });
  expect([code, err]).toEqual([0, ""]);
  expect(asked).toEqual([expect.any(String), asked[0]]);
});
