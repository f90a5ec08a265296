import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { products } from "../../../server/products.ts";
import { openBrowser } from "../../env/browser.ts";
import { checkPage, WIDTHS } from "../console/looked-at.ts";
import { type Harness, startHarness } from "../harness.ts";

const PATHS = { landing: "/", docs: "/docs" };

let harness: Harness;
let browser: Browser;
beforeAll(async () => {
  [harness, browser] = await Promise.all([startHarness({ mounts: products() }), openBrowser()]);
});
afterAll(() => Promise.all([browser?.close(), harness?.close()]));

describe("Every page for everybody", () => {
  test.for(WIDTHS)("is accessible, %i pixels wide, and complains of nothing", async (width) => {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    for (const [name, path] of Object.entries(PATHS)) {
      await page.goto(`${harness.url}${path}`);
      await checkPage(page, name);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });
});

test("The reference's navigation leads to each of its parts, and stays in view", async () => {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  await page.goto(`${harness.url}/docs`);
  const links = await page.getByRole("navigation", { name: "On this page" }).getByRole("link").all();
  expect(links.length).toBeGreaterThan(40);
  const last = page.getByRole("link", { name: "Schemas" });
  await last.click();
  expect(page.url()).toMatch(/#schemas$/);
  const isInView = (selector: string) =>
    page.locator(selector).evaluate((element: { getBoundingClientRect(): { top: number } }) => {
      const { top } = element.getBoundingClientRect();
      return top >= 0 && top < 900;
    });
  expect([await isInView("#schemas"), await isInView(".contents > ul")]).toEqual([true, true]);
  await page.close();
});
