/** What stands where: what people see at once of a page, and what a window of 1,280 pixels has room for. */
import { sql } from "kysely";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { openBrowser } from "../../env/browser.ts";
import { type FilledPaths, fillInstallation } from "./filled-installation.ts";
import { checkPage, Windows } from "./looked-at.ts";
import { type Pages, startPages } from "./pages.ts";

let pages: Pages;
let browser: Browser;
let paths: FilledPaths;
const windows = new Windows(() => ({ browser, pages }));

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  paths = await fillInstallation(pages);
});
afterAll(() => Promise.all([browser?.close(), pages?.close()]));

/** In the page: the places of what a selector finds. */
const placesOf = (selector: string) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    const { left, top, height, width } = range.getBoundingClientRect();
    return { left: Math.round(left), top: Math.round(top), height, width, said: one.innerText };
  })`;

type TextBox = { readonly left: number; readonly top: number; readonly height: number; readonly said: string };

test("what keys are bound to breaks between its names alone, where the list is a table", async () => {
  const page = await windows.open("/keys");
  const places = await page.evaluate<TextBox[]>(placesOf("#results td:nth-child(5)"));
  const lines = places.map(({ height, said }) => ({ said, lines: Math.round(height / 21) }));
  const broken = lines.filter(({ said, lines: shown }) => shown > said.split("\n").length);
  expect(broken.map(({ said }) => said)).toEqual(["Gateway models\nLibraries handbook, decisions"]);
});

test("the facts at the top of a key's page stand in one row", async () => {
  const page = await windows.open(paths.declared);
  const places = await page.evaluate<TextBox[]>(placesOf(".strip dt"));
  expect(places.map(({ said }) => said)).toContain("Next rotation");
  expect(new Set(places.map(({ top }) => top)).size).toBe(1);
});

test("figures stand beside the name that they are of, and the names below their heading", async () => {
  const page = await windows.open("/usage");
  const [name] = await page.evaluate<TextBox[]>(placesOf("[aria-label='Usage by key'] tbody th > a"));
  const [figure] = await page.evaluate<TextBox[]>(placesOf("[aria-label='Usage by key'] tbody td"));
  const [heading] = await page.evaluate<TextBox[]>(placesOf("h3:has(+ [aria-label='Usage by key'])"));
  expect([figure?.top, heading?.left]).toEqual([name?.top, name?.left]);
});

test("the address of a gateway is in the first window of its page", async () => {
  const page = await windows.open(paths.gateway);
  expect(await page.getByRole("heading", { name: "Base URLs" }).boundingBox()).toMatchObject({
    y: expect.toSatisfy((y: number) => y < 800),
  });
});

test("on a phone a gateway's page begins with what to call, and a button opens all sections of the console", async () => {
  const page = await windows.open(paths.gateway, { viewport: { width: 390, height: 844 } });
  const [urls, upstreams] = ["Base URLs", "Upstreams"].map((name) => page.getByRole("heading", { name }));
  expect((await urls?.boundingBox())?.y).toBeLessThan((await upstreams?.boundingBox())?.y ?? 0);
  expect(await page.getByRole("heading", { name: "Base URLs" }).boundingBox()).toMatchObject({
    y: expect.toSatisfy((y: number) => y < 500),
  });
  expect(await page.getByRole("link", { name: "Webhooks" }).count()).toBe(0);
  await page.getByRole("button", { name: "Menu" }).click();
  const edges = await page.evaluate<number[]>(
    "[...document.querySelectorAll('.side a')].map((link) => link.getBoundingClientRect().right)",
  );
  expect(edges.filter((edge) => edge > 390 || edge <= 0)).toEqual([]);
  await checkPage(page, "gateway-menu");
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
});

test("the account menu has who is signed in, the role, and the way out, without script", async () => {
  const page = await windows.open("/keys", { javaScriptEnabled: false });
  await page.locator(".account > summary").click();
  const said = await page.locator(".account").innerText();
  expect(said).toMatch(/Signed in as\s+Ann\s+Role\s+Administrator of this installation/);
  expect(await page.getByRole("button", { name: "Sign out" }).isVisible()).toBe(true);
});

test("on a phone the button of a short search stands beside its last field", async () => {
  const page = await windows.open("/usage", { viewport: { width: 390, height: 844 } });
  const bottoms = await page.evaluate<number[]>(
    "['#team', '.filters button'].map((one) => document.querySelector(one).getBoundingClientRect().bottom)",
  );
  expect(new Set(bottoms.map(Math.round)).size).toBe(1);
});

test("what an event of the audit log has changed has a third of the table", async () => {
  const page = await windows.open("/audit");
  const share = await page.evaluate<number>(
    "document.querySelector('td:last-child').offsetWidth / document.querySelector('table').offsetWidth",
  );
  expect(share).toBeGreaterThan(1 / 3);
  const actions = await page.evaluate<TextBox[]>(placesOf("td:nth-child(2) .badge"));
  const broken = actions.filter(({ height }) => height > 30).map(({ said }) => said);
  expect(new Set(broken)).toEqual(new Set(["Much of a team's budget used"]));
});

/** Runs in the page: where each letter of a text that stands within an element is, from left to right. */
const LETTERS = `(() => {
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
  await pages.send("POST", "/keys", { name: "docs", team: "payments", spec: { preset: "MCPReadOnly" } });
  await sql`update keys set display_name = ${"Docs \u202etoof"} where name = 'docs'`.execute(pages.store.db);
  const page = await windows.open("/keys?q=docs");
  const letters = await page.evaluate<number[]>(LETTERS);
  expect(letters).toHaveLength("payments".length);
  expect(letters).toEqual(letters.toSorted((a, b) => a - b));
});

test("a bar on a team's page shows how much of a budget is used, and a word how near its end is", async () => {
  const budgets = [
    { tokens: 10_000, period: "Total" },
    { tokens: 1_000, period: "Day", onExhausted: "Alert" },
  ];
  const { id } = (await pages.send("POST", "/teams", { name: "budgeted", spec: { budgets } })).body;
  const line = { period: "total", endsAt: Number.POSITIVE_INFINITY, revision: 1, held: 0, wanted: 0, most: 10_000 };
  await writeLedger(pages.store.db, "one", [{ ...line, budget: `team ${id} tokens Total`, spent: 8_200 }]);
  const page = await windows.open(`/team/${id}`, { viewport: { width: 900, height: 900 } });
  const bar = page.getByRole("meter", { name: "Budget in all" });
  const [room, used] = await Promise.all(["room", "used"].map((part) => bar.locator(`.${part}`).boundingBox()));
  expect((used?.width ?? 0) / (room?.width ?? 1)).toBeCloseTo(0.82, 2);
  expect(await page.getByText("80 % reached", { exact: true }).count()).toBe(1);
  await checkPage(page, "team-budgets");
  expect(windows.complaints).toEqual([]);
});
