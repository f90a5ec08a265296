/**
 * What a developer, an administrator of the installation and an auditor come to the console for. Each begins at the first
 * page and goes by the words that are to be seen, and is done where the page says what they wanted to know.
 */
import { text } from "node:stream/consumers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../env/browser.ts";
import { until } from "../../env/until.ts";
import { makeTeam, reserveKey } from "../../store/fixtures.ts";
import { startUpstream, type Upstream } from "../gateway/upstream.ts";
import { Windows } from "./looked-at.ts";
import { type Pages, startPages, type Visitor } from "./pages.ts";
import { followLink, goToSection, mainText } from "./steps.ts";

const DAY_MS = 24 * 3_600_000;
const ANSWER = {
  model: "small",
  choices: [],
  usage: { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 },
};

let browser: Browser;
let pages: Pages;
let upstream: Upstream;
let developer: Visitor;
let auditor: Visitor;
/** Secrets of keys, by their names. */
const secrets = new Map<string, string>();
const windows = new Windows(() => ({ browser, pages }));

beforeAll(async () => {
  [pages, browser, upstream] = await Promise.all([
    startPages(),
    openBrowser(),
    startUpstream((response) => response.end(JSON.stringify(ANSWER))),
  ]);
  const members = [
    { role: "member", subject: "mia" },
    { role: "viewer", subject: "vic" },
  ];
  await pages.send("POST", "/teams", { name: "payments", spec: { members } });
  const upstreams = [{ name: "primary", dialect: "openai", baseURL: upstream.url, credential: "sk-any" }];
  const models = { upstreams, routes: [], publicID: "payments-models" };
  await pages.send("POST", "/gateways", { name: "models", team: "payments", spec: models });
  const gateway = { preset: "GatewayDefault" };
  await makeKey("fraud-check", { ...gateway, allowedModels: ["small"] });
  await makeKey("checkout", { ...gateway, budgets: [{ tokens: 5_000, period: "Day" }] });
  await makeKey("reports", { preset: "MCPReadOnly", expiresAfter: "720h" });
  await makeKey("forgotten", { preset: "MCPReadOnly" });
  const created_at = new Date(Date.now() - 91 * DAY_MS);
  await pages.store.db.updateTable("keys").set({ created_at }).where("name", "=", "forgotten").execute();
  [developer, auditor] = [await pages.as("mia"), await pages.as("vic")];
});
afterAll(() => Promise.all([browser?.close(), pages?.close(), upstream?.close()]));

async function makeKey(name: string, spec: object): Promise<void> {
  const { status, body, text: said } = await pages.send("POST", "/keys", { name, team: "payments", spec });
  expect(status, said).toBe(201);
  secrets.set(name, body.secret);
}

/** The first page, as a person sees it who has signed in. */
const begin = (visitor: Visitor) => windows.open("", {}, visitor);

/** Opens a key's page by the list of keys. */
async function openKey(page: Page, name: string): Promise<void> {
  await page.getByLabel("Search").fill(name);
  await listed(page, 1);
  await followLink(page, name);
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

/** Waits until the list has so many keys, and says so. */
async function listed(page: Page, count: number): Promise<void> {
  await page.getByText(`${count} ${count === 1 ? "key" : "keys"} on this page, ${count} in all`).waitFor();
}

async function statusOf(baseUrl: string, secret = "", model = "small"): Promise<number> {
  const { status } = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, max_tokens: 100, messages: [] }),
  });
  return status;
}

const ofTeam = () => `${pages.url}/g/payments-models/v1`;

describe("A developer", () => {
  test("makes a key for an app without knowing presets, finds what to call, and calls a model with it", async () => {
    const page = await begin(developer);
    await followLink(page, "Create key");
    await page.getByLabel("Name", { exact: true }).fill("my-app");
    await page.getByRole("button", { name: "Generate key" }).click();
    const secret = await page.getByLabel("The key", { exact: true }).innerText();
    await followLink(page, "Gateways of the team");
    await followLink(page, "models");
    const [baseUrl = ""] = /http\S+\/v1/.exec(await mainText(page)) ?? [];
    expect(await statusOf(baseUrl, secret)).toBe(200);
  });

  test("reads why an app's calls are refused", async () => {
    expect(await statusOf(ofTeam(), secrets.get("fraud-check"), "large")).toBe(403);
    const page = await begin(developer);
    await openKey(page, "fraud-check");
    await until("the refusal is written", async () => {
      await page.reload();
      return (await mainText(page)).includes("Model not allowed");
    });
    expect(await mainText(page)).toContain("Request refused: model not allowed");
  });

  test("rotates a key that stays in use, and reads until when the old version works", async () => {
    expect(await statusOf(ofTeam(), secrets.get("checkout"))).toBe(200);
    const page = await begin(developer);
    await openKey(page, "checkout");
    await followLink(page, "Rotate");
    await page.getByRole("button", { name: "Rotate" }).click();
    const secret = await page.getByLabel("The key", { exact: true }).innerText();
    expect([await statusOf(ofTeam(), secret), await statusOf(ofTeam(), secrets.get("checkout"))]).toEqual([200, 200]);
    await followLink(page, "To the key's page");
    expect(await mainText(page)).toMatch(/Version 1 \(inf_\w+\) works until .* \(in 2\d hours\)/);
  });

  test("reads what is left of a budget, and when it resets", async () => {
    await statusOf(ofTeam(), secrets.get("checkout"));
    const page = await begin(developer);
    await openKey(page, "checkout");
    await until("a call is counted", async () => {
      await page.reload();
      return /\d+00 of 5,000 tokens a day \(UTC\)\s+\d+ % used, 4,\d00 left; resets /.test(await mainText(page));
    });
    await followLink(page, "the team's page");
    await page.getByRole("heading", { level: 1, name: "payments" }).waitFor();
  });
});

