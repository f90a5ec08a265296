import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { signedHeaders } from "../../../server/webhooks/signature.ts";
import { read } from "../../architecture/sources.ts";

test("The guide's way to verify a signature takes what is signed, by either secret, and nothing else", async (context) => {
  const [, code = ""] = /```js\n([\s\S]*?)```/.exec(read("docs/operations/webhooks.md")) ?? [];
  const folder = await mkdtemp(join(tmpdir(), "keyplane-guide-"));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "verify.mjs"), code);
  const { isFromKeyplane } = await import(join(folder, "verify.mjs"));
  const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(64, 0xff)];
  const secretOf = (bytes: Buffer) => `whsec_${bytes.toString("base64")}`;
  const body = JSON.stringify({ type: "key.revoked", data: { name: "ключ" } });
  const at = Math.floor(Date.now() / 1_000);
  const headers = signedHeaders({ id: "evt_a", at, body }, [key, other]);
  expect(isFromKeyplane(secretOf(key), headers, Buffer.from(body))).toBe(true);
  expect(isFromKeyplane(secretOf(other), headers, Buffer.from(body))).toBe(true);
  expect(isFromKeyplane(secretOf(Buffer.alloc(32, 2)), headers, Buffer.from(body))).toBe(false);
  expect(isFromKeyplane(secretOf(key), headers, Buffer.from(`${body}\n`))).toBe(false);
  expect(isFromKeyplane(secretOf(key), { ...headers, "webhook-id": "evt_b" }, Buffer.from(body))).toBe(false);
  expect(isFromKeyplane(secretOf(key), {}, Buffer.from(body))).toBe(false);
  const old = signedHeaders({ id: "evt_a", at: at - 3_600, body }, [key]);
  expect(isFromKeyplane(secretOf(key), old, Buffer.from(body))).toBe(false);
});

test("A signature is the one of the published example", () => {
  // Of the reference libraries' own tests (standard-webhooks/standard-webhooks).
  const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: 1_614_265_330, body: '{"test": 2432232314}' };
  expect(signedHeaders(message, [key])["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});
