/** b78, b80: no byte of a key, of whatever standing and wherever it is put, comes out again. */

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { mintKey } from "../../domain/key/secret/key-format.ts";
import { products } from "../../processes/products.ts";
import type { Store } from "../../store/database/store.ts";
import { openMigrated } from "../env/database/engines.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { type Harness, startHarness } from "./harness.ts";
import { sendRaw } from "./raw-http.ts";

let store: Store;
let harness: Harness;
const written: string[] = [];

beforeAll(async () => {
  store = await openMigrated();
  harness = await startHarness({ mounts: products(), store });
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
  }
});
afterAll(async () => {
  vi.restoreAllMocks();
  await harness.close();
  await store.close();
});

/** Each way to put a key into a request: the request line's target, header lines and a body. */
const PLACES: Readonly<Record<string, (key: string) => { target?: string; headers?: string[]; body?: string }>> = {
  "vendor header": (key) => ({ headers: [`x-goog-api-key: ${key}`] }),
  query: (key) => ({ target: `?key=${key}` }),
  "encoded query": (key) => ({ target: `?k%65y=${key}&key=${key}` }),
  bearer: (key) => ({ headers: [`Authorization: Bearer ${key}`] }),
  "bearer, badly put": (key) => ({ headers: [`Authorization: Bearer  ${key},${key}`] }),
  "x-api-key": (key) => ({ headers: [`X-API-Key: ${key}`] }),
  basic: (key) => ({ headers: [`Authorization: Basic ${key}`] }),
  cookie: (key) => ({ headers: [`Cookie: session=${key}`] }),
  "another header": (key) => ({
    headers: [`X-Forwarded-Host: ${key}`, `X-Request-Id: ${key}`, `Referer: http://x/?key=${key}`],
  }),
  "a header's name": (key) => ({ headers: [`${key}: 1`] }),
  path: (key) => ({ target: `/${key}` }),
  "a path that cannot be decoded": (key) => ({ target: `/%zz${key}` }),
  "content type": (key) => ({ headers: [`Content-Type: ${key}`], body: key }),
  "a JSON body": (key) => ({
    headers: ["Content-Type: application/json"],
    body: JSON.stringify({ model: key, method: key }),
  }),
  "a broken body": (key) => ({ headers: ["Content-Type: application/json"], body: `{"${key}` }),
  "log injection": (key) => ({
    target: `/%0a{"level":"info","key":"${key}"}`,
    headers: [`User-Agent: {"level":30,"k":"${key}"}`],
  }),
};
const TARGETS = [
  "GET /atoms",
  "POST /atoms",
  "PATCH /atoms",
  "DELETE /atoms/1",
  "QUERY /atoms",
  "POST /api/v1/memory/mcp",
  "GET /nowhere",
];

test("b78: keys replayed in every place, on every product, by every standing, are nowhere to be found", async () => {
  const { publicId } = harness.addGateway({
    upstreams: [{ name: "dead", dialect: "openai", baseUrl: "http://127.0.0.1:9", credential: mintKey(randomBytes) }],
  });
  const keys = {
    valid: harness.addKey(),
    "read-only": harness.addKey({ scopes: 8 }),
    revoked: harness.addKey({ state: "revoked" }),
    expired: harness.addKey({ expiresAt: 1 }),
    "another team's": harness.addKey({ teamId: "team-b" }),
    imported: harness.addKey({}, "inf_imported-canary-8c1f4e2a9b7d6035"),
    unknown: mintKey(randomBytes),
    mistyped: mintKey(randomBytes).replace(/.$/, "_"),
  };
  const shown: string[] = [];
  const statuses = new Set<number>();
  const targets = [...TARGETS, `POST /g/${publicId}/v1/chat/completions`, `GET /g/${publicId}/v1/models`];
  for (const [t, line] of targets.entries()) {
    const [method, path = ""] = line.split(" ");
    for (const [p, put] of Object.values(PLACES).entries()) {
      for (const [s, key] of Object.values(keys).entries()) {
        // By day every two of the three meet, nightly all three.
        if (!NIGHTLY && (s + t + p) % 4 !== 0) continue;
        const { target = "", headers = [], body = "" } = put(key);
        const answer = await sendRaw(
          harness.port,
          [
            `${method} ${path}${target} HTTP/1.1`,
            `Host: 127.0.0.1:${harness.port}`,
            ...headers,
            `Content-Length: ${Buffer.byteLength(body)}`,
            "Connection: close",
            "",
            body,
          ].join("\r\n"),
        );
        statuses.add(answer.status);
        shown.push(answer.text);
      }
    }
  }
  expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 400, 401, 403, 404]));
  const out = {
    answers: shown.join("\n"),
    logs: harness.lines.join("\n"),
    metrics: await harness.metrics.registry.metrics(),
    audit: JSON.stringify(harness.refused),
    "stdout and stderr": written.join("\n"),
  };
  for (const [where, text] of Object.entries(out)) {
    for (const [standing, key] of Object.entries(keys)) {
      // Beyond the prefix, which may be shown, any eight characters in a row would be a leak.
      for (let at = 12; at + 8 <= key.length; at++) {
        if (text.includes(key.slice(at, at + 8))) throw new Error(`a part of the ${standing} key is in the ${where}`);
      }
    }
  }
});

test("b80: every line of the log is one record, whatever is in a request", async () => {
  for (const line of harness.lines) {
    expect(line.trimEnd()).not.toContain("\n");
    expect(JSON.parse(line)).toHaveProperty("msg");
  }
});
