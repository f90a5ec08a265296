import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordOutcomes } from "../../../store/gateways/upstream-outcomes.ts";
import { openBrowser } from "../../env/browser.ts";
import { until } from "../../env/until.ts";
import { checkPage, EVERY_PAGE, WIDTHS, Windows } from "./looked-at.ts";
import { NOT_SEEN, PAGES } from "./page-table.ts";
import { type Pages, startPages } from "./pages.ts";

let pages: Pages;
let browser: Browser;
const windows = new Windows(() => ({ browser, pages }));
let keyId: string;
let libraryId: string;
let teamId: string;
let gatewayId: string;
let atomId: string;
let writerId: string;

const MEMBERS = [
  { role: "admin", subject: "ada@example.com" },
  { role: "member", group: "payments-developers" },
  { role: "viewer", serviceAccount: { namespace: "monitoring", name: "reader" } },
];

beforeAll(async () => {
  [pages, browser] = await Promise.all([startPages(), openBrowser()]);
  const send = async (...asked: Parameters<Pages["send"]>) => {
    const answer = await pages.send(...asked);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  const webhooks = ["/keys", `/${"a-long-path/".repeat(8)}`].map((path) => ({
    ...{ url: `https://127.0.0.1:9${path}`, events: ["key.revoked", "key.rotated", "key.consumer_late"] },
    secret: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
  }));
  const namespaces = ["payments-dev", "payments-prod"];
  const team = { displayName: "Payments", members: MEMBERS, namespaces, webhooks };
  teamId = (await send("POST", "/teams", { name: "payments", spec: team })).body.id;
  await send("POST", "/teams", { name: "research", spec: { members: [] } });
  await fillLibrary(send);
  const upstreams = ["primary", "spare"].map((name) => ({
    ...{ name, dialect: "openai", baseURL: `https://${name}.models.example/v1`, credential: "sk-credential" },
  }));
  const fallbacks = [{ upstream: "spare", upstreamModel: "gpt-5-mini" }];
  const quick = { model: "quick", routeID: "quick", upstream: "primary", upstreamModel: "gpt-5-nano", fallbacks };
  const routed = { upstreams, routes: [quick], publicID: "payments-models" };
  gatewayId = (await send("POST", "/gateways", { name: "models", team: "payments", spec: routed })).body.id;
  const heard = {
    gatewayId,
    answeredAt: Date.now() - 60_000,
    status: 200,
    failedAt: null,
    failure: null,
    acceptedAt: null,
    refusedAt: null,
  };
  await recordOutcomes(pages.store.db, [
    { ...heard, upstream: "primary" },
    { ...heard, upstream: "spare", failedAt: Date.now(), failure: "The upstream cannot be reached." },
  ]);
  const spec = { preset: "GatewayDefault", gatewayRef: { name: "models" } };
  const { body, headers } = await send("POST", "/keys", { name: "checkout-assistant", team: "payments", spec });
  keyId = body.id;
  const renamed = { spec: { ...spec, displayName: "Checkout" }, reason: "as people call it" };
  await send("PUT", `/keys/${keyId}`, renamed, { "if-match": headers.get("etag") ?? "" });
  await send("POST", `/keys/${keyId}/revoke`, { reason: "in a public repository" });
});
async function fillLibrary(send: Pages["send"]): Promise<void> {
  const spec = { displayName: "Handbook", description: "What the team has agreed on." };
  libraryId = (await send("POST", "/libraries", { name: "handbook", team: "payments", spec })).body.id;
  await send("POST", "/libraries", { name: "incidents", team: "payments", spec: {} });
  const writer = { name: "writer", team: "payments", spec: { preset: "MCPReadWrite" } };
  const { secret, id } = (await send("POST", "/keys", writer)).body;
  writerId = id;
  const atoms = [
    { content: "Refunds over 500 EUR need a second pair of eyes.", tags: ["refunds", "policy"], importance: 9 },
    { content: "\u202Egnihsihp\u202C <b>bold</b> https://evil.example", tags: ["<img src=x>"], source: "chat" },
    {
      content: `${"A very long statement about how things are done here. ".repeat(40)}\n\nEnd.`,
      source: "a runbook",
    },
    { content: "W".repeat(600), tags: ["x".repeat(64)] },
  ];
  for (const atom of atoms) {
    const answer = await fetch(`${pages.url}/atoms`, {
      method: "POST",
      headers: { "x-api-key": secret, "content-type": "application/json" },
      body: JSON.stringify({ library: "handbook", ...atom }),
    });
    expect(answer.status).toBe(201);
    atomId = String(Object(await answer.json()).id);
  }
}

afterAll(() => Promise.all([browser?.close(), pages?.close()]));

describe("The audit log in a browser", () => {
  test("is searched as one types, and exported with what is found", async () => {
    const page = await windows.open("/audit");
    await page.getByLabel("Action").selectOption("key.revoked");
    await until("one event is left", async () => (await page.locator("tbody tr").count()) === 1);
    expect(await page.locator("tbody tr").innerText()).toContain("checkout-assistant");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export as JSON Lines" }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ action: "key.revoked", keyId });
    expect(windows.complaints).toEqual([]);
  });
});

/** Runs in the page. Past its last link the window itself has the focus. */
const FOCUSED = `(({ id, tagName, textContent }) => [
  id || (tagName === "BODY" ? "" : textContent.trim()),
  tagName === "BODY" || getComputedStyle(document.activeElement).outlineStyle !== "none",
])(document.activeElement)`;

describe("The pages around the keys, by the keyboard alone", () => {
  test("are reached, filtered, folded out and left", async () => {
    const page = await windows.open("/keys");
    /** What has the focus, and whether that is to be seen. */
    const focused = () => page.evaluate<[name: string, isSeen: boolean]>(FOCUSED);
    const tabTo = async (name: string) => {
      for (let i = 0; i < 120 && (await focused())[0] !== name; i++) {
        await page.keyboard.press("Tab");
        const [on, isSeen] = await focused();
        expect({ on, isSeen }).toEqual({ on, isSeen: true });
      }
      expect((await focused())[0]).toBe(name);
    };
    await page.keyboard.press("Tab");
    await tabTo("Audit log");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Audit log" }).waitFor();
    await page.keyboard.press("Tab");
    await tabTo("about");
    await page.keyboard.type("payments");
    await page.keyboard.press("Enter");
    await until("one event is left", async () => (await page.locator("tbody tr").count()) === 1);
    const summary = page.locator("tbody td:last-child summary").first();
    while ((await summary.and(page.locator(":focus")).count()) === 0) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.locator(".whole-value").first().isVisible()).toBe(true);
    await tabTo("Export as JSON Lines");
  });
});

