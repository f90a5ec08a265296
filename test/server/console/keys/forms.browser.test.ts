/** The forms of a key and what is in use of it, as people see them on a phone and on a screen. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOKEN_FIGURES, type TokenFigures } from "../../../../domain/usage/token-count.ts";
import { addRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../../store/keys/uses/token-counts.ts";
import { openBrowser } from "../../../env/browser.ts";
import { until } from "../../../env/until.ts";
import { unique } from "../../../store/fixtures.ts";
import { checkPage, Windows } from "../looked-at.ts";
import { type Pages, startPages } from "../pages.ts";

const WIDTHS = [390, 1_280];
/** As long as names may be, without a place to break at. */
const [WIDE, SHOWN_WIDE] = ["w".repeat(60), "W".repeat(100)];

let pages: Pages;
let browser: Browser;
const windows = new Windows(() => ({ browser, pages }));

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  for (const name of ["payments", WIDE]) {
    await pages.send("POST", "/teams", { name, spec: { members: [{ role: "admin", subject: "ada" }] } });
  }
  await pages.send("POST", "/libraries", { name: WIDE, team: WIDE, spec: {} });
});
afterAll(() => Promise.all([browser?.close(), pages?.close()]));

const manifestIn = (page: Page) => page.locator("#manifest").innerText();

async function expectNothingSpilt(page: Page): Promise<void> {
  const spilt = await page
    .locator(".panel, .notice, .head")
    .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map(({ innerText }) => innerText));
  expect(spilt).toEqual([]);
}

describe("The manifest beside the form", () => {
  test.for(WIDTHS)("follows what is typed, and has its faults at their fields, at %i pixels", async (width) => {
    const page = await windows.open("/keys/new", { viewport: { width, height: 900 } });
    const form = await page.locator("#create-key").boundingBox();
    const panel = await page.locator("#as-manifest").boundingBox();
    const isBeside = (panel?.x ?? 0) >= (form?.x ?? 0) + (form?.width ?? 0);
    expect(isBeside).toBe(width > 1_000);
    if (!isBeside) expect(panel?.y).toBeGreaterThanOrEqual((form?.y ?? 0) + (form?.height ?? 0));
    expect(await page.getByRole("button", { name: "Show as manifest" }).count()).toBe(0);
    expect(await page.locator(".notice:visible").count()).toBe(0);

    await page.getByLabel("Name", { exact: true }).fill("checkout");
    await page.getByLabel("Team").selectOption(WIDE);
    await page.getByLabel("Display name").fill(SHOWN_WIDE);
    await page.getByLabel("MCP default library").selectOption(WIDE);
    await page.getByLabel("Budget").selectOption("tokens");
    await page.getByLabel("Amount").fill("many");
    const fault = page.locator("#budgetAmount-error");
    await fault.waitFor();
    expect(await fault.innerText()).toContain("Amount: write a whole number of tokens");
    expect(await page.getByLabel("Amount").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("Amount").getAttribute("aria-describedby")).toContain("budgetAmount-error");
    expect(await page.getByRole("button", { name: "Copy YAML" }).count()).toBe(0);
    await checkPage(page, "forms-manifest-refused");
    await expectNothingSpilt(page);

    await page.getByLabel("Amount").fill("5000");
    await page.getByRole("button", { name: "Copy YAML" }).waitFor();
    expect(await fault.count()).toBe(0);
    expect(await page.getByLabel("Amount").getAttribute("aria-invalid")).toBe(null);
    expect(await page.getByLabel("Amount").inputValue()).toBe("5000");
    expect(await manifestIn(page)).toContain(`displayName: ${SHOWN_WIDE}`);
    expect(await manifestIn(page)).toContain("tokens: 5000");
    await checkPage(page, "forms-manifest");
    await expectNothingSpilt(page);
    expect(windows.complaints).toEqual([]);
  });

  test("without script comes by a button, which makes nothing, and is without a dead one", async () => {
    const page = await windows.open("/keys/new", { javaScriptEnabled: false, viewport: { width: 390, height: 900 } });
    const name = unique("by-button");
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByLabel("Team").selectOption("payments");
    await page.getByRole("button", { name: "Show as manifest" }).click();
    expect(await manifestIn(page)).toContain(`name: ${name}`);
    expect(await page.locator("button[data-copy]:visible").count()).toBe(0);
    expect((await pages.send("GET", `/keys?name=${name}`)).body.items).toEqual([]);
    await page.getByRole("button", { name: "Generate key" }).click();
    expect(await page.getByLabel("The key", { exact: true }).innerText()).toMatch(/^inf_/);
  });

  test("stays as it is where the session has ended, says so, and loses nothing that was typed", async () => {
    const page = await windows.open("/keys/new");
    await page.getByLabel("Name", { exact: true }).fill("kept");
    await until("the manifest has it", async () => (await manifestIn(page)).includes("name: kept"));
    await page.context().clearCookies();
    await page.getByLabel("Display name").fill("Still typed");
    await page.getByText("this is what you typed before").waitFor();
    expect(new URL(page.url()).pathname).toBe("/dashboard/keys/new");
    expect(await page.getByLabel("Display name").inputValue()).toBe("Still typed");
  });
});

