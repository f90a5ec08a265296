import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOKEN_FIGURES, type TokenFigures } from "../../../../domain/usage/token-count.ts";
import { addRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../../store/keys/uses/token-counts.ts";
import { openBrowser } from "../../../env/browser.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { until } from "../../../env/until.ts";
import { makeTeam, reserveKey, unique } from "../../../store/fixtures.ts";
import { checkPage, EVERY_PAGE, WIDTHS, Windows } from "../looked-at.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
let browser: Browser;
const windows = new Windows(() => ({ browser, pages }));

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  await pages.send("POST", "/teams", { name: "payments", spec: { members: [{ role: "admin", group: "g" }] } });
  for (const name of ["handbook", "incidents"])
    await pages.send("POST", "/libraries", { name, team: "payments", spec: {} });
  const upstreams = [{ name: "u", dialect: "openai", baseURL: "http://127.0.0.1:1", credential: "c" }];
  await pages.send("POST", "/gateways", { name: "models", team: "payments", spec: { upstreams, routes: [] } });
});
afterAll(() => Promise.all([browser?.close(), pages?.close()]));

async function makeKey(
  spec: object = { preset: "MCPReadOnly" },
  more: object = {},
): Promise<{ id: string; name: string; prefix: string }> {
  return (await pages.send("POST", "/keys", { name: unique("key"), team: "payments", spec, ...more })).body;
}

/** Requests of a day, as a team's working day has them. */
async function countRequests(keyId: string): Promise<void> {
  const scopes = ["gateway:generate", "gateway:embed", "gateway:routes", "memory:read", "memory:*"];
  const slots = Array.from({ length: 24 * 12 }, (_, i) => Math.floor(Date.now() / 300_000 - i) * 300_000);
  const counts = slots.flatMap((slot, i) =>
    scopes.map((scope, j) => ({ keyId, slot, scope, count: Math.round((120 / (j + 1)) * (1 + Math.sin(i / 40 + j))) })),
  );
  await addRequestCounts(pages.store, counts, () => {});
}

/** Answers of two models within the last five minutes. */
async function countTokens(keyId: string): Promise<void> {
  const slot = Math.floor(Date.now() / 300_000) * 300_000;
  const figures = Object.fromEntries(TOKEN_FIGURES.map((figure, i) => [figure, 12_345_678 * (i + 1)])) as TokenFigures;
  const of = { keyId, slot, gatewayId: "gw_a", routeId: "", teamId: "team", figures };
  const models = ["gpt-5.1-mini-2026-08-07", "claude-sonnet-4-5-20250929"].map((model) => ({ ...of, model }));
  await addTokenCounts(pages.store, models, () => {});
}

async function generate(page: Page, name: string): Promise<string> {
  await page.getByLabel("Team", { exact: true }).selectOption("payments");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Generate key" }).click();
  return page.getByLabel("The key", { exact: true }).innerText();
}

describe("On a phone", () => {
  const PHONES = NIGHTLY ? [320, 390] : [320];
  /** As long as a name may be, and no place to break at. */
  const WIDE = "w".repeat(60);
  const SHOWN_WIDE = "W".repeat(100);

  test.for(PHONES)("the actions of a key begin where the lines do, in a window of %i pixels", async (width) => {
    const { id } = await makeKey();
    const page = await windows.open(`/keys/${id}`, { viewport: { width, height: 900 } });
    const left = async (name: string) => (await page.getByRole("link", { name }).boundingBox())?.x;
    const [rotate, revoke] = [await left("Rotate"), await left("Revoke")];
    const line = await page.getByRole("heading", { level: 1 }).boundingBox();
    expect(rotate).toBe(line?.x);
    const isBelow = ((await page.getByRole("link", { name: "Revoke" }).boundingBox())?.y ?? 0) > (line?.y ?? 0) + 120;
    if (isBelow) expect(revoke).toBe(rotate);
    await checkPage(page, `key-actions`);
  });

  test.for(PHONES)("names of a hundred letters break no page, in a window of %i pixels", async (width) => {
    const members = [{ role: "admin", group: "g" }];
    await pages.send("POST", "/teams", { name: WIDE, spec: { displayName: SHOWN_WIDE, members } });
    await pages.send("POST", "/libraries", { name: WIDE, team: WIDE, spec: {} });
    const spec = {
      ...{ preset: "MCPReadOnly", displayName: SHOWN_WIDE, expiresAfter: "72h" },
      mcpDefaultLibraryRef: { name: WIDE },
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: WIDE }] },
    };
    const made = await pages.send("POST", "/keys", { name: `${WIDE}${width}`, team: WIDE, spec });
    expect(made.status, made.text).toBe(201);
    const { id } = made.body;
    await pages.send("POST", `/keys/${id}/versions`, { overlap: "24h" });
    const page = await windows.open("/keys", { viewport: { width, height: 900 } });
    for (const path of [`?team=${WIDE}`, `/${id}`, `/${id}/revoke`, `/${id}/rotate`, `/${id}/edit`, "/new"]) {
      await page.goto(`${pages.url}/dashboard/keys${path}`);
      await checkPage(page, `wide-${path.split("/").at(-1)?.slice(0, 6)}`);
      const spilt = await page
        .locator(".panel, .notice, .head")
        .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map(({ innerText }) => innerText));
      expect({ path, spilt }).toEqual({ path, spilt: [] });
    }
  });
});

