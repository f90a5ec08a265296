import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, expect } from "vitest";
import { crampedOf, faultsOf, takeCookie } from "../../env/browser.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import type { Pages, Visitor } from "./pages.ts";

/** Where pictures of the pages are put, for people to look at; without it none are taken. */
const PICTURES = process.env.KEYPLANE_SCREENSHOTS;

const THEMES = ["light", "dark"] as const;
/** A phone and a screen: what is hidden by a window's width is hidden on phones, so that one of these shows all there is. */
export const WIDTHS = [320, 1_280] as const;
/** No window of a phone is wider. */
const PHONE = 480;
/** Whether pages are looked at that another test has looked at with more in them. */
export const EVERY_PAGE = NIGHTLY || PICTURES !== undefined;
/** Where a page that was opened on a screen must have room at night, and has pictures. */
const OTHER_WIDTHS = EVERY_PAGE ? [390, 768, 900, 1_024, 1_120, 1_366, 1_420, 1_680] : [];

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

/** The windows of a file's tests. Each is closed after its test. */
export class Windows {
  readonly #opened: () => { readonly browser: Browser; readonly pages: Pages };
  readonly #contexts: BrowserContext[] = [];
  /** What the console of the window says that was opened last. */
  complaints: readonly string[] = [];

  /** @param opened read when a window is opened */
  constructor(opened: () => { readonly browser: Browser; readonly pages: Pages }) {
    this.#opened = opened;
    afterEach(async () => {
      await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
    });
  }

  /**
   * @param path below the console's own
   * @param visitor whose window it is, of another person who has signed in
   */
  async open(path: string, look: BrowserContextOptions = {}, visitor?: Pick<Visitor, "browser">): Promise<Page> {
    const { browser, pages } = this.#opened();
    const { cookie } = (visitor ?? pages).browser;
    const { context, page, complaints } = await openWindow(browser, pages, { cookie, look });
    this.#contexts.push(context);
    this.complaints = complaints;
    await page.goto(`${pages.url}/dashboard${path}`);
    return page;
  }
}

/**
 * Looks for what a page breaks of the rules of accessibility, in either theme, and for what has no room; and takes
 * pictures of it. On a phone its colours, which are those of the screen, are judged at night.
 *
 * @param name of the page: each picture has its theme and its width behind that
 */
export async function checkPage(page: Page, name: string): Promise<void> {
  const { width = 0, height = 900 } = page.viewportSize() ?? {};
  const rules = width < PHONE && !NIGHTLY ? "all but colours" : "all";
  expect({ name, faults: await faultsOf(page, rules) }).toEqual({ name, faults: [] });
  for (const other of [width, ...(width === WIDTHS[1] ? OTHER_WIDTHS : [])]) {
    if (other !== width) await page.setViewportSize({ width: other, height });
    await takePictures(page, name, other);
    expect({ name, width: other, cramped: await crampedOf(page) }).toEqual({ name, width: other, cramped: [] });
  }
  await page.setViewportSize({ width, height });
  expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
}

async function takePictures(page: Page, name: string, width: number): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    const path = join(PICTURES, `${name}-${colorScheme}-${width}.png`);
    // Colours that are on their way from one theme to the other are at their end.
    await page.screenshot({ path, fullPage: true, animations: "disabled" });
  }
  await page.emulateMedia({ colorScheme: null });
}
