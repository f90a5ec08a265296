import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../env/browser.ts";
import { until } from "../env/until.ts";
import { keyplane, makeHome, startUp, team, type Up } from "./up.ts";

const home = makeHome();
let up: Up;
let browser: Awaited<ReturnType<typeof openBrowser>>;

beforeAll(async () => {
  home.write("team.yaml", team("research", "dev", "prod"));
  [up, browser] = await Promise.all([startUp(home), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await up?.stop();
  home.remove();
});

test("A key that was made in the console is exported, applied in the folder of manifests, and shown as managed: the same key", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto((await keyplane(["console", "--data", home.data])).out.trim());
  await page.getByRole("link", { name: "Create key" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("by-hand");
  await page.getByRole("button", { name: "Generate key" }).click();
  const secret = await page.getByLabel("The key", { exact: true }).innerText();
  await page.getByRole("link", { name: "To the key's page" }).click();
  const keyPage = page.url();

  await page.getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: "Export as manifest" }).click();
  await page.getByLabel("Namespace").selectOption("prod");
  await page.getByRole("button", { name: "Choose" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download" }).click(),
  ]);
  const manifest = readFileSync(await download.path(), "utf8");
  expect(manifest.trim()).toBe((await page.getByLabel("The manifest").innerText()).trim());
  expect(manifest).not.toContain(secret);

  home.write(download.suggestedFilename(), manifest);
  await until("the key is taken over", async () => {
    await page.goto(`${keyPage}?tab=yaml`);
    return (await page.getByRole("heading", { name: "Managed" }).count()) === 1;
  });
  await page.goto(keyPage);
  expect(await page.getByRole("region", { name: "Details" }).innerText()).toContain("prod/by-hand");
  await page.getByText("Taken over by PlatformKey prod/by-hand").waitFor();
  expect(await page.getByRole("link", { name: "Edit" }).count()).toBe(0);
  await up.waitFor("prod", "by-hand", "Ready");
  expect(keyPage.endsWith(up.statusOf("prod", "by-hand").keyID)).toBe(true);
  expect(await up.call(secret)).toBe(200);
  await context.close();
});
