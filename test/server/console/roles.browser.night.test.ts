/** What people of each role see and may do in a browser, and what a page says where something has gone wrong. */
import { sql } from "kysely";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { openBrowser, takeCookie } from "../../env/browser.ts";
import { freshDatabase } from "../../env/database/engines.ts";
import { startTcpProxy, type TcpProxy } from "../../env/tcp-proxy.ts";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";
import { signIn } from "../auth/session/sign-in.ts";
import { checkPage, openWindow } from "./looked-at.ts";
import { type Pages, startPages } from "./pages.ts";

const ROLES = ["admin", "member", "viewer"] as const;
const SPEC = { preset: "MCPReadOnly" };

let browser: Browser;
let pages: Pages;
const contexts: BrowserContext[] = [];

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  await makeTeam(pages);
});
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
});
afterAll(() => Promise.all([browser?.close(), pages?.close()]));

async function makeTeam({ send }: Pages): Promise<void> {
  const members = [...ROLES.map((role) => ({ role, subject: role })), { role: "admin", subject: "leaving" }];
  const { status } = await send("POST", "/teams", { name: "payments", spec: { members } });
  expect(status).toBe(201);
}

/** A window of a person, with what its console has complained of. */
async function windowOf(cookie: string, server: Pages = pages): Promise<{ page: Page; complaints: string[] }> {
  const { context, page, complaints } = await openWindow(browser, server, { cookie });
  contexts.push(context);
  return { page, complaints };
}

async function as(subject: string, path: string): Promise<Page> {
  const { page } = await windowOf((await pages.as(subject)).browser.cookie);
  await page.goto(`${pages.url}/dashboard${path}`);
  return page;
}