describe("The form to edit a key", () => {
  test.for(WIDTHS)("shows and saves its budget and limits, at %i pixels", async (width) => {
    const budgets = [
      { tokens: 9_000, period: "Week" },
      { tokens: 90_000, period: "Total", onExhausted: "Alert" },
    ];
    const spec = { preset: "GatewayDefault", displayName: SHOWN_WIDE, budgets, rateLimit: { requestsPerMinute: 60 } };
    const { id } = (await pages.send("POST", "/keys", { name: unique("key"), team: "payments", spec })).body;
    const page = await windows.open(`/keys/${id}/edit`, { viewport: { width, height: 900 } });
    expect(await page.getByLabel("Amount").inputValue()).toBe("9,000");
    expect(await page.getByLabel("Requests a minute").inputValue()).toBe("60");
    await checkPage(page, "forms-edit");
    await expectNothingSpilt(page);
    await page.getByLabel("Amount").fill("12000");
    await page.getByLabel("Requests at once").fill("5");
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL(`**/keys/${id}`);
    expect((await pages.send("GET", `/keys/${id}`)).body.spec).toMatchObject({
      budgets: [{ tokens: 12_000 }, { tokens: 90_000 }],
      rateLimit: { requestsPerMinute: 60, burst: 5 },
    });
    expect(windows.complaints).toEqual([]);
  });
});

describe("The usage of a key", () => {
  test.for(WIDTHS)("is one section, at %i pixels", async (width) => {
    const spec = { preset: "GatewayDefault", displayName: SHOWN_WIDE };
    const { id } = (
      await pages.send("POST", "/keys", { name: `${WIDE}${unique("")}`.slice(0, 63), team: "payments", spec })
    ).body;
    await pages.send("POST", `/keys/${id}/versions`, { overlap: "24h" });
    const slot = Math.floor(Date.now() / 300_000) * 300_000;
    const scopes = ["gateway:generate", "gateway:embed", "memory:read", "memory:*"];
    await addRequestCounts(
      pages.store,
      scopes.map((scope, i) => ({ keyId: id, slot, scope, count: 40 * (i + 1) })),
      () => {},
    );
    const figures = Object.fromEntries(TOKEN_FIGURES.map((figure, i) => [figure, 12_345 * (i + 1)])) as TokenFigures;
    await addTokenCounts(
      pages.store,
      [{ keyId: id, slot, gatewayId: "gw", routeId: "", teamId: "t", model: "m".repeat(100), figures }],
      () => {},
    );
    const page = await windows.open(`/keys/${id}?tab=usage`, { viewport: { width, height: 900 } });
    const section = page.getByRole("region", { name: "Usage" });
    expect(await section.getByRole("img").count()).toBe(2);
    await checkPage(page, "forms-in-use");
    await section.getByText("By time").click();
    await expectNothingSpilt(page);
    await section.getByRole("link", { name: "Last 30 days" }).click();
    await checkPage(page, "forms-in-use-month");
    expect(windows.complaints).toEqual([]);
  });
});
