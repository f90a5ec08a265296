import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RoutePlugin } from "../../../../server/app.ts";
import { sealAttempt } from "../../../../server/auth/session/attempt.ts";
import { assertClientSecrets } from "../../../../server/auth/session/client-secret.ts";
import { CONSOLE } from "../../../../server/auth/session/return-to.ts";
import { sessionRoutes } from "../../../../server/auth/session/routes.ts";
import { secretDigest } from "../../../../server/auth/session/secret.ts";
import { refuseForeignHosts } from "../../../../server/http/host-check.ts";
import type { Store } from "../../../../store/database/store.ts";
import { openMigrated } from "../../../env/database/engines.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { sendRaw } from "../../raw-http.ts";
import { type BrowserPage, openBrowser, type TestBrowser } from "./browser.ts";
import { CLIENT_SECRET, NAMELESS, startProvider, type TestProvider } from "./provider.ts";
import { signIn } from "./sign-in.ts";

let store: Store;
let harness: Harness;
let first: TestProvider;
let second: TestProvider;
let secretFile: string;
let folder: string;
let browser: TestBrowser;

/** A page that says who it is for. */
const pages: RoutePlugin = (app, { config }) => {
  app.addHook("onRequest", refuseForeignHosts(config));
  for (const path of ["/", "/keys"])
    app.get(path, { config: { console: true } }, ({ managementPrincipal, session, raw }) => ({
      ...{ as: managementPrincipal, name: session?.displayName, csrfToken: session?.csrfToken, url: raw.url },
    }));
};

beforeAll(async () => {
  store = await openMigrated();
  folder = await mkdtemp(join(tmpdir(), "keyplane-sign-in-"));
  secretFile = join(folder, "secret");
  await writeFile(secretFile, `${CLIENT_SECRET}\n`);
  [first, second] = [await startProvider(), await startProvider()];
  const consoleClients = [first, second].map(({ url, clientId }) => ({ issuer: url, clientId, secretFile }));
  harness = await startHarness({
    mounts: [sessionRoutes, pages].map((routes) => ({ at: CONSOLE, routes })),
    store,
    config: {
      oidc: { issuers: [first.url, second.url], audience: "keyplane", adminGroups: ["platform"] },
      consoleClients,
    },
  });
  for (const provider of [first, second]) provider.open(harness.url);
});
beforeEach(() => {
  harness.clock.set(Date.now());
  browser = openBrowser();
});
afterEach(async () => {
  await writeFile(secretFile, CLIENT_SECRET);
});
afterAll(async () => {
  await harness.close();
  for (const provider of [first, second]) provider.close();
  await store.close();
  await rm(folder, { recursive: true });
});

const at = (path: string) => `${harness.url}${CONSOLE}${path}`;
const sessionCookie = (of = browser) => of.cookie(harness.url, "keyplane_session");
const isSignedIn = async (of = browser) => (await of.ask(at("/keys"))).status === 200;

/** To the form of a provider, by the page on which it is chosen. */
async function chooseIssuer(provider: TestProvider, page = "/keys?q=a%20b"): Promise<BrowserPage> {
  const choice = await browser.visit(at(page));
  const links = [...choice.text.matchAll(/href="([^"]*issuer=[^"]*)"/g)].map(([, href = ""]) =>
    href.replaceAll("&amp;", "&"),
  );
  expect(links).toHaveLength(2);
  const chosen = links.find((href) => href.includes(encodeURIComponent(provider.url)));
  return browser.visit(new URL(chosen ?? "", harness.url).href);
}

/** With a new browser, as far as the address that a provider sends it back to. */
async function upToCallback(provider = first, who = "ann"): Promise<URL> {
  browser = openBrowser();
  const { url } = await provider.logIn(browser, await chooseIssuer(provider), who, at("/callback"));
  return new URL(url);
}

/** The name of the cookie of the attempt that a browser comes back from. */
const attemptCookie = (callback: URL) => `keyplane_sign_in_${callback.searchParams.get("state")?.slice(0, 8)}`;

