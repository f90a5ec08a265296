import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { openBrowser } from "../../../env/browser.ts";
import { until } from "../../../env/until.ts";
import { makeTeam, reserveKey, unique } from "../../../store/fixtures.ts";
import { checkPage, Windows } from "../looked-at.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
let browser: Browser;
let team: Awaited<ReturnType<typeof makeTeam>>;
const windows = new Windows(() => ({ browser, pages }));

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  team = await makeTeam(pages.store, { name: "payments" });
});
afterAll(() => Promise.all([browser?.close(), pages?.close()]));

type Made = { readonly id: string; readonly name: string; readonly secret: string };

async function makeKeys(stem: string, displayNames: readonly string[]): Promise<Made[]> {
  const made: Made[] = [];
  for (const displayName of displayNames) {
    const wanted = { name: unique(stem), team: team.teamId, spec: { preset: "MCPReadOnly", displayName } };
    made.push((await pages.send("POST", "/keys", wanted)).body);
  }
  return made;
}

async function stateOf({ id }: Made): Promise<string> {
  return (await pages.send("GET", `/keys/${id}`)).body.state;
}

const selected = (page: Page, { name }: { readonly name: string }) =>
  page.getByLabel(`Select ${name}`, { exact: true });

describe("Selected keys in a browser", () => {
  test.for([true, false])("are exported, and the list stays as it is, with script: %s", async (javaScriptEnabled) => {
    const stem = unique("exported");
    const [one, two] = await makeKeys(stem, ["One", "Two"]);
    if (one === undefined || two === undefined) return expect.fail("no keys");
    const page = await windows.open(`/keys?q=${stem}&order=newest`, { javaScriptEnabled });
    const address = page.url();
    await selected(page, one).check();
    for (const [button, holds] of [
      ["Export CSV", `${one.name},One,payments`],
      ["Export YAML", `name: ${one.name}\n`],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: button }).click(),
      ]);
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      expect(text).toContain(holds);
      expect(text).not.toContain(two.name);
      expect([page.url(), await selected(page, one).isChecked()]).toEqual([address, true]);
    }
    expect(windows.complaints).toEqual([]);
  });

  test.for([true, false])("are revoked once their number is typed, with script: %s", async (javaScriptEnabled) => {
    const stem = unique("revoked");
    const keys = await makeKeys(stem, ["One", "Two", "Three"]);
    const [one, two, three] = keys;
    if (one === undefined || two === undefined || three === undefined) return expect.fail("no keys");
    const page = await windows.open(`/keys?q=${stem}&state=active`, { javaScriptEnabled });
    const address = page.url();
    for (const key of [one, two]) await selected(page, key).check();
    const revoke = page.getByRole("button", { name: "Revoke", exact: true });
    await revoke.click();
    await page.getByRole("link", { name: "Cancel" }).click();
    expect(page.url()).toBe(address);
    for (const key of [one, two]) await selected(page, key).check();
    await revoke.click();
    await page.getByLabel("Confirmation").fill("revoke 3 keys");
    await page.getByRole("button", { name: "Revoke 2 keys" }).click();
    expect(await page.getByRole("alert").innerText()).toContain("Nothing was changed.");
    expect(await Promise.all(keys.map(stateOf))).toEqual(["active", "active", "active"]);
    await page.getByLabel("Confirmation").fill("revoke 2 keys");
    await page.getByRole("button", { name: "Revoke 2 keys" }).click();
    await page.getByRole("heading", { name: "2 keys revoked" }).waitFor();
    expect(await Promise.all(keys.map(stateOf))).toEqual(["revoked", "revoked", "active"]);
    await page.getByRole("link", { name: "Back to the list" }).click();
    expect(page.url()).toBe(address);
    expect(await page.locator("tbody tr").count()).toBe(1);
    expect(windows.complaints.filter((text) => !text.includes("422"))).toEqual([]);
  });

  test("are counted, all of a page at once, and none of those that a search has taken from it", async () => {
    const stem = unique("counted");
    const [one] = await makeKeys(stem, ["One", "Two", "Three"]);
    const page = await windows.open(`/keys?q=${stem}`);
    const said = page.locator("[data-selected]");
    expect(await said.isVisible()).toBe(false);
    await page.locator("#selection [type=checkbox]").first().check();
    expect(await said.innerText()).toBe("1 of 3 selected");
    await page.getByRole("button", { name: "Select all on this page" }).click();
    expect(await said.innerText()).toBe("3 of 3 selected");
    await page.getByRole("button", { name: "Select none" }).click();
    expect(await said.isVisible()).toBe(false);
    await page.locator("#selection [type=checkbox]").first().check();
    await page.getByRole("button", { name: "Select all on this page" }).click();
    await page.getByLabel("Search").fill(one?.name ?? "");
    await until("one key is left", async () => (await page.locator("tbody tr").count()) === 1);
    expect(await said.isVisible()).toBe(false);
    await page.locator("#selection [type=checkbox]").first().check();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByRole("heading", { name: "Revoke 1 key" }).waitFor();
    expect(await page.getByRole("link", { name: "Cancel" }).getAttribute("href")).toContain(`q=${one?.name}`);
    expect(windows.complaints).toEqual([]);
  });
});

const goneKey = `key_${"a".repeat(20)}`;

describe("Every page of selected keys", () => {
  test.for([390, 1_280])("are accessible and fit into a window of %i pixels", async (width) => {
    const stem = unique("looked-at");
    const keys = await makeKeys(stem, ["Checkout assistant", "W".repeat(60), "Nightly reports", "Spare", "Old"]);
    const [first, second, , , last] = keys;
    if (first === undefined || second === undefined || last === undefined) return expect.fail("no keys");
    await pages.send("POST", `/keys/${last.id}/revoke`, {});
    for (const { secret } of [first, second]) await pages.tryKey(secret);
    const slots = Array.from({ length: 60 }, (_, i) => Math.floor(Date.now() / 300_000 - i) * 300_000);
    const counts = slots.map((slot) => ({ keyId: first.id, slot, scope: "memory:read", count: 41 }));
    await addRequestCounts(pages.store, counts, () => {});
    const declared = (await reserveKey(pages.store, team)).key;
    await until("both uses are written", async () => {
      const { text } = await pages.get(`/keys/revoke?${new URLSearchParams(keys.map(({ id }) => ["keyId", id]))}`);
      return text.match(/of late from/g)?.length === 2;
    });
    const page = await windows.open(`/keys?q=${stem}`, { viewport: { width, height: 900 } });
    const picture = (name: string) => checkPage(page, `bulk-${name}`);
    await picture("list");
    await page.locator("#selection [type=checkbox]").first().check();
    await page.getByRole("button", { name: "Select all on this page" }).click();
    await picture("selected");
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.goto(`${page.url()}&keyId=${declared.id}`);
    await picture("confirm");
    await page.getByLabel("Confirmation").fill("revoke them");
    await page.getByRole("button", { name: "Revoke 4 keys" }).click();
    await picture("refused");
    await page.getByLabel("Confirmation").fill("revoke 4 keys");
    await page.locator("form.panel").evaluate((form, id) => {
      form.setAttribute("action", `${form.getAttribute("action")}&keyId=${id}`);
    }, goneKey);
    await page.getByLabel("Confirmation").fill("revoke 5 keys");
    await page.getByRole("button", { name: "Revoke 4 keys" }).click();
    await page.getByRole("heading", { name: "4 keys revoked" }).waitFor();
    await picture("done");
  });
});