async function makeKey(server: Pages = pages): Promise<{ id: string; name: string; secret: string }> {
  const made = await server.send("POST", "/keys", { name: unique("key"), team: "payments", spec: SPEC });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

const heading = (page: Page) => page.getByRole("heading", { level: 1 }).innerText();

/** Sends a form by a page's own script, with the token that its forms carry: as a person who makes up a form there. */
async function sendAnyway(page: Page, path: string, fields: Readonly<Record<string, string>>): Promise<number> {
  return page.evaluate<number>(`(${SEND})(${JSON.stringify([`${pages.url}/dashboard${path}`, fields])})`);
}

/** Runs in the page. */
const SEND = `async ([url, fields]) => {
  const body = new URLSearchParams({ ...fields, _csrf: document.querySelector('[name="_csrf"]').value });
  return (await fetch(url, { method: "POST", body, redirect: "manual" })).status;
}`;

describe("In a browser a role", () => {
  test.for(ROLES)("%s sees the buttons that it may press, on every page", async (role) => {
    const { id } = await makeKey();
    const page = await as(role, `/keys/${id}`);
    const names = await page.locator(".actions").first().locator("a, button").allTextContents();
    expect(names).toEqual(role === "viewer" ? [] : ["Rotate", "Edit", "Suspend", "Export as manifest", "Revoke"]);
    await page.goto(`${pages.url}/dashboard/keys`);
    expect(await page.getByRole("link", { name: "Create key" }).count()).toBe(role === "viewer" ? 0 : 1);
    for (const section of ["Libraries", "Gateways", "Team", "Audit log"]) {
      await page.getByRole("navigation").getByRole("link", { name: section }).click();
      expect(await page.getByRole("link", { name: section }).first().getAttribute("aria-current")).toBe("page");
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    }
  });

  test("viewer who sends a form all the same is refused, learns by whom it can be done, and nothing is done", async () => {
    const key = await makeKey();
    const page = await as("viewer", `/keys/${key.id}`);
    const once = "x".repeat(24);
    const forms = {
      [`/keys/${key.id}/revoke`]: { confirm: key.name },
      [`/keys/${key.id}/rotate`]: { once },
      [`/keys/${key.id}/state`]: { state: "Suspended" },
      [`/keys/${key.id}/edit`]: { ...SPEC, displayName: "x" },
      "/keys/new": { ...SPEC, once, name: "by-a-viewer", team: "payments" },
    };
    for (const [path, fields] of Object.entries(forms)) {
      expect([path, await sendAnyway(page, path, fields)]).toEqual([path, 403]);
    }
    expect(await pages.tryKey(key.secret)).toBe(200);
    await page.goto(`${pages.url}/dashboard/keys/${key.id}/revoke`);
    expect(await heading(page)).toBe("Forbidden");
    expect(await page.locator("main").innerText()).toContain("it takes admin or member");
    await checkPage(page, "forbidden");
    await until("the audit log has who it was", async () => {
      const { rows } = await sql<{ principal: string }>`
        select detail ->> 'principal' as principal from audit_events where kind = 'request.refused'
          and detail ->> 'reason' = 'management_forbidden'`.execute(pages.store.db);
      return rows.some(({ principal }) => principal.endsWith("#viewer"));
    });
  });
});

describe("In a browser, where something has gone wrong,", () => {
  test("a member who was removed a second ago is shown that there is nothing of theirs, and changes nothing", async () => {
    const key = await makeKey();
    const page = await as("leaving", `/keys/${key.id}/edit`);
    await page.getByLabel("Display name").fill("Changed by a person who has left");
    await sql`delete from team_members where value = 'leaving'`.execute(pages.store.db);
    await page.getByRole("button", { name: "Save" }).click();
    expect(await heading(page)).toBe("Not found");
    expect(await page.locator("main").innerText()).toContain("you may be in its team no longer");
    await checkPage(page, "removed");
    await page.goto(`${pages.url}/dashboard/keys`);
    expect(await page.locator("main").innerText()).toContain("You are in no team");
    expect((await pages.send("GET", `/keys/${key.id}`)).body.displayName).not.toContain("left");
  });

  test("a session of an issuer that is not configured, and one that has ended, lead to the sign-in", async () => {
    const person = { issuer: "https://other.example", subject: "admin", groups: [] };
    const { cookie } = await signIn(pages.store, { person });
    const { page } = await windowOf(cookie);
    await page.goto(`${pages.url}/dashboard/audit`);
    expect(new URL(page.url()).pathname).toBe("/dashboard/sign-in");
    expect(await page.locator("main").innerText()).toMatch(/sign in/i);
  });

  test("what was typed to make a key outlasts the session, for the same person, and holds no key", async () => {
    const { cookie } = (await pages.as("member")).browser;
    const { context, page } = await openWindow(browser, pages, { cookie });
    contexts.push(context);
    const fillIn = async (name: string) => {
      await page.goto(`${pages.url}/dashboard/keys/new`);
      await page.getByLabel("Name", { exact: true }).fill(name);
      await page.getByLabel("Display name").fill("inf_0123456789abcdef");
      await page.getByLabel("Preset").selectOption({ label: "Scopes of its own" });
      await page.getByLabel("memory:write").check();
      await page.getByLabel("Lifetime").selectOption("30d");
      await page.getByText("Limits", { exact: true }).click();
      await page.getByLabel("Networks").fill("10.0.0.0/8");
    };
    /** Sends the form after its session has ended; then a person signs in anew in the same window. */
    const sendTooLate = async (subject: string) => {
      await context.clearCookies();
      await page.getByRole("button", { name: "Generate key" }).click();
      expect(await heading(page)).toBe("Unauthorized");
      await page.getByRole("link", { name: "Sign in" }).click();
      const returnTo = new URL(page.url()).searchParams.get("returnTo");
      expect([new URL(page.url()).pathname, returnTo]).toEqual(["/dashboard/sign-in", "/dashboard/keys/new"]);
      await takeCookie(context, pages.url, (await pages.as(subject)).browser.cookie);
      await page.goto(`${pages.url}${returnTo}`);
    };
    const name = unique("late");
    await fillIn(name);
    await sendTooLate("member");
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe(name);
    expect(await page.getByLabel("Display name").inputValue()).toBe("");
    expect(await page.getByLabel("memory:write").isChecked()).toBe(true);
    expect(await page.getByLabel("memory:read").isChecked()).toBe(false);
    expect(await page.getByLabel("Lifetime").inputValue()).toBe("30d");
    expect(await page.getByLabel("Networks").isVisible()).toBe(true);
    expect(await page.getByRole("status").innerText()).toContain("What you typed before you signed in again is back.");
    await checkPage(page, "typed-is-back");
    await page.getByRole("button", { name: "Generate key" }).click();
    expect(await page.getByLabel("The key", { exact: true }).innerText()).toMatch(/^inf_/);
    await page.goto(`${pages.url}/dashboard/keys/new`);
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("");

    await fillIn(unique("late"));
    await sendTooLate("admin");
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("");
  });

  test("two tabs that edit one key: the second gets a notice, keeps what was typed, and may save after a look", async () => {
    const { id } = await makeKey();
    const { page: first } = await windowOf((await pages.as("admin")).browser.cookie);
    const second = await as("member", `/keys/${id}/edit`);
    await first.goto(`${pages.url}/dashboard/keys/${id}/edit`);
    for (const [page, name] of [
      [first, "By the first"],
      [second, "By the second"],
    ] as const) {
      await page.getByLabel("Display name").fill(name);
      await page.getByRole("button", { name: "Save" }).click();
    }
    expect(await second.getByRole("alert").innerText()).toMatch(/Nothing was changed[\s\S]*By the first/);
    expect(await second.getByLabel("Display name").inputValue()).toBe("By the second");
    await checkPage(second, "two-tabs");
    await second.getByRole("button", { name: "Save" }).click();
    await second.waitForURL(`**/keys/${id}`);
    expect((await pages.send("GET", `/keys/${id}`)).body.displayName).toBe("By the second");
  });

  test("a name of 10,000 emoji is refused beside its field, and makes nothing", async () => {
    const page = await as("member", "/keys/new");
    await page.getByLabel("Name", { exact: true }).fill("🔑".repeat(10_000));
    await page.getByRole("button", { name: "Generate key" }).click();
    const name = page.getByLabel("Name", { exact: true });
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByRole("alert").innerText()).toContain("Nothing was changed.");
    await checkPage(page, "emoji");
    await name.fill(unique("afterwards"));
    await page.getByRole("button", { name: "Generate key" }).click();
    expect(await page.getByLabel("The key", { exact: true }).innerText()).toMatch(/^inf_/);
  });

  test("the back button after a key was shown shows it no more, and sends its form no second time", async () => {
    const page = await as("member", "/keys");
    await page.getByRole("link", { name: "Create key" }).click();
    const name = unique("back");
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByRole("button", { name: "Generate key" }).click();
    const secret = await page.getByLabel("The key", { exact: true }).innerText();
    await page.getByRole("link", { name: "To the key's page" }).click();
    for (const go of ["goBack", "goBack", "goForward", "goForward"] as const) {
      await page[go]();
      expect(await page.content()).not.toContain(secret);
    }
    expect(await heading(page)).toBe(name);
    const { body } = await pages.send("GET", `/keys?name=${name}`);
    expect(body.items).toHaveLength(1);
  });
});