describe("A library in a browser", () => {
  test("is searched as one types, and an atom's text is read and copied", async () => {
    const page = await windows.open(`/libraries/${libraryId}`);
    await page.getByLabel("Search").pressSequentially("second eyes");
    await until("one atom is left", async () => (await page.getByRole("link", { name: /^Read atom/ }).count()) === 1);
    await page.getByRole("link", { name: /^Read atom/ }).click();
    await page.getByRole("heading", { name: "Atom" }).waitFor();
    expect(await page.getByRole("group", { name: "Content" }).innerText()).toContain("need a second pair of eyes.");
    await page.getByRole("link", { name: "policy" }).click();
    expect(await page.getByLabel("Tag").inputValue()).toBe("policy");
    expect(windows.complaints).toEqual([]);
  });
});

/** Pages that states.browser.test.ts looks at with more in them: here at night alone. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  EVERY_PAGE
    ? []
    : [
        ...["/keys", "/keys/new", "/keys/:key", "/keys/:key/edit", "/keys/:key/rotate", "/keys/:key/revoke"],
        ...["/usage", "/refusals"],
      ],
);

/** How a picture of a page is called. */
const nameOf = (pattern: string) => pattern.slice(1).replaceAll("/", "-").replaceAll(":", "one-");

function pathOf(pattern: string, ids: Readonly<Record<string, string>>): string {
  return pattern.replace(/:(\w+)/g, (_, name) => ids[name] ?? "");
}

describe("Every page of the console", () => {
  test.for(WIDTHS)("is accessible and fits into a window of %i pixels", async (width) => {
    const patterns = Object.keys(PAGES).filter((pattern) => !NOT_SEEN.has(pattern) && !ELSEWHERE.has(pattern));
    const ids = { key: writerId, library: libraryId, atom: atomId, gateway: gatewayId, team: teamId };
    const empty = {
      "audit-empty": "/audit?action=none",
      "libraries-empty": "/libraries?team=none",
      "library-empty": `/libraries/${libraryId}?tag=none`,
      "gateways-empty": "/gateways?team=none",
      "teams-empty": "/team?team=none",
      "webhooks-empty": "/webhooks?team=research",
    };
    const paths = {
      ...Object.fromEntries(patterns.map((pattern) => [nameOf(pattern), pathOf(pattern, ids)])),
      "library-found": `/libraries/${libraryId}?q=refunds`,
      // What is said where nothing is found is, on a screen, between what the page shows of what is there.
      ...(EVERY_PAGE || width === WIDTHS[0] ? empty : {}),
    };
    const page = await windows.open("/audit", { viewport: { width, height: 900 } });
    for (const [name, path] of Object.entries(paths)) {
      const answer = await page.goto(`${pages.url}/dashboard${path}`);
      // A team that the API has made holds no namespace that a manifest could be of, and the page says so.
      const status = path.endsWith("/manifest") ? 409 : 200;
      expect({ name, status: answer?.status() }).toEqual({ name, status });
      await checkPage(page, name);
    }
  });
});