describe("Signing in", () => {
  test("by any of the issuers leads back to the page, as the person whom the issuer knows", async () => {
    for (const provider of [first, second]) {
      browser = openBrowser();
      const page = await provider.logIn(browser, await chooseIssuer(provider), "ann");
      expect(page.status).toBe(200);
      expect(JSON.parse(page.text)).toMatchObject({
        as: { actor: `${provider.url}#ann`, as: { subject: "ann", groups: ["leads"], serviceAccount: null } },
        name: "Name of ann",
        url: "/dashboard/keys?q=a%20b",
      });
    }
  });

  test("of a person for whom the issuer has an empty name names them by their subject", async () => {
    const page = await first.logIn(browser, await chooseIssuer(first), NAMELESS);
    expect(JSON.parse(page.text).name).toBe(NAMELESS);
  });

  test("as a member of an admin group is the installation's own", async () => {
    const page = await first.logIn(browser, await chooseIssuer(first), "root");
    expect(JSON.parse(page.text).as).toMatchObject({ actor: `${first.url}#root`, as: "everything" });
  });

  test("keeps the hash of what the cookie holds, and leaves no secret in the log", async () => {
    const callback = await upToCallback();
    await browser.visit(callback.href);
    const digest = secretDigest(sessionCookie() ?? "") ?? "";
    const rows = await store.db.selectFrom("sessions").select(["digest", "sid"]).where("subject", "=", "ann").execute();
    const row = rows.find((one) => Buffer.from(one.digest).toString("latin1") === digest);
    expect(row?.sid).toMatch(/./);
    const log = harness.lines.join("\n");
    for (const secret of [sessionCookie(), callback.searchParams.get("code"), CLIENT_SECRET])
      expect(log).not.toContain(secret);
  });

  test("sets a cookie that no script reads, and that another's form does not send", async () => {
    const callback = await upToCallback();
    const { headers } = await browser.ask(callback.href);
    const cookie = headers.getSetCookie().at(-1);
    expect(cookie).toMatch(/^keyplane_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=28800$/);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  test("makes a new session, and ends the one that the browser came with", async () => {
    const planted = await signIn(store, { person: { issuer: first.url, subject: "eve", groups: [] } });
    const secret = planted.cookie.replace("keyplane_session=", "");
    const callback = await upToCallback();
    browser.setCookie(harness.url, "keyplane_session", secret);
    await browser.visit(callback.href);
    expect(sessionCookie()).not.toBe(secret);
    expect(await isSignedIn()).toBe(true);
    const other = openBrowser();
    other.setCookie(harness.url, "keyplane_session", secret);
    expect(await isSignedIn(other)).toBe(false);
    const events = store.db.selectFrom("audit_events").select(["kind", "detail"]).orderBy("id", "desc").limit(2);
    expect(await events.execute()).toMatchObject([
      { kind: "session.begun", detail: { address: "127.0.0.1" } },
      { kind: "session.ended", detail: { address: "127.0.0.1" } },
    ]);
  });

  test("takes the client's secret as its file has it now", async () => {
    for (const [secret, status] of [
      ["another", 401],
      [CLIENT_SECRET, 200],
    ] as const) {
      await writeFile(secretFile, secret);
      const callback = await upToCallback();
      expect((await browser.visit(callback.href)).status).toBe(status);
    }
  });
});

test("A client's secret that cannot be read is refused at the start, by its file", async () => {
  const client = { issuer: first.url, clientId: "console" };
  await assertClientSecrets([
    { ...client, secretFile },
    { ...client, secretFile: null },
  ]);
  const gone = join(folder, "gone");
  await expect(assertClientSecrets([{ ...client, secretFile: gone }])).rejects.toThrow(
    `${gone} cannot be read (ENOENT)`,
  );
  await writeFile(secretFile, " \n");
  await expect(assertClientSecrets([{ ...client, secretFile }])).rejects.toThrow("holds no secret");
});

describe("An answer of an issuer does not sign in", () => {
  const refused = async (callback: URL, of = browser) => {
    const page = await of.ask(callback.href);
    expect([page.status, sessionCookie(of)]).toEqual([401, undefined]);
    expect(page.text).toContain("You are not signed in");
    expect(page.text).not.toContain("because");
  };

  test("in another browser than the one that asked for it", async () => {
    const callback = await upToCallback();
    await refused(callback, openBrowser());
    // Nor with an attempt of its own.
    const other = openBrowser();
    await other.ask(at(`/sign-in?issuer=${encodeURIComponent(first.url)}`));
    await refused(callback, other);
  });

  test("with another state, or none", async () => {
    const callback = await upToCallback();
    callback.searchParams.set("state", "x".repeat(43));
    await refused(callback);
    const again = await upToCallback();
    again.searchParams.delete("state");
    await refused(again);
  });

  test("of another issuer", async () => {
    const callback = await upToCallback();
    callback.searchParams.set("iss", second.url);
    await refused(callback);
  });

  test("whose ID token was made for another attempt", async () => {
    const callback = await upToCallback();
    const state = callback.searchParams.get("state") ?? "";
    const attempt = {
      issuer: first.url,
      returnTo: "/dashboard/",
      renews: false,
      expiresAt: Date.now() + 60_000,
      state,
    };
    const sealed = sealAttempt(harness.deps.keyring, { ...attempt, nonce: "another", verifier: "x".repeat(43) });
    browser.setCookie(harness.url, attemptCookie(callback), sealed);
    await refused(callback);
  });

  test("twice", async () => {
    const attempt = await upToCallback();
    const cookie = browser.cookie(harness.url, attemptCookie(attempt)) ?? "";
    expect(cookie).toMatch(/./);
    expect((await browser.visit(attempt.href)).status).toBe(200);
    const replaying = openBrowser();
    replaying.setCookie(harness.url, attemptCookie(attempt), cookie);
    await refused(attempt, replaying);
  });

  test("ten minutes after it was asked for", async () => {
    const callback = await upToCallback();
    harness.clock.set(Date.now() + 10 * 60_000 + 5_000);
    await refused(callback);
  });

  test("where it is a refusal, or nothing at all, and the page does not name the cause", async () => {
    for (const query of ["error=access_denied&error_description=because", "", "code=x", "code=a&code=b"]) {
      const callback = await upToCallback();
      callback.search = `${query}&state=${callback.searchParams.get("state")}&iss=${encodeURIComponent(first.url)}`;
      await refused(callback);
    }
  });
});

describe("The page to return to", () => {
  // Others: test/server/auth/session/return-to.test.ts
  const ELSEWHERE = ["//evil.test", "/dashboard/..//evil.test"];

  test("is one of the console's, however another's address is spelled", async () => {
    for (const returnTo of ELSEWHERE) {
      browser = openBrowser();
      const query = new URLSearchParams({ issuer: first.url, returnTo });
      const form = await browser.visit(at(`/sign-in?${query}`));
      const page = await first.logIn(browser, form, "ann");
      expect([returnTo, page.url, page.status]).toEqual([returnTo, at("/"), 200]);
    }
  });
});

describe("Signing out", () => {
  test("ends the session, and leads to the issuer's own page for it", async () => {
    const callback = await upToCallback();
    const page = await browser.visit(callback.href);
    const secret = sessionCookie() ?? "";
    const { csrfToken } = JSON.parse(page.text);
    expect((await browser.ask(at("/sign-out"), { _csrf: "wrong" })).status).toBe(403);
    expect(await isSignedIn()).toBe(true);
    const out = await browser.ask(at("/sign-out"), { _csrf: csrfToken });
    expect(out.status).toBe(303);
    const to = new URL(out.headers.get("location") ?? "");
    expect(to.origin).toBe(first.url);
    expect(Object.fromEntries(to.searchParams)).toEqual({
      client_id: "console",
      post_logout_redirect_uri: at("/sign-in"),
    });
    expect(out.headers.get("content-security-policy")).toContain(`form-action 'self' ${first.url} ${second.url}`);
    expect(sessionCookie()).toBeUndefined();
    browser.setCookie(harness.url, "keyplane_session", secret);
    expect(await isSignedIn()).toBe(false);
  });

  test("ends it here while the issuer is away", async () => {
    const callback = await upToCallback();
    const { text } = await browser.visit(callback.href);
    harness.clock.advance(11 * 60_000);
    first.setAway(true);
    const out = await browser.ask(at("/sign-out"), { _csrf: JSON.parse(text).csrfToken });
    first.setAway(false);
    expect([out.status, out.headers.get("location")]).toEqual([303, "/dashboard/sign-in"]);
    expect(await isSignedIn()).toBe(false);
    harness.clock.advance(5_000);
  });
});

describe("An issuer that does not answer", () => {
  test("is said to be away, and the others go on", async () => {
    harness.clock.advance(11 * 60_000);
    first.setAway(true);
    const page = await chooseIssuer(first);
    expect(page.status).toBe(503);
    expect(page.text).toContain("The issuer does not answer");
    expect((await chooseIssuer(second)).status).toBe(200);
    first.setAway(false);
    harness.clock.advance(5_000);
    expect((await chooseIssuer(first)).status).toBe(200);
  });

  test("while a code is redeemed lets no person in, and says so", async () => {
    const callback = await upToCallback();
    first.setAway(true);
    const page = await browser.ask(callback.href);
    first.setAway(false);
    expect([page.status, sessionCookie()]).toEqual([503, undefined]);
  });
});

test("b54: the sign-in is not for another's host, nor for another's page", async () => {
  for (const path of ["/sign-in", "/callback", "/keys"]) {
    const head = (lines: string) => `GET ${CONSOLE}${path} HTTP/1.1\r\n${lines}\r\nConnection: close\r\n\r\n`;
    expect((await sendRaw(harness.port, head("Host: evil.test"))).status).toBe(403);
    const ours = `Host: 127.0.0.1:${harness.port}`;
    expect((await sendRaw(harness.port, head(`${ours}\r\nOrigin: https://evil.test`))).status).toBe(403);
  }
});
