import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../env/browser.ts";
import { until } from "../../env/until.ts";
import { judge, openWindow, THEMES, WIDTHS } from "./looked-at.ts";
import { type Pages, startPages } from "./pages.ts";

let pages: Pages;
let browser: Browser;
const contexts: BrowserContext[] = [];
let complaints: string[] = [];
let keyId: string;

const MEMBERS = [
  { role: "admin", subject: "ada@example.com" },
  { role: "member", group: "payments-developers" },
  { role: "viewer", serviceAccount: { namespace: "monitoring", name: "reader" } },
];

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  const send = async (...asked: Parameters<Pages["send"]>) => {
    const answer = await pages.send(...asked);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  await send("POST", "/teams", { name: "payments", spec: { displayName: "Payments", members: MEMBERS } });
  await send("POST", "/teams", { name: "research", spec: { members: [] } });
  const upstreams = ["primary", "spare"].map((name) => ({
    ...{ name, dialect: "openai", baseURL: `https://${name}.models.example/v1`, credential: "sk-credential" },
  }));
  await send("POST", "/gateways", { name: "models", team: "payments", spec: { upstreams, routes: [] } });
  const spec = { preset: "GatewayDefault", gatewayRef: { name: "models" } };
  const { body, headers } = await send("POST", "/keys", { name: "checkout-assistant", team: "payments", spec });
  keyId = body.id;
  const renamed = { spec: { ...spec, displayName: "Checkout" }, reason: "as people call it" };
  await send("PUT", `/keys/${keyId}`, renamed, { "if-match": headers.get("etag") ?? "" });
  await send("POST", `/keys/${keyId}/revoke`, { reason: "in a public repository" });
});
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
});
afterAll(() => Promise.all([browser?.close(), pages?.close()]));

async function open(path: string, look: BrowserContextOptions = {}): Promise<Page> {
  const opened = await openWindow(browser, pages, { cookie: pages.browser.cookie, look });
  contexts.push(opened.context);
  complaints = opened.complaints;
  await opened.page.goto(`${pages.url}/dashboard${path}`);
  return opened.page;
}

describe("The audit log in a browser", () => {
  test("is searched as one types, and exported with what is found", async () => {
    const page = await open("/audit");
    await page.getByLabel("Action").selectOption("key.revoked");
    await until("one event is left", async () => (await page.locator("tbody tr").count()) === 1);
    expect(await page.locator("tbody tr").innerText()).toContain("checkout-assistant");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export as JSON Lines" }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ action: "key.revoked", keyId });
    expect(complaints).toEqual([]);
  });
});

describe.each(THEMES)("Every page around the keys, %s", (colorScheme) => {
  test.for(WIDTHS)("is accessible and fits into a window of %i pixels", async (width) => {
    const paths = {
      audit: "/audit",
      "audit-empty": "/audit?action=none",
    };
    const page = await open("/audit", { colorScheme, viewport: { width, height: 900 } });
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(`${pages.url}/dashboard${path}`);
      await judge(page, `${name}-${colorScheme}-${width}`);
    }
  });
});
