/**
 * More of what people come to the console for, as in `twelve-tasks.browser.test.ts`: each begins at the first page,
 * goes by the words that are to be seen, and is done where the page says what they wanted to know.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../env/browser.ts";
import { until } from "../../env/until.ts";
import { Windows } from "./looked-at.ts";
import { type Pages, startPages, type Visitor } from "./pages.ts";
import { followLink, goToSection, mainText } from "./steps.ts";

let browser: Browser;
let pages: Pages;
let developer: Visitor;
let auditor: Visitor;
const windows = new Windows(() => ({ browser, pages }));

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  const members = [
    { role: "member", subject: "mia" },
    { role: "viewer", subject: "vic" },
  ];
  await pages.send("POST", "/teams", { name: "payments", spec: { members } });
  const upstreams = [{ name: "primary", dialect: "openai", baseURL: "http://127.0.0.1:9", credential: "sk-any" }];
  await pages.send("POST", "/gateways", { name: "models", team: "payments", spec: { upstreams, routes: [] } });
  await pages.send("POST", "/libraries", { name: "handbook", team: "payments", spec: {} });
  const libraryAccess = { mode: "Restricted", libraryRefs: [{ name: "handbook" }] };
  await makeKey("reader", { preset: "MCPReadOnly", libraryAccess });
  const seldom = await makeKey("seldom", { preset: "MCPReadOnly", rateLimit: { requestsPerMinute: 1 } });
  await makeKey("old-model", { scopes: ["gateway:generate"], allowedModels: ["old"] });
  await makeKey("new-model", { scopes: ["gateway:generate"], allowedModels: ["new"], expiresAfter: "720h" });
  for (let i = 0; i < 3; i++) await pages.tryKey(seldom);
  [developer, auditor] = [await pages.as("mia", "Mia Wong"), await pages.as("vic")];
});
afterAll(() => Promise.all([browser?.close(), pages?.close()]));

async function makeKey(name: string, spec: object): Promise<string> {
  const { status, body, text: said } = await pages.send("POST", "/keys", { name, team: "payments", spec });
  expect(status, said).toBe(201);
  return body.secret;
}

/** The first page, as a person sees it who has signed in. */
const begin = (visitor: Visitor) => windows.open("", {}, visitor);

describe("A developer", () => {
  test("makes a key for one model and a week, and goes from its page to what it calls", async () => {
    const page = await begin(developer);
    await followLink(page, "Create key");
    await page.getByLabel("Name", { exact: true }).fill("load-test");
    await page.getByLabel("Gateway", { exact: true }).selectOption("models");
    await page.getByLabel("Models", { exact: true }).fill("small");
    await page.getByLabel("Lifetime").selectOption("7 days");
    await page.getByRole("button", { name: "Generate key" }).click();
    await followLink(page, "To the key's page");
    expect(await mainText(page)).toMatch(/in 6 days/);
    await followLink(page, "Access");
    expect(await mainText(page)).toMatch(/Models\s+small/);
    await followLink(page, "Overview");
    await followLink(page, "Gateway models");
    await page.getByRole("heading", { name: "Base URLs" }).waitFor();
  });
});

describe("An administrator", () => {
  test("sees who is being refused over all teams, why, and what ends it", async () => {
    const page = await begin(pages);
    await goToSection(page, "Denied requests");
    const words = /seldom\s+payments\s+Rate limited\s+Until .+ at the latest\s+There is room again within a minute/;
    await until("the refusal is written, within seconds", async () => {
      await page.reload();
      return words.test(await mainText(page));
    });
  });

  test("finds the keys that may use a gateway whose provider's key has leaked", async () => {
    const page = await begin(pages);
    await goToSection(page, "Gateways");
    await followLink(page, "models");
    await followLink(page, "Keys of the team");
    expect(await mainText(page)).toContain("old-model");
  });
});

describe("An auditor", () => {
  test("finds the keys that are bound to a library by the library's page", async () => {
    const page = await begin(auditor);
    await goToSection(page, "Libraries");
    await followLink(page, "handbook");
    await page.locator("main").getByRole("link", { name: "Keys", exact: true }).click();
    await page.getByText("1 key on this page, 1 in all").waitFor();
    expect(await mainText(page)).toContain("Library handbook");
  });

  test("reads who changed a key's scopes, by their name, and what they were before", async () => {
    const mia = await begin(developer);
    await followLink(mia, "new-model");
    await mia.getByText("More", { exact: true }).click();
    await followLink(mia, "Edit");
    await mia.getByLabel("gateway:embed").check();
    await mia.getByRole("button", { name: "Save" }).click();
    await mia.getByText("gateway:embed").first().waitFor();
    const page = await begin(auditor);
    await goToSection(page, "Audit log");
    await page.getByLabel("About").fill("new-model");
    await page.waitForURL(/about=new-model/);
    await page.getByText("became").first().waitFor({ state: "attached" });
    expect(await mainText(page)).toMatch(/Mia Wong[\s\S]*gateway:generate[\s\S]*gateway:generate, gateway:embed/);
  });
});