describe("The list in a browser", () => {
  test("is searched as one types, without a button", async () => {
    const wanted = await makeKey();
    const page = await windows.open("/keys");
    await page.getByLabel("Search").pressSequentially(wanted.name);
    await until("one key is left", async () => (await page.locator("tbody tr").count()) === 1);
    expect(await page.locator("tbody tr").innerText()).toContain(wanted.prefix);
    await until("the address says so", () => page.url().includes(`q=${wanted.name}`));
    expect(windows.complaints).toEqual([]);
  });

  test("keeps all but the prefix of a key that is pasted into the search", async () => {
    const page = await windows.open("/keys/new");
    const secret = await generate(page, unique("pasted"));
    await page.goto(`${pages.url}/dashboard/keys`);
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    const broken = `${secret.slice(0, 9)}\n  ${secret.slice(9)}`;
    for (const pasted of [secret, `OPENAI_API_KEY="${secret}"`, broken]) {
      await page.getByLabel("Search").fill(pasted);
      await page.getByRole("button", { name: "Search" }).click();
      await page.locator("tbody tr").first().waitFor();
      expect(await page.getByLabel("Search").inputValue()).toBe(secret.slice(0, 12));
      expect(sent.join(" "), "b187, b216: however it was pasted").not.toContain(secret.slice(12, 24));
      await page.goto(`${pages.url}/dashboard/keys`);
    }
  });

  test("works without script: the search, the pages and the way from a prefix to its key", async () => {
    const { prefix, name } = await makeKey();
    const page = await windows.open("/keys", { javaScriptEnabled: false });
    await page.getByLabel("Search").fill(prefix);
    await page.getByRole("button", { name: "Search" }).click();
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(name);
  });
});

