import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_FIGURES } from "../../../../domain/usage/token-count.ts";
import { addRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../../store/keys/uses/token-counts.ts";
import { openBrowser } from "../../../env/browser.ts";
import { HOUR } from "../../../store/fixtures.ts";
import { checkPage, openWindow, WIDTHS } from "../looked-at.ts";
import { type Pages, startPages } from "../pages.ts";

const MODELS = ["gpt-5.1-mini-2026-08-07", "claude-sonnet-4-5-20250929", `${"x".repeat(120)}-model`];
let pages: Pages;
let browser: Browser;
const paths: Record<string, string> = {};

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  const { id: teamId } = (await pages.send("POST", "/teams", { name: "payments", spec: {} })).body;
  const now = Math.floor(Date.now() / HOUR) * HOUR;
  const times = [0, -1, -2, -3, -5, -8, -12, -20, -40, -60, -80, -100, -140].map((hours) => now + hours * HOUR);
  const upstreams = [{ name: "u", dialect: "openai", baseURL: "https://u.example", credential: "sk-credential" }];
  const gateway = { name: "g".repeat(63), team: "payments", spec: { upstreams, routes: [] } };
  const { id: gatewayId } = (await pages.send("POST", "/gateways", gateway)).body;
  for (const name of ["nightly-reports-of-all-subsidiaries", "w".repeat(63)]) {
    const key = (await pages.send("POST", "/keys", { name, team: "payments", spec: { preset: "MCPReadOnly" } })).body;
    paths.key = `/keys/${key.id}?tab=usage`;
    const counts = times.flatMap((slot, i) =>
      MODELS.map((model, j) => ({
        ...{ keyId: key.id, slot, gatewayId, routeId: "", model, teamId },
        figures: {
          ...NO_FIGURES,
          ...{ calls: 1_234 * (j + 1), cut: 3, unreported: 7, input: 1_234_567 * (i + 1), cached: 765_432 * (j + 1) },
          ...{ cache_write_5m: 123_456, output: 234_567 * (i + 1), reasoning: 87_654, tool_calls: 12 },
        },
      })),
    );
    await addTokenCounts(pages.store, counts, () => {});
    const requests = times.map((slot, i) => ({
      keyId: key.id,
      slot,
      scope: "gateway:generate",
      count: 12_345 * (i + 1),
    }));
    await addRequestCounts(pages.store, requests, () => {});
  }
  Object.assign(paths, { usage: "/usage", team: `/team/${teamId}`, gateway: `/gateways/${gatewayId}` });
  Object.assign(paths, { model: `/usage?model=${MODELS[2]}` });
});
afterAll(() => Promise.all([browser?.close(), pages?.close()]));

describe("Usage in a browser", () => {
  test.for(WIDTHS)("is accessible and fits into a window of %i pixels", async (width) => {
    const look = { viewport: { width, height: 900 } };
    const { context, page, complaints } = await openWindow(browser, pages, { cookie: pages.browser.cookie, look });
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(`${pages.url}/dashboard${path}`);
      await page.getByRole("link", { name: "Last 30 days" }).click();
      await page.getByText("By time").click();
      await checkPage(page, `usage-of-${name}`);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });
});
