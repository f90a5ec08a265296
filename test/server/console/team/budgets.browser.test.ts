/** How people see on a team's page how far its budgets are used. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeLedger } from "../../../../store/budgets/budget-ledger.ts";
import { openBrowser } from "../../../env/browser.ts";
import { checkPage, openWindow } from "../looked-at.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
let browser: Browser;

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await pages.close();
});

test("a bar shows how much of a budget is used, and a word how near its end is", async () => {
  const budgets = [
    { tokens: 10_000, period: "Total" },
    { tokens: 1_000, period: "Day", onExhausted: "Alert" },
  ];
  const { id } = (await pages.send("POST", "/teams", { name: "budgeted", spec: { budgets } })).body;
  const line = { period: "total", endsAt: Number.POSITIVE_INFINITY, turn: 1, held: 0, wanted: 0, most: 10_000 };
  await writeLedger(pages.store.db, "one", [{ ...line, budget: `team ${id} tokens Total`, spent: 8_200 }]);
  const look = { viewport: { width: 900, height: 900 } };
  const { page, context, complaints } = await openWindow(browser, pages, { cookie: pages.browser.cookie, look });
  await page.goto(`${pages.url}/dashboard/team/${id}`);
  const bar = page.getByRole("img", { name: "82 % of 10,000 tokens in all can be used no more" });
  const [room, used] = await Promise.all(["room", "used"].map((part) => bar.locator(`.${part}`).boundingBox()));
  expect((used?.width ?? 0) / (room?.width ?? 1)).toBeCloseTo(0.82, 2);
  expect(await page.getByText("80 % reached", { exact: true }).count()).toBe(1);
  await checkPage(page, "team-budgets");
  expect(complaints).toEqual([]);
  await context.close();
});