describe("In a browser, while the database is away,", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let proxy: TcpProxy;
  let away: Pages;
  let closeStore: () => Promise<void>;

  beforeAll(async () => {
    database = await freshDatabase();
    const url = new URL(database.url);
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const store = await openPostgres(url.href, { maxConnections: 5 });
    closeStore = () => store.close();
    await migrate(store);
    away = await startPages(store);
    await makeTeam(away);
  });
  afterAll(async () => {
    await away.close();
    await closeStore();
    await proxy.close();
    await database.drop();
  });

  test("a page says so with 503 and what to do, and a reload does it, once", async () => {
    const { page } = await windowOf((await away.as("member")).browser.cookie, away);
    await page.goto(`${away.url}/dashboard/keys/new`);
    const name = unique("away");
    await page.getByLabel("Name", { exact: true }).fill(name);
    proxy.cut();
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === "POST"),
      page.getByRole("button", { name: "Generate key" }).click(),
    ]);
    expect(answer.status()).toBe(503);
    expect(await page.locator("main").innerText()).toMatch(/The database does not answer[\s\S]*Reload this page/);
    await checkPage(page, "away");
    proxy.thaw();
    await until("the database answers", async () => (await away.send("GET", "/keys?limit=1")).status === 200);
    await page.reload();
    expect(await page.getByLabel("The key", { exact: true }).innerText()).toMatch(/^inf_/);
    expect((await away.send("GET", `/keys?name=${name}`)).body.items).toHaveLength(1);
    proxy.cut();
    for (const path of ["/audit/export", "/keys", "/libraries", "/gateways", "/team", "/audit"]) {
      const answer = await page.goto(`${away.url}/dashboard${path}`);
      expect([path, answer?.status()]).toEqual([path, 503]);
      expect(await page.locator("main").innerText()).toContain("Nothing is lost: reload this page in a moment.");
    }
    proxy.thaw();
    await until("the database answers", async () => (await page.reload())?.status() === 200);
  });
});