describe("An administrator of the installation", () => {
  test("finds a key by the whole of its secret, and ends it", async () => {
    await makeKey("pasted", { preset: "MCPReadOnly" });
    const secret = secrets.get("pasted") ?? "";
    const page = await begin(pages);
    await followLink(page, "Find by secret");
    await page.getByLabel("The whole key").fill(secret);
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("heading", { level: 1, name: "pasted" }).waitFor();
    expect(page.url()).not.toContain(secret.slice(0, 12));
    await followLink(page, "Revoke");
    await page.getByLabel("Name of the key").fill("pasted");
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Revoked everywhere.").waitFor();
    expect(await pages.tryKey(secret)).toBe(401);
  });

  test("lists the keys that are unused for 90 days, each with its team", async () => {
    const page = await begin(pages);
    await page.getByLabel("Only").selectOption({ label: "Unused for 90 days" });
    await listed(page, 1);
    expect(await page.locator("tbody").innerText()).toMatch(/forgotten\s+payments/);
  });

  test("reads what is wrong with the installation now", async () => {
    await makeKey("on-github", { preset: "MCPReadOnly" });
    await pages.send("POST", "/leaks", { leaks: [{ key: secrets.get("on-github") }] });
    const page = await begin(pages);
    await goToSection(page, "Health");
    expect(await page.getByRole("region", { name: "Leaked keys that work" }).innerText()).toContain("on-github");
    await followLink(page, "on-github");
    await page.getByText("Leaked. Version 1").waitFor();
  });

  test("reads by which commands a person's access ends", async () => {
    const page = await begin(pages);
    await goToSection(page, "Team");
    await page.getByRole("link", { name: "payments" }).first().click();
    expect(await mainText(page)).toContain("keyplane revoke-subject SUBJECT --team payments");
    expect(await mainText(page)).toContain("keyplane end-sessions SUBJECT");
  });
});

describe("An auditor, who is a viewer,", () => {
  test("reads who made keys in a range of time, and takes it along as a file", async () => {
    const page = await begin(auditor);
    await goToSection(page, "Audit log");
    const minute = (at: number) => new Date(at).toISOString().slice(0, 16);
    await page.getByLabel("Action").selectOption({ label: "Version minted (key.reserved)" });
    await page.getByLabel("From (UTC)").fill(minute(Date.now() - DAY_MS));
    await page.getByLabel("To (UTC)").fill(minute(Date.now() + DAY_MS));
    await page.waitForURL(/from=[^&]+&to=[^&]+/);
    await until("the range is shown", async () => /\d+ events on this page/.test(await mainText(page)));
    const shown = await page.locator("tbody tr").count();
    const [download] = await Promise.all([page.waitForEvent("download"), followLink(page, "Export as JSON Lines")]);
    const lines = (await text(await download.createReadStream())).trim().split("\n");
    expect(lines).toHaveLength(shown);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ action: "key.reserved", team: "payments" });
  });

  test("lists the keys that may call a model", async () => {
    const page = await begin(auditor);
    await page.getByText("More filters").click();
    await page.getByLabel("May call model").fill("large");
    await until(
      "those are left that may",
      async () => !(await page.locator("tbody").innerText()).includes("fraud-check"),
    );
    expect(await page.locator("tbody").innerText()).toContain("checkout");
  });

  test("lists the keys that never expire", async () => {
    const page = await begin(auditor);
    await page.getByLabel("Only").selectOption({ label: "Never expires" });
    await until(
      "those that end are left out",
      async () => !(await page.locator("tbody").innerText()).includes("reports"),
    );
    expect(await mainText(page)).toMatch(/\d+ keys on this page, \d+ in all/);
  });

  test("reads where a key is declared, or that it was made by hand", async () => {
    const members = [{ role: "viewer", kind: "subject", value: "vic" }] as const;
    const { name, namespace } = (await reserveKey(pages.store, await makeTeam(pages.store, { members: [...members] })))
      .key;
    const page = await begin(auditor);
    await page.getByLabel("Only").selectOption({ label: "Declared in a manifest" });
    await listed(page, 1);
    await followLink(page, name);
    expect(await mainText(page)).toMatch(new RegExp(`Declared in\\s+${namespace}/${name}`));
    await followLink(page, "YAML");
    expect(await mainText(page)).toContain(`This key is declared as PlatformKey ${namespace}/${name}`);
    await goToSection(page, "API keys");
    await openKey(page, "reports");
    expect(await mainText(page)).toMatch(/Declared in\s+Console or API/);
  });
});
