/** How many bytes a page of the console comes to, and in which coding its files are sent. */
import { get } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordUsage } from "../../../store/keys/uses/usage.ts";
import { HOUR } from "../../store/fixtures.ts";
import { copyKey } from "../console/keys/copied-keys.ts";
import { type Pages, startPages } from "../console/pages.ts";

let pages: Pages;
beforeAll(async () => {
  pages = await startPages();
  await pages.send("POST", "/teams", { name: "payments", spec: {} });
});
afterAll(() => pages.close());

async function pathsOfAssets(): Promise<string[]> {
  return [...(await pages.get("/keys")).text.matchAll(/"(\/dashboard\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
}

/** As it comes over the wire: `fetch` would decode it. */
function fetchAs(path: string, accepted: string): Promise<{ coding: string; vary: string; content: Buffer }> {
  const headers = accepted === "" ? {} : { "accept-encoding": accepted };
  return new Promise((resolve, reject) => {
    get(`${pages.url}${path}`, { headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("end", () => {
        const { "content-encoding": coding = "identity", vary = "" } = answer.headers;
        resolve({ coding, vary, content: Buffer.concat(chunks) });
      });
    }).on("error", reject);
  });
}

const asItIs = (content: Buffer) => content;

describe("A file of the console", () => {
  test.each([
    ["", "identity", asItIs],
    ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
    ["gzip, deflate", "gzip", gunzipSync],
    ["GZIP;q=0.5", "gzip", gunzipSync],
    ["br;q=0, gzip;q=0.000", "identity", asItIs],
    ["br;\tq=0,\tgzip", "gzip", gunzipSync],
    ["broken", "identity", asItIs],
  ])("is sent to a client that takes %j in %s, and is the same", async (accepted, coding, decode) => {
    for (const path of await pathsOfAssets()) {
      const plain = await fetchAs(path, "");
      const found = await fetchAs(path, accepted);
      expect({ path, coding: found.coding, vary: found.vary }).toEqual({ path, coding, vary: "accept-encoding" });
      expect(decode(found.content).equals(plain.content), path).toBe(true);
    }
  });
});

test("A page of 50 keys that are in use and end, and the sheet of its styles weigh less than 60 kB, uncompressed", async () => {
  const [name = "", ...others] = Array.from({ length: 51 }, (_, i) => `checkout-assistant-prod-${i}`);
  const spec = { preset: "GatewayDefault", displayName: "Checkout assistant", expiresAfter: "480h" };
  expect((await pages.send("POST", "/keys", { name, team: "payments", spec })).status).toBe(201);
  await copyKey(pages.store, name, others);
  const keys = await pages.store.db.selectFrom("keys").select("id").execute();
  await recordUsage(
    pages.store,
    keys.map(({ id }, i) => ({ keyId: id, version: 1, at: Date.now() - i * HOUR })),
  );
  const { text } = await pages.get("/keys");
  expect(text.match(/<tr>/g)).toHaveLength(51);
  expect(text.match(/<time datetime="[^"]+" title="[^"]+ UTC">/g)).toHaveLength(100);
  const sheet = (await pathsOfAssets()).find((path) => path.endsWith(".css")) ?? expect.fail("the page has no sheet");
  const bytes = Buffer.byteLength(text) + (await fetchAs(sheet, "")).content.length;
  expect(bytes).toBeLessThan(60_000);
});