describe("Making a key in a browser", () => {
  test("shows libraries with a scope of the memory alone, and a gateway with one of the gateway", async () => {
    const page = await windows.open("/keys/new");
    const isShown = async () => [
      await page.getByLabel("Library access").isVisible(),
      await page.getByLabel("MCP default library").isVisible(),
      await page.getByLabel("Gateway", { exact: true }).isVisible(),
      await page.getByRole("group", { name: "Scopes" }).isVisible(),
    ];
    expect(await isShown()).toEqual([true, true, true, false]);
    await page.getByLabel("Preset").selectOption("MCPReadOnly");
    expect(await isShown()).toEqual([true, true, false, false]);
    await page.getByLabel("Preset").selectOption({ label: "Scopes of its own" });
    expect(await isShown()).toEqual([false, false, false, true]);
    await page.getByLabel("gateway:embed").check();
    expect(await isShown()).toEqual([false, false, true, true]);
  });

  test.for([true, false])(
    "asks for a date, and for a budget, once one is wanted, with script: %s",
    async (javaScriptEnabled) => {
      const page = await windows.open("/keys/new", { javaScriptEnabled, viewport: { width: 320, height: 900 } });
      const labels = ["Expires", "Amount", "Currency", "Resets"];
      const shown = async () => {
        const seen = await Promise.all(labels.map((label) => page.getByLabel(label, { exact: true }).isVisible()));
        return labels.filter((_, i) => seen[i]);
      };
      expect(await shown()).toEqual([]);
      await page.getByLabel("Lifetime").selectOption("date");
      await page.getByLabel("Budget").selectOption("tokens");
      expect(await shown()).toEqual(["Expires", "Amount", "Resets"]);
      await page.getByLabel("Budget").selectOption("cost");
      expect(await shown()).toEqual(labels);
      await page.getByLabel("Name", { exact: true }).fill(unique("budget"));
      await page.getByLabel("Team", { exact: true }).selectOption("payments");
      await page.getByLabel("Amount").fill("a lot");
      await page.getByRole("button", { name: "Generate key" }).click();
      expect(await page.getByRole("alert").innerText()).toContain("Amount: write what the calls may cost");
      expect(await shown()).toEqual(labels);
      if (javaScriptEnabled) await checkPage(page, "create-budget-refused");
      await page.getByLabel("Lifetime").selectOption("7d");
      await page.getByLabel("Amount").fill("12.50");
      await page.getByLabel("Currency").fill("USD");
      await page.getByRole("button", { name: "Generate key" }).click();
      await page.getByRole("link", { name: "To the key's page" }).click();
      expect(await page.getByRole("main").innerText()).toMatch(/\$0\.00 of \$12\.50/);
      expect(windows.complaints.filter((text) => !text.includes("422"))).toEqual([]);
    },
  );

  test("leaves nothing of the key in the page, the history or an address once it is left", async () => {
    const page = await windows.open("/keys/new");
    const secret = await generate(page, unique("left"));
    expect(await pages.tryKey(secret)).toBe(200);
    expect(page.url()).toMatch(/\/dashboard\/keys\/key_\w+$/);
    const keyPage = page.url();
    await page.getByRole("link", { name: "To the key's page" }).click();
    await page.goBack();
    expect(await page.content()).not.toContain(secret);
    await page.goto(keyPage);
    await page.reload();
    expect(await page.content()).not.toContain(secret);
    expect(windows.complaints).toEqual([]);
  });

  test.for([
    ["Secret manifest", ".yaml", "kind: Secret"],
    ["Dotenv", ".env", "KEYPLANE_API_KEY="],
    ["mcp.json", "mcp.json", '"mcpServers"'],
  ] as const)("downloads it as %s, made of what the page holds", async ([title, ending, content]) => {
    const page = await windows.open("/keys/new");
    const secret = await generate(page, unique("download"));
    const sent: string[] = [];
    page.on("request", (request) => {
      // The browser asks for a page's icon when it has time.
      const isIcon = request.url().includes("/assets/icon-");
      if (request.url().startsWith("http") && !isIcon) sent.push(request.url());
    });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: title }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    expect(download.suggestedFilename().endsWith(ending)).toBe(true);
    expect(text).toContain(content);
    expect(text).toContain(secret);
    expect(text).not.toContain("KEY-IS-PUT-HERE");
    expect(sent).toEqual([]);
  });

  test("by the keyboard alone, from the list to the key", async () => {
    const page = await windows.open("/keys");
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").innerText()).toBe("Skip to content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").innerText()).toBe("Create key");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Create key" }).waitFor();
    const name = page.getByLabel("Name", { exact: true });
    while ((await name.and(page.locator(":focus")).count()) === 0) await page.keyboard.press("Tab");
    await page.keyboard.type(unique("typed"));
    await page.keyboard.press("Tab");
    await page.keyboard.type("payments");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.getByLabel("The key", { exact: true }).innerText()).toMatch(/^inf_\w{57}$/);
  });
});

