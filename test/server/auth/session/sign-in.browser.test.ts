/** What a browser alone enforces: its policy for forms, the Origin that it sends, and which cookies come along. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONSOLE } from "../../../../server/auth/session/return-to.ts";
import { sessionRoutes } from "../../../../server/auth/session/routes.ts";
import { consoleRoutes } from "../../../../server/console/routes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { openBrowser } from "../../../env/browser.ts";
import { openEmbedded } from "../../../env/database/embedded-database.ts";
import { checkPage, WIDTHS } from "../../console/looked-at.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { CLIENT_SECRET, startProvider, type TestProvider } from "./provider.ts";

let store: Store;
let folder: string;
let harness: Harness;
let browser: Browser;
let providers: readonly TestProvider[];

beforeAll(async () => {
  [store, browser] = await Promise.all([openEmbedded(), openBrowser()]);
  folder = await mkdtemp(join(tmpdir(), "keyplane-browser-"));
  const secretFile = join(folder, "secret");
  await writeFile(secretFile, CLIENT_SECRET);
  providers = [await startProvider(), await startProvider()];
  harness = await startHarness({
    mounts: [sessionRoutes, consoleRoutes].map((routes) => ({ at: CONSOLE, routes })),
    store,
    config: {
      oidc: { issuers: providers.map(({ url }) => url), audience: "keyplane", adminGroups: ["platform"] },
      consoleClients: providers.map(({ url, clientId }) => ({ issuer: url, clientId, secretFile })),
    },
  });
  harness.clock.set(Date.now());
  for (const provider of providers) provider.open(harness.url);
});
afterAll(async () => {
  await browser.close();
  await harness.close();
  for (const provider of providers) provider.close();
  await store.close();
  await rm(folder, { recursive: true });
});

/** Without the fonts that the provider's pages want from elsewhere. */
async function openPage(path: string, look: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(look);
  await page.route(/^https:/, (route) => route.abort());
  await page.goto(`${harness.url}${CONSOLE}${path}`);
  return page;
}

describe("Signing in, in a browser", () => {
  test("leads by a chosen issuer to the page that was asked for, and signing out to the issuer and back", async () => {
    const page = await openPage("/keys?state=active");
    await page.getByRole("link", { name: "Sign in with" }).last().click();
    await page.locator("[name=login]").fill("root");
    await page.locator("[name=password]").fill("x");
    await page.locator("[type=submit]").click();
    await page.waitForURL(`${harness.url}${CONSOLE}/keys?state=active`);
    await page.locator(".account > summary").click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${providers[1]?.url}/session/end?**`);
    await page.locator("[type=submit]").first().click();
    await page.waitForURL(`${harness.url}${CONSOLE}/sign-in`);
    await page.goto(`${harness.url}${CONSOLE}/keys`);
    expect(new URL(page.url()).pathname).toBe(`${CONSOLE}/sign-in`);
    await page.close();
  });
});

describe("Every page of signing in", () => {
  test.for(WIDTHS)("is accessible and fits into a window of %i pixels", async (width) => {
    const named = {
      "sign-in": "/sign-in",
      "sign-in-link-over": "/sign-in?link=over",
      "sign-in-failed": "/callback?code=x",
    };
    for (const [name, path] of Object.entries(named)) {
      const page = await openPage(path, { viewport: { width, height: 900 } });
      await checkPage(page, name);
      await page.close();
    }
  });
});
