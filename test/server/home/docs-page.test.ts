import { afterAll, beforeAll, expect, test } from "vitest";
import { PROBLEMS } from "../../../server/http/problems/catalogue.ts";
import { products } from "../../../server/products.ts";
import { type Harness, startHarness } from "../harness.ts";
import { codesOf, operationsOf } from "../openapi/described.ts";

let harness: Harness;
let page: string;
beforeAll(async () => {
  harness = await startHarness({ mounts: products() });
  page = await (await fetch(`${harness.url}/docs`)).text();
});
afterAll(() => harness.close());

test("the reference shows every operation, its refusals and every schema, each by an anchor of its own", async () => {
  const document = harness.app.describeApi();
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const operations = operationsOf(document);
  const shown = operations.filter(({ operation }) => ids.includes(operation.operationId));
  const missing = operations.filter((one) => !shown.includes(one)).map(({ path }) => path);
  expect(missing.filter((path) => !/models\/\{model\}:|^\/api\/v1\/memory\/atoms/.test(path))).toEqual([]);
  expect(shown.length).toBeGreaterThan(40);
  for (const name of Object.keys(document.components.schemas)) expect(ids).toContain(`schema-${name}`);
  for (const { operation } of shown) for (const code of codesOf(operation)) expect(ids).toContain(`code-${code}`);
  expect(Object.keys(PROBLEMS).filter((code) => !ids.includes(`code-${code}`))).toEqual([]);
});

test("the reference links to nothing that is not on it, but for pages that there are", () => {
  const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, to = ""]) => to);
  const broken = links.filter((to) => to.startsWith("#") && !page.includes(`id="${to.slice(1)}"`));
  expect(broken).toEqual([]);
  expect(links.filter((to) => /^https?:/.test(to))).toEqual([]);
});

test("the reference's calls carry the key by a file, and bodies that a shell takes for one word", () => {
  const calls = [...page.matchAll(/<code id="example-[^"]+">([^<]+)</g)].map(([, text = ""]) =>
    text.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&").replaceAll("&lt;", "<"),
  );
  expect(calls.length).toBeGreaterThan(40);
  for (const call of calls) {
    expect(call).toMatch(/^curl/);
    expect(call).not.toMatch(/-H '(Authorization|X-API-Key)/i);
    const [, body] = /-d '([^']*)'/.exec(call) ?? [];
    if (body !== undefined) expect(() => JSON.parse(body)).not.toThrow();
  }
});

test("the reference is made once, and not sent again to a client that has it", async () => {
  const first = await fetch(`${harness.url}/docs`);
  const etag = first.headers.get("etag") ?? "";
  expect(first.headers.get("cache-control")).toBe("no-cache");
  expect(first.headers.get("content-security-policy")).toContain("default-src 'none'");
  const again = await fetch(`${harness.url}/docs`, { headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  expect((await fetch(`${harness.url}/docs`, { headers: { "if-none-match": '"another"' } })).status).toBe(200);
});

test("the reference names the address that it was reached at, or the public one, for a shell", async () => {
  const exported = (text: string) =>
    text.match(/export KEYPLANE_BASE_URL=.*?(?=<)/g)?.map((line) => line.replaceAll("&#39;", "'"));
  const byName = harness.url.replace("127.0.0.1", "localhost");
  const named = await fetch(`${byName}/docs`);
  expect([exported(page), exported(await named.text())]).toEqual(
    [harness.url, byName].map((url) => [`export KEYPLANE_BASE_URL='${url}'`]),
  );
  const first = await fetch(`${harness.url}/docs`, { headers: { "if-none-match": named.headers.get("etag") ?? "" } });
  expect([first.status, exported(await first.text())]).toEqual([200, exported(page)]);
  const publicUrl = new URL("https://gateway.example.org/");
  const behindProxy = await startHarness({ mounts: products(), config: { publicUrl } });
  const text = await (await fetch(`${behindProxy.url}/docs`)).text();
  await behindProxy.close();
  expect(exported(text)).toEqual(["export KEYPLANE_BASE_URL='https://gateway.example.org'"]);
  expect(text).not.toContain("keys.example.com");
});

test("neither the reference nor the description has another's address in a call or a server", async () => {
  const description = await (await fetch(`${harness.url}/openapi.json`)).text();
  for (const text of [page, description])
    expect(text.match(/https?:\/\/[\w.-]*example\.com[^"]{0,20}/g) ?? []).toEqual([]);
  expect(JSON.parse(description).servers).toEqual([{ url: "/", description: "This server." }]);
});