describe("Revoking a key in a browser", () => {
  test("takes three steps and its name from a prefix in a log, and shows the receipt", async () => {
    const { prefix, name } = await makeKey();
    const page = await windows.open("/keys");
    await page.getByLabel("Search").fill(prefix);
    await until("one key is left", async () => (await page.locator("tbody tr").count()) === 1);
    await page.locator("tbody a").first().click();
    await page.getByRole("link", { name: "Revoke" }).click();
    await page.getByLabel("Name of the key").fill(name);
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Revoked everywhere.").waitFor();
    expect(windows.complaints).toEqual([]);
  });

  test.for([true, false])("ends no key by another's name, with script: %s", async (javaScriptEnabled) => {
    const { id, name } = await makeKey();
    const page = await windows.open(`/keys/${id}/revoke`, { javaScriptEnabled });
    const typed = page.getByLabel("Name of the key");
    await page.getByLabel("Reason").fill("seen in a log");
    await typed.fill("another-key");
    await page.getByRole("button", { name: "Revoke" }).click();
    expect(await page.getByRole("alert").innerText()).toContain("Nothing was changed.");
    expect(await typed.getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("Reason").inputValue()).toBe("seen in a log");
    if (javaScriptEnabled) await checkPage(page, "revoke-refused");
    expect((await pages.send("GET", `/keys/${id}`)).body.state).toBe("active");
    await typed.fill(name);
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.waitForURL(`**/keys/${id}`);
    expect((await pages.send("GET", `/keys/${id}`)).body.state).toBe("revoked");
  });
});

describe("Every page of keys", () => {
  test.for(WIDTHS)("is accessible and fits into a window of %i pixels", async (width) => {
    const key = await makeKey({ preset: "GatewayDefault", gatewayRef: { name: "models" }, expiresAfter: "72h" });
    await pages.send("POST", `/keys/${key.id}/versions`, { overlap: "24h" });
    await countRequests(key.id);
    await countTokens(key.id);
    const revoked = await makeKey();
    await pages.send("POST", `/keys/${revoked.id}/revoke`, { reason: "in a public repository" });
    const suspended = await makeKey({ preset: "MCPReadOnly", state: "Suspended" });
    const declared = (await reserveKey(pages.store, await makeTeam(pages.store))).key;
    const home = await makeTeam(pages.store, { namespaces: [unique("dev"), unique("prod")] });
    const exportable = await makeKey({ preset: "GatewayDefault", expiresAfter: "720h" }, { team: home.teamId });
    const managedBy = "urn:pulumi:prod::billing::keyplane:index:PlatformKey::nightly-reports";
    const ofPulumi = await makeKey(undefined, { managedBy });
    // By day states.browser.test.ts looks at these with more in them.
    const elsewhere = {
      ...{ list: "/keys", create: "/keys/new", key: `/keys/${key.id}`, "key-declared": `/keys/${declared.id}` },
      ...{ revoke: `/keys/${key.id}/revoke`, rotate: `/keys/${key.id}/rotate`, edit: `/keys/${key.id}/edit` },
    };
    const paths = {
      ...(EVERY_PAGE ? elsewhere : {}),
      "list-empty": "/keys?q=nothing-like-it",
      "key-revoked": `/keys/${revoked.id}`,
      "key-suspended": `/keys/${suspended.id}`,
      export: `/keys/${exportable.id}/manifest`,
      "export-refused": `/keys/${key.id}/manifest`,
      "key-pulumi": `/keys/${ofPulumi.id}`,
      "not-found": "/keys/key_none",
    };
    const page = await windows.open("/keys", { viewport: { width, height: 900 } });
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(`${pages.url}/dashboard${path}`);
      await checkPage(page, name);
    }
    await page.goto(`${pages.url}/dashboard/keys/new`);
    await page.getByText("Limits", { exact: true }).click();
    await page.getByLabel("Requests at once").fill("5");
    await page.getByRole("button", { name: "Generate key" }).click();
    await checkPage(page, "create-refused");
    await page.getByLabel("Requests at once").fill("");
    await generate(page, unique("looked-at"));
    await checkPage(page, "shown-once");
  });
});

describe("A leaked key in a browser", () => {
  test.for([320, 1_280])("is seen at once, at %i pixels", async (width) => {
    const { id, name } = await makeKey();
    const { secret } = (await pages.send("POST", `/keys/${id}/versions`, { overlap: "0s" })).body;
    await pages.send("POST", "/leaks", { leaks: [{ key: secret }] });
    const page = await windows.open(`/keys/${id}`, { viewport: { width, height: 900 } });
    expect(await page.locator(".notice").innerText()).toContain("Leaked. Version 2");
    const wider = await page
      .locator(".panel")
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth));
    expect(wider).toHaveLength(0);
    await checkPage(page, "leaked-key");
    await page.goto(`${pages.url}/dashboard/keys?q=${name}`);
    expect(await page.locator("tbody").innerText()).toContain("Leaked");
    await checkPage(page, "leaked-list");
    expect(windows.complaints).toEqual([]);
  });
});
