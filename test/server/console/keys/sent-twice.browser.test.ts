import { setTimeout as delay } from "node:timers/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../../env/browser.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { until } from "../../../env/until.ts";
import { unique } from "../../../store/fixtures.ts";
import { openWindow } from "../looked-at.ts";
import { type Pages, startPages } from "../pages.ts";

/** Milliseconds from one press of the button to the next: a hand that trembles, and one that is impatient. */
const RHYTHMS = NIGHTLY ? [0, 30, 80, 120, 160, 300] : [30, 160];

let pages: Pages;
let browser: Browser;
const contexts: BrowserContext[] = [];

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  await pages.send("POST", "/teams", { name: "payments", spec: { members: [{ role: "admin", group: "g" }] } });
});
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
});
afterAll(() => Promise.all([browser?.close(), pages?.close()]));

type Version = { readonly number: number; readonly state: string; readonly retiresAt: string | null };

async function versionsOf(id: string): Promise<Version[]> {
  return (await pages.send("GET", `/keys/${id}`)).body.versions;
}

async function makeKey(): Promise<{ id: string; secret: string }> {
  const wanted = { name: unique("key"), team: "payments", spec: { preset: "MCPReadOnly" } };
  return (await pages.send("POST", "/keys", wanted)).body;
}

async function open(path: string, javaScriptEnabled: boolean): Promise<Page> {
  const { cookie } = pages.browser;
  const { context, page } = await openWindow(browser, pages, { cookie, look: { javaScriptEnabled } });
  contexts.push(context);
  await page.goto(`${pages.url}/dashboard${path}`);
  return page;
}

/** Presses a button twice, as a hand does: where the button was is where the second press goes. */
async function pressTwice(page: Page, name: string, between: () => Promise<unknown>): Promise<void> {
  const button = page.getByRole("button", { name });
  await button.scrollIntoViewIfNeeded();
  const box = await button.boundingBox();
  if (box === null) throw new Error(`there is no ${name} to be seen`);
  const press = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await press();
  await between();
  await press();
}

/** Counts what a page sends, and keeps the answer to the first of it under way for as long as is said. */
async function holdFirstAnswer(page: Page) {
  const answered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let sent = 0;
  await page.route("**/dashboard/keys/**", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    sent++;
    if (sent > 1) return route.continue();
    const response = await route.fetch();
    answered.resolve();
    await release.promise;
    // The browser may have turned to the second one.
    await route.fulfill({ response }).catch(() => {});
  });
  return { answered: answered.promise, release: release.resolve, sent: () => sent };
}

const shownIn = (page: Page) => page.locator("#secret").innerText();
const idIn = (page: Page) => page.locator("[data-shown-once]").getAttribute("data-shown-once");

describe.each([
  ["with script", true],
  ["without script", false],
] as const)("A button that is pressed twice, %s", (_, hasScript) => {
  test.for(RHYTHMS)("b116: %i ms apart, shows a new key that works, the only one that does", async (gap) => {
    const page = await open("/keys/new", hasScript);
    await page.getByLabel("Name", { exact: true }).fill(unique("twice"));
    await page.getByLabel("Preset").selectOption("MCPReadOnly");
    await pressTwice(page, "Generate key", () => delay(gap));
    expect(await pages.tryKey(await shownIn(page))).toBe(200);
    const [newest, ...others] = await versionsOf((await idIn(page))?.split("/").at(-1) ?? "");
    expect(newest?.state).toBe("active");
    expect(others.filter(({ state }) => state !== "retired")).toEqual([]);
  });

  test.for(RHYTHMS)("b116: %i ms apart, shows a version that works beside the one before it", async (gap) => {
    const { id, secret } = await makeKey();
    const page = await open(`/keys/${id}/rotate`, hasScript);
    await pressTwice(page, "Rotate", () => delay(gap));
    expect(await pages.tryKey(await shownIn(page))).toBe(200);
    expect(await pages.tryKey(secret)).toBe(200);
    const versions = await versionsOf(id);
    expect(versions.filter(({ state }) => state !== "retired").map(({ state }) => state)).toEqual([
      "active",
      "retiring",
    ]);
  });

  test("b116: while the first answer is under way, ends what it showed where it is sent again, and nothing else", async () => {
    const { id, secret } = await makeKey();
    const page = await open(`/keys/${id}/rotate`, hasScript);
    const held = await holdFirstAnswer(page);
    let before: Version[] = [];
    await pressTwice(page, "Rotate", async () => {
      await held.answered;
      before = await versionsOf(id);
    });
    if (hasScript) held.release();
    expect(await pages.tryKey(await shownIn(page))).toBe(200);
    expect(await pages.tryKey(secret)).toBe(200);
    held.release();
    const after = await versionsOf(id);
    expect(held.sent()).toBe(hasScript ? 1 : 2);
    expect(after.map(({ state }) => state)).toEqual(["active", ...(hasScript ? [] : ["retired"]), "retiring"]);
    expect(after.at(-1)).toEqual(before.at(-1));
    expect(await page.locator("main").innerText()).not.toContain("shown already");
    const says = /sent twice/.test(await page.locator("main").innerText());
    expect(says).toBe(!hasScript);
  });
});

test.for([
  ["with", true],
  ["without", false],
] as const)("a new key's page %s script shows the buttons that take one with it alone", async ([, hasScript]) => {
  const page = await open("/keys/new", hasScript);
  await page.getByLabel("Name", { exact: true }).fill(unique("files"));
  await page.getByLabel("Preset").selectOption("MCPReadOnly");
  await page.getByRole("button", { name: "Generate key" }).click();
  await shownIn(page);
  const files = page.locator("[data-download]");
  expect(await files.count()).toBe(3);
  for (const file of await files.all()) expect(await file.isVisible()).toBe(hasScript);
});

test("b116: a form cannot be sent while its answer is under way, and can where the browser shows the page again", async () => {
  const page = await open("/keys/new", true);
  const button = page.getByRole("button", { name: "Generate key" });
  /** Whether the page lets the form be sent. It is not: a browser would leave the page. */
  const maySend = () =>
    page.evaluate(
      "document.querySelector('form[action$=\"/new\"]').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))",
    );
  expect(await maySend()).toBe(true);
  expect(await maySend()).toBe(false);
  await until("the button cannot be pressed", () => button.isDisabled());
  expect(await page.locator("form[aria-busy=true]").count()).toBe(1);
  await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
  expect(await button.isEnabled()).toBe(true);
  expect(await maySend()).toBe(true);
});
