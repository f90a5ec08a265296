/** The pages in the states that matter: of an installation in use, of an empty one, and of a person in no team. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../env/browser.ts";
import { type FilledPaths, fillInstallation } from "./filled-installation.ts";
import { checkPage, EVERY_PAGE, openWindow, WIDTHS } from "./looked-at.ts";
import { type Pages, startPages } from "./pages.ts";

let filled: Pages;
let empty: Pages;
let browser: Browser;
let paths: FilledPaths;

beforeAll(async () => {
  [filled, empty, browser] = await Promise.all([startPages(), startPages(), openBrowser()]);
  paths = await fillInstallation(filled);
});
afterAll(() => Promise.all([browser?.close(), filled?.close(), empty?.close()]));

async function lookAt(
  { url }: Pages,
  cookie: string,
  named: Readonly<Record<string, string>>,
  width: (typeof WIDTHS)[number],
): Promise<void> {
  const look = { viewport: { width, height: 900 } };
  const { context, page } = await openWindow(browser, { url }, { cookie, look });
  for (const [name, path] of Object.entries(named)) {
    const answer = await page.goto(`${url}/dashboard${path}`);
    expect({ name, status: answer?.status() }).toEqual({ name, status: 200 });
    await checkPage(page, name);
  }
  await context.close();
}

/** What is said where there is nothing to show is, on a screen, between what other pages show there. */
const WIDTHS_OF_LITTLE = EVERY_PAGE ? WIDTHS : WIDTHS.slice(0, 1);

describe("Every page", () => {
  test.for(WIDTHS)("of an installation in use fits into a window of %i pixels", async (width) => {
    const { everything, declared, gateway, team, model } = paths;
    const named = {
      ...{ "filled-list": "/keys", "filled-list-suspended": "/keys?state=suspended" },
      ...{ "filled-key": everything, "filled-key-hour": `${everything}?usage=hour` },
      ...{ "filled-key-access": `${everything}?tab=access`, "filled-key-yaml": `${declared}?tab=yaml` },
      ...{ "filled-key-declared": declared, "filled-gateway": gateway },
      ...{ "filled-team": team, "filled-revoke": `${everything}/revoke`, "filled-rotate": `${everything}/rotate` },
      ...{ "filled-edit": `${everything}/edit`, "filled-create": "/keys/new" },
      ...{ "filled-now": "/now", "filled-usage": "/usage", "filled-usage-month": "/usage?usage=month" },
      ...{ "filled-usage-model": model, "filled-teams": "/team", "filled-refusals": "/refusals" },
      ...{ "filled-audit": "/audit", "filled-webhooks": "/webhooks" },
    };
    await lookAt(filled, filled.browser.cookie, named, width);
  });

  test.for(WIDTHS_OF_LITTLE)("of an empty installation fits into a window of %i pixels", async (width) => {
    const sections = ["keys", "libraries", "gateways", "team", "webhooks", "usage", "audit", "now"];
    const named = Object.fromEntries(sections.map((section) => [`none-${section}`, `/${section}`]));
    const all = { ...named, "none-create": "/keys/new", "none-find": "/keys/find" };
    await lookAt(empty, empty.browser.cookie, all, width);
  });

  test.for(WIDTHS_OF_LITTLE)("of a person in no team fits into a window of %i pixels", async (width) => {
    const { browser: of } = await filled.as("newcomer@example.com");
    await lookAt(filled, of.cookie, { "outsider-keys": "/keys", "outsider-team": "/team" }, width);
  });
});
