/** What people do on any page out of habit. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../../env/browser.ts";
import { ownPage } from "../auth/session/sign-in.ts";
import { openWindow } from "./looked-at.ts";
import { type Pages, startPages } from "./pages.ts";

let pages: Pages;
let browser: Browser;
let keyId: string;

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  await pages.send("POST", "/teams", { name: "habits", spec: { members: [] } });
  const spec = { preset: "MCPReadOnly", expiresAfter: "720h" };
  const made = await pages.send("POST", "/keys", { name: "reader", team: "habits", spec });
  keyId = made.body.id;
});
afterAll(async () => {
  await browser.close();
  await pages.close();
});

async function visit(path: string, look = {}) {
  const window = await openWindow(browser, pages, { cookie: pages.browser.cookie, look });
  await window.page.goto(`${pages.url}${path}`);
  return window;
}

test("a slash leads to the search, and is a slash where something is written", async () => {
  const { page, context } = await visit("/dashboard/keys");
  await page.keyboard.press("/");
  const search = page.getByRole("searchbox").first();
  expect(await page.evaluate("document.activeElement.type")).toBe("search");
  await page.keyboard.type("a/b");
  expect(await search.inputValue()).toBe("a/b");
  await context.close();
});

test("times are in the reader's zone, with UTC behind them, also in a list that script has exchanged", async () => {
  const { page, context } = await visit(`/dashboard/keys/${keyId}`, { timezoneId: "Asia/Tokyo" });
  const created = page.locator("time[title$=UTC]", { hasText: "GMT+9" }).first();
  const shown = new Date(`${(await created.textContent())?.replace("GMT+9", "GMT+0900")}`);
  const behind = new Date(`${await created.getAttribute("title")}`);
  expect(shown.getTime()).toBe(behind.getTime());
  await page.goto(`${pages.url}/dashboard/audit`);
  await page.getByRole("searchbox").fill("reader");
  await page.waitForURL(/about=reader/);
  await page.locator("#results time", { hasText: "GMT+9" }).first().waitFor();
  expect(await page.locator("time:not([title])").count()).toBe(0);
  await context.close();
});

test("a shorter time is shown of what was searched for since the page was opened", async () => {
  for (const [section, label, typed, link, kept] of [
    ["audit", "By", "console", "Last 7 days", "actor=console"],
    ["refusals", "Team", "habits", "Last day", "team=habits"],
  ] as const) {
    const { page, context } = await visit(`/dashboard/${section}`);
    await page.getByLabel(label, { exact: true }).fill(typed);
    await page.waitForURL((url) => url.search.includes(kept));
    await page.getByRole("link", { name: link }).click();
    await page.waitForLoadState();
    expect(page.url()).toContain(kept);
    await context.close();
  }
});

test("how long ago has the moment behind it, in UTC and by script in the reader's zone", async () => {
  for (const [javaScriptEnabled, behind] of [
    [true, /^\d+ \w+ \d{4}, \d\d:\d\d GMT\+9 \(\d+ \w+ \d{4}, \d\d:\d\d UTC\)$/],
    [false, /^\d+ \w+ \d{4}, \d\d:\d\d UTC$/],
  ] as const) {
    const { page, context } = await visit("/dashboard/keys", { timezoneId: "Asia/Tokyo", javaScriptEnabled });
    const ends = page.locator("td time", { hasText: /^in \d+ days$/ });
    expect(await ends.getAttribute("title")).toMatch(behind);
    if (javaScriptEnabled) await page.evaluate("document.dispatchEvent(new Event('htmx:after:swap'))");
    expect(await ends.getAttribute("title")).toMatch(behind);
    await context.close();
  }
});

test("a form that is opened for the first time does not say that what was typed before is back", async () => {
  const { page, context } = await visit("/dashboard/keys/new");
  expect(await page.getByText("What you typed before you signed in").isVisible()).toBe(false);
  await context.close();
});

test("without script there is no button that only script can serve, and times say that they are UTC", async () => {
  const { page, context } = await visit(`/dashboard/keys/${keyId}`, { javaScriptEnabled: false });
  expect(await page.locator("button[data-copy]:visible").count()).toBe(0);
  expect(await page.locator("time[data-local]").first().textContent()).toMatch(/UTC$/);
  await context.close();
});

test("what is printed is what the page says, without what leads elsewhere or changes it", async () => {
  const { page, context } = await visit(`/dashboard/keys/${keyId}`);
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("nav:visible, form:visible, .bar:visible").count()).toBe(0);
  expect(await page.getByRole("heading", { level: 1 }).isVisible()).toBe(true);
  await context.close();
});

test("HEAD is answered as GET, without the body", async () => {
  for (const path of ["/", "/docs", "/dashboard/keys", "/dashboard/webhooks", `/dashboard/keys/${keyId}`]) {
    const ask = (method: string) =>
      fetch(`${pages.url}${path}`, { method, redirect: "manual", headers: ownPage(pages, pages.browser) });
    const [got, head] = [await ask("GET"), await ask("HEAD")];
    expect([path, head.status, await head.text()]).toEqual([path, got.status, ""]);
    expect(head.headers.get("content-type")).toBe(got.headers.get("content-type"));
  }
  const stranger = await fetch(`${pages.url}/dashboard/keys`, { method: "HEAD", redirect: "manual" });
  expect([stranger.status, stranger.headers.get("location")]).toEqual([303, expect.stringMatching(/sign-in/)]);
});

test("where the rows of a table are cards, a screen reader still has its rows, its cells and the headings of both", async () => {
  const { page, context } = await visit("/dashboard/keys", { viewport: { width: 390, height: 900 } });
  expect(await page.evaluate("getComputedStyle(document.querySelector('tbody > tr')).display")).toBe("grid");
  const { nodes } = await (await context.newCDPSession(page)).send("Accessibility.getFullAXTree");
  const count = (role: string) => nodes.filter((node) => !node.ignored && node.role?.value === role).length;
  const roles = ["table", "row", "columnheader", "rowheader", "cell"];
  expect(roles.map((role) => [role, count(role)])).toEqual([
    ["table", 1],
    ["row", 2],
    ["columnheader", 8],
    ["rowheader", 1],
    ["cell", 7],
  ]);
  await context.close();
});
