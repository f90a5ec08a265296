import { afterAll, beforeAll, expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { type Harness, startHarness } from "../harness.ts";
import { requestHead, sendRaw } from "../raw-http.ts";

const TOKEN = "kpt_the-token-of-this-installation";

let harness: Harness;
let key: string;
beforeAll(async () => {
  harness = await startHarness({ mounts: products(), managementToken: managementToken("bootstrap-token", TOKEN) });
  key = harness.addKey();
});
afterAll(() => harness.close());

test.each(["Host: localhost", "host: other.test", "HOST:"])("b92: a second Host line is 400: %s", async (line) => {
  const used = harness.used.length;
  const answer = await sendRaw(harness.port, requestHead("GET /atoms HTTP/1.1", [line, `X-API-Key: ${key}`]));
  expect(answer.status).toBe(400);
  expect(answer.head).toMatch(/^connection: close/im);
  expect(harness.used).toHaveLength(used);
});

test.each([
  ["memory", "GET /atoms HTTP/1.1"],
  ["the gateway", "POST /g/some/v1/embeddings HTTP/1.1"],
  ["the management API", "GET /api/v1/keys HTTP/1.1"],
])("b92: an unknown expectation reveals nothing to a caller without a key: %s", async (_name, line) => {
  expect((await sendRaw(harness.port, requestHead(line, ["Expect: the-unexpected"]))).status).toBe(401);
});

test("b92: an unknown expectation is 417 for a caller with a key, or with the management token", async () => {
  const { publicId } = harness.addGateway();
  for (const [line, header] of [
    ["GET /atoms HTTP/1.1", `X-API-Key: ${key}`],
    [`POST /g/${publicId}/v1/embeddings HTTP/1.1`, `X-API-Key: ${key}`],
    ["GET /api/v1/keys HTTP/1.1", `Authorization: Bearer ${TOKEN}`],
  ] as const) {
    const answer = await sendRaw(harness.port, requestHead(line, ["Expect: the-unexpected", header]));
    expect(answer.status).toBe(417);
    expect(answer.body).toContain("100-continue");
  }
});
