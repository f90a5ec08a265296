import { afterAll, beforeAll, expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import { type Harness, startHarness } from "../harness.ts";
import { sendRaw } from "../raw-http.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ mounts: products() });
});
afterAll(() => harness.close());

const text = async (url = harness.url) => (await fetch(`${url}/`)).text();
/** What a page's text says once a browser has read it. */
const readable = (page: string) => page.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

test("the landing page is there for everybody, under the console's policy", async () => {
  const answer = await fetch(`${harness.url}/`, { headers: { cookie: "keyplane_session=unknown" } });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
  expect(answer.headers.get("x-frame-options")).toBe("DENY");
  expect(answer.headers.get("set-cookie")).toBe(null);
});

test("the landing page names every endpoint where clients reach the server", async () => {
  const page = await text();
  for (const path of [
    "/atoms",
    "/api/v1/memory/mcp",
    "/g/{publicId}",
    "/g/{publicId}/v1",
    "/api/v1",
    "/openapi.json",
  ]) {
    expect(page).toContain(`<code>${harness.url}${path}</code>`);
  }
  for (const link of ["/dashboard/keys", "/docs"]) expect(page).toContain(`href="${link}"`);
});

test("the landing page names the public URL where there is one, and answers for it alone", async () => {
  const publicUrl = new URL("https://keys.example.com/");
  const behindProxy = await startHarness({ mounts: products(), config: { publicUrl } });
  const ask = (host: string) =>
    sendRaw(behindProxy.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const [ours, others] = [await ask("keys.example.com"), await ask("evil.example")];
  await behindProxy.close();
  expect(ours.status).toBe(200);
  expect(ours.body).toContain("<code>https://keys.example.com/atoms</code>");
  expect(others.status).toBe(403);
  expect(others.body).not.toContain("evil.example");
});

test("the landing page's configuration of an MCP client is JSON that names the endpoint and no key", async () => {
  const [, config = ""] = /id="mcp">([^<]+)</.exec(await text()) ?? [];
  expect(JSON.parse(readable(config))).toMatchObject({
    mcpServers: {
      memory: {
        url: `${harness.url}/api/v1/memory/mcp`,
        headers: { Authorization: expect.stringMatching(/^Bearer \$\{KEYPLANE_API_KEY\}$/) },
      },
    },
  });
});

test("the landing page asks neither the database nor a key, and says so of no other method", async () => {
  harness.setCurrent(false);
  expect((await fetch(`${harness.url}/`)).status).toBe(200);
  harness.setCurrent(true);
  expect((await fetch(`${harness.url}/`, { method: "POST" })).status).toBe(404);
});
