import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PRODUCTS } from "../../../server/products.ts";
import { faultsOf, openBrowser } from "../../env/browser.ts";
import { type Harness, startHarness } from "../harness.ts";

/** Where pictures of the pages are put, for whoever wants to look at them; none are taken where it is not said. */
const PICTURES = process.env.KEYPLANE_SCREENSHOTS;
const PATHS = { landing: "/" };
const WIDTHS = [320, 390, 1_280] as const;

let harness: Harness;
let browser: Browser;
beforeAll(async () => {
  [harness, browser] = await Promise.all([startHarness({ mounts: PRODUCTS }), openBrowser()]);
});
afterAll(() => Promise.all([browser?.close(), harness?.close()]));

describe.each(["light", "dark"] as const)("Every page for everybody, %s", (colorScheme) => {
  test.for(WIDTHS)("is accessible, fits into a window of %i pixels, and complains of nothing", async (width) => {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    for (const [name, path] of Object.entries(PATHS)) {
      await page.goto(`${harness.url}${path}`);
      await judge(page, `${name}-${colorScheme}-${width}`);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });
});

async function judge(page: Page, name: string): Promise<void> {
  if (PICTURES !== undefined) {
    await mkdir(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  }
  expect({ name, faults: await faultsOf(page) }).toEqual({ name, faults: [] });
  expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
}
