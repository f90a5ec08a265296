import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keyplane } from "./up.ts";

/** What a terminal obeys, a line that looks like one of ours, and a key. */
const EVIL = `\u001b]0;pwned\u0007\u001b[31mred\u009b2J\u202eback\u2028\nkeyplane: all is well inf_${"A".repeat(57)}`;
const key = { id: "key_1", name: EVIL, namespace: "", team: EVIL, prefix: null, state: "revoked", versions: [] };
const revoked = { ...key, createdAt: "2026-11-21T08:00:00Z", revocation: { reason: EVIL, confirmed: true } };

const server = createServer((request, response) => {
  const path = request.url?.replace(/\?.*/, "") ?? "";
  response.setHeader("content-type", "application/json");
  if (path.endsWith("/access")) response.end(JSON.stringify({ allowed: true, reason: EVIL }));
  else if (path.endsWith("/revoke")) response.end(JSON.stringify({ sequence: null }));
  else if (path.endsWith("/keys/key_1")) response.end(JSON.stringify(revoked));
  else if (path.endsWith("/teams")) response.end(JSON.stringify({ items: [{ ...key, spec: {} }], nextCursor: null }));
  else if (path === "/readyz") response.writeHead(503).end(EVIL);
  else response.writeHead(400).end(JSON.stringify({ code: EVIL, detail: EVIL }));
});
let url: string;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

test.each([
  ["get", "keys"],
  ["get", "teams", "-o", "name"],
  ["revoke", "key_1"],
  ["revoke-subject", "ann", "--team", "key_1"],
  ["end-sessions", "ann"],
  ["forget-policies", "c1"],
  ["release-budgets", "key_1"],
  ["can-i", "memory:read", "--as-key", "key_1"],
  ["doctor", "--admin-url", ""],
  ["audit"],
])("keyplane %s %s %s %s shows nothing that a terminal obeys of what a server answers", async (...words) => {
  const args = words[0] === "doctor" ? ["doctor", "--admin-url", url] : [...words, "--server", url];
  const { out, err } = await keyplane(args, { KEYPLANE_TOKEN: "t" });
  expect(`${out}${err}`).toContain("red");
  expect(`${out}${err}`.replaceAll("\n", "")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  expect(out).not.toMatch(/^keyplane: all is well/m);
  expect(err).not.toMatch(/^keyplane: all is well/m);
});

test("keyplane doctor shows no key that an admin listener answers with", async () => {
  for (const format of [[], ["-o", "json"]]) {
    const { out } = await keyplane(["doctor", "--admin-url", url, ...format]);
    expect(out).toContain("inf_...");
    expect(out).not.toMatch(/inf_A/);
  }
});

test("keyplane refuses what was typed without showing what a terminal obeys", async () => {
  for (const args of [["\u001b[31mup"], ["get", "\u001b[31mkeys"], ["get", "keys", "--data", "/nowhere/\u001b[31m"]]) {
    const { code, err } = await keyplane(args);
    expect([code, err]).toEqual([2, expect.stringMatching(/^keyplane: [^\p{C}]*\[31m[^\p{C}]*\n$/u)]);
  }
});
