import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { faultsOf, takeCookie } from "../../env/browser.ts";

/** Where pictures of the pages are put, for people to look at; without it none are taken. */
const PICTURES = process.env.KEYPLANE_SCREENSHOTS;

export const THEMES = ["light", "dark"] as const;
/** A phone, half a screen, and a screen. */
export const WIDTHS = [320, 900, 1_280] as const;

type Server = { readonly url: string };
type Visit = { readonly cookie: string; readonly look?: BrowserContextOptions };

/** A window of its own for a person who is signed in by a cookie; its console's complaints are kept. The caller closes it. */
export async function openWindow(
  browser: Browser,
  { url }: Server,
  { cookie, look = {} }: Visit,
): Promise<{ context: BrowserContext; page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...look });
  await takeCookie(context, url, cookie);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  return { context, page, complaints };
}

/** Takes a picture of a page, and looks for what it breaks of the rules of accessibility and of its window's width. */
export async function checkPage(page: Page, name: string): Promise<void> {
  if (PICTURES !== undefined) {
    await mkdir(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  }
  expect({ name, faults: await faultsOf(page) }).toEqual({ name, faults: [] });
  expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
}
