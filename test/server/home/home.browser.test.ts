import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import { OPENAPI_TAGS, referencePath } from "../../../server/openapi/areas.ts";
import { openBrowser } from "../../env/browser.ts";
import { checkPage, EVERY_PAGE, WIDTHS } from "../console/looked-at.ts";
import { type Harness, startHarness } from "../harness.ts";

/** Of the reference's pages, which are of one kind, by day the one with most operations. */
const TAGS = OPENAPI_TAGS.filter(({ name }) => EVERY_PAGE || name === "Keys");
const PATHS = {
  landing: "/",
  docs: "/docs",
  ...Object.fromEntries(TAGS.map(({ name }) => [`docs-${name.toLowerCase()}`, referencePath(name)])),
};

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

test("The reference's navigation leads to each of its pages and their parts, and stays in view", async () => {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  const isInView = (selector: string) =>
    page.locator(selector).evaluate((element: { getBoundingClientRect(): { top: number } }) => {
      const { top } = element.getBoundingClientRect();
      return top >= 0 && top < 900;
    });
  await page.goto(`${harness.url}/docs`);
  const navigation = page.getByRole("navigation", { name: "API reference" });
  await navigation.getByRole("link", { name: "Keys", exact: true }).click();
  await page.waitForURL("**/docs/keys");
  const last = navigation.locator("ul ul a").last();
  await last.click();
  const anchor = new URL(page.url()).hash;
  expect(anchor).toMatch(/^#\w+ApiV1Keys/);
  expect([await isInView(anchor), await isInView(".contents > ul")]).toEqual([true, true]);
  await page.close();
});

test("A link to an operation of the page that had them all leads to its page in one step", async () => {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  await page.goto(`${harness.url}/docs#getAtomsSearch`);
  await page.locator(":target").click();
  expect(page.url()).toBe(`${harness.url}/docs/memory#getAtomsSearch`);
  expect(await page.locator(":target").innerText()).toContain("/atoms/search");
  await page.close();
});
