import { sql } from "kysely";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../../../env/browser.ts";
import { openWindow } from "../looked-at.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
let browser: Browser;
let context: BrowserContext | undefined;

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
});
afterAll(async () => {
  await context?.close();
  await Promise.all([browser?.close(), pages?.close()]);
});

/** Runs in the page: where each letter of a text that stands within an element is, from left to right. */
const PLACES = `(() => {
  const walker = document.createTreeWalker(document.querySelector("#results tbody th"), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const start = node.data.indexOf("payments");
    if (start < 0) continue;
    return Array.from("payments", (_, i) => {
      const range = document.createRange();
      range.setStart(node, start + i);
      range.setEnd(node, start + i + 1);
      return range.getBoundingClientRect().left;
    });
  }
  return [];
})()`;

test("b118: beside a stored name that turns the direction of text, the team's name stands in order", async () => {
  await pages.send("POST", "/teams", { name: "payments", spec: {} });
  await pages.send("POST", "/keys", { name: "docs", team: "payments", spec: { preset: "MCPReadOnly" } });
  await sql`update keys set display_name = ${"Docs \u202etoof"} where name = 'docs'`.execute(pages.store.db);
  const window = await openWindow(browser, pages, { cookie: pages.browser.cookie });
  context = window.context;
  await window.page.goto(`${pages.url}/dashboard/keys`);
  const places = await window.page.evaluate<number[]>(PLACES);
  expect(places).toHaveLength("payments".length);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});
