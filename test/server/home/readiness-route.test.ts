import { afterAll, beforeAll, expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import { type Harness, startHarness } from "../harness.ts";
import { sendRaw } from "../raw-http.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ mounts: products(), config: { publicUrl: new URL("https://keys.example.com") } });
});
afterAll(() => harness.close());

/** As a load balancer asks: the address, and not the name that clients use. */
const ask = (method: string) =>
  sendRaw(harness.port, `${method} /readyz HTTP/1.1\r\nHost: 10.0.0.7\r\nConnection: close\r\n\r\n`);

test("load balancers learn on the public port whether this replica decides, without a key and by any Host", async () => {
  expect(await ask("GET")).toMatchObject({ status: 200, body: "ok\n" });
  expect(await ask("HEAD")).toMatchObject({ status: 200, body: "" });
  harness.setCurrent(false);
  expect(await ask("GET")).toMatchObject({ status: 503, body: "not ready\n" });
  expect((await ask("HEAD")).status).toBe(503);
});
