import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { managementToken } from "../../../../server/auth/management/management-token.ts";
import { CONSOLE } from "../../../../server/auth/session/return-to.ts";
import { sessionRoutes } from "../../../../server/auth/session/routes.ts";
import { secretDigest } from "../../../../server/auth/session/secret.ts";
import { consoleRoutes } from "../../../../server/console/routes.ts";
import { managementRoutes } from "../../../../server/management/routes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { endSession } from "../../../../store/sessions/sessions.ts";
import { openMigrated } from "../../../env/database/engines.ts";
import { makeTeam, unique } from "../../../store/fixtures.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { openBrowser, type TestBrowser } from "./browser.ts";
import { CLIENT_SECRET, startProvider, type TestProvider } from "./provider.ts";
import { signIn } from "./sign-in.ts";

const TOKEN = "kpt_the-token-of-this-installation";
const MINUTE = 60_000;

let store: Store;
let folder: string;
let provider: TestProvider;
let harness: Harness;
/** Another replica on the same database. */
let other: Harness;
let team: Awaited<ReturnType<typeof makeTeam>>;
let keyId: string;
let browser: TestBrowser;

beforeAll(async () => {
  store = await openMigrated();
  folder = await mkdtemp(join(tmpdir(), "keyplane-renewal-"));
  const secretFile = join(folder, "secret");
  await writeFile(secretFile, CLIENT_SECRET);
  provider = await startProvider();
  const start = () =>
    startHarness({
      mounts: [
        ...[sessionRoutes, consoleRoutes].map((routes) => ({ at: CONSOLE, routes })),
        { at: "/api/v1", routes: managementRoutes },
      ],
      store,
      managementToken: managementToken("bootstrap-token", TOKEN),
      config: {
        oidc: { issuers: [provider.url], audience: "keyplane", adminGroups: ["platform"] },
        consoleClients: [{ issuer: provider.url, clientId: provider.clientId, secretFile }],
      },
    });
  [harness, other] = [await start(), await start()];
  provider.open(harness.url);
  team = await makeTeam(store, { members: [{ role: "member", kind: "group", value: "leads" }] });
  const made = await fetch(`${harness.url}/api/v1/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ name: unique("key"), team: team.name, spec: { preset: "MCPReadOnly" } }),
  });
  keyId = JSON.parse(await made.text()).id;
});
beforeEach(() => {
  for (const { clock } of [harness, other]) clock.set(Date.now());
  provider.setGroups("ann", ["leads"]);
  browser = openBrowser();
});
afterAll(async () => {
  await Promise.all([harness.close(), other.close()]);
  provider.close();
  await store.close();
  await rm(folder, { recursive: true });
});

const at = (path: string) => `${harness.url}${CONSOLE}${path}`;
const secretOf = (of = browser) => of.cookie(harness.url, "keyplane_session") ?? "";
const digestOf = (of = browser) => secretDigest(secretOf(of)) ?? "";
const KEY = () => at(`/keys/${keyId}`);

/** Signs a person in, and opens the page of the team's key. */
async function signInAs(who: string) {
  const page = await provider.logIn(browser, await browser.visit(KEY()), who);
  const [, csrf = ""] = /name="_csrf" value="([^"]+)"/.exec(page.text) ?? [];
  return { page, csrf };
}

/** Lets the time pass that the database has known the session's groups for. */
async function age(minutes: number, of = browser): Promise<void> {
  await sql`update sessions set claims_at = claims_at - ${minutes * MINUTE} * interval '1 millisecond'
    where digest = ${Buffer.from(digestOf(of), "latin1")}`.execute(store.db);
  for (const { clock } of [harness, other]) clock.advance(minutes * MINUTE);
  for (const { clock } of [harness, other]) clock.set(Date.now());
}

/** The same, where the issuer was asked just before. */
const ageOnly = (minutes: number) =>
  sql`update sessions set claims_at = claims_at - ${minutes * MINUTE} * interval '1 millisecond'
    where digest = ${Buffer.from(digestOf(), "latin1")}`.execute(store.db);

const sendState = (state: string, csrf: string) => browser.ask(at(`/keys/${keyId}/state`), { _csrf: csrf, state });
const suspend = (csrf: string) => sendState("Suspended", csrf);
const resume = (csrf: string) => sendState("Active", csrf);

/** By the session, as a page's script would. */
async function api(path: string, { url } = harness): Promise<number> {
  const answer = await fetch(`${url}/api/v1${path}`, { headers: { cookie: `keyplane_session=${secretOf()}` } });
  await answer.text();
  return answer.status;
}

describe("b117: A session counts for 15 minutes on what the issuer has said of its groups", () => {
  test("then a page asks the issuer anew, which who is a member still does not notice", async () => {
    const { page } = await signInAs("ann");
    expect([page.status, page.url]).toEqual([200, KEY()]);
    const secret = secretOf();
    await age(16);
    browser.visited.length = 0;
    const again = await browser.visit(KEY());
    expect([again.status, again.url, secretOf()]).toEqual([200, KEY(), secret]);
    expect(browser.visited.some((url) => url.startsWith(provider.url) && url.includes("prompt=none"))).toBe(true);
    browser.visited.length = 0;
    expect((await browser.visit(KEY())).status).toBe(200);
    expect(browser.visited).toEqual([KEY()]);
  });

  test("b117: two pages that ask the issuer at once are both opened, and leave nothing in the browser", async () => {
    await signInAs("ann");
    await age(16);
    const toIssuer = async () => (await browser.visit(KEY(), undefined, provider.url)).url;
    const [one, two] = [await toIssuer(), await toIssuer()];
    for (const url of [one, two]) {
      const page = await browser.visit(url);
      expect([page.status, page.url]).toEqual([200, KEY()]);
    }
    expect(browser.cookieNames(harness.url)).toEqual(["keyplane_session"]);
  });

  test("b117: however many sign-ins are left half way, their cookies do not pile up", async () => {
    for (let n = 0; n < 10; n++) await browser.visit(KEY(), undefined, provider.url);
    expect(browser.cookieNames(harness.url).length).toBe(8);
    const page = await provider.logIn(browser, await browser.visit(KEY()), "ann");
    expect([page.status, page.url]).toEqual([200, KEY()]);
  });

  test("b117: nor do those of long addresses make a request too large to be read", async () => {
    const long = `${KEY()}?q=${"x".repeat(1_900)}`;
    for (let n = 0; n < 7; n++) expect((await browser.visit(long, undefined, provider.url)).status).toBe(303);
    const page = await provider.logIn(browser, await browser.visit(long), "ann");
    expect([page.status, page.url]).toEqual([200, long]);
  });

  test("who was taken out of a group has lost what it gave, on every replica", async () => {
    await signInAs("ann");
    provider.setGroups("ann", []);
    expect(await api(`/keys/${keyId}`)).toBe(200);
    await age(16);
    for (const replica of [harness, other]) expect(await api(`/keys/${keyId}`, replica)).toBe(401);
    expect((await browser.visit(KEY())).status).toBe(404);
    for (const replica of [harness, other]) expect(await api(`/keys/${keyId}`, replica)).toBe(404);
  });

  test("who was taken out of an admin group manages the installation no longer", async () => {
    provider.setGroups("root", ["platform"]);
    await signInAs("root");
    expect(await api(`/teams/${team.teamId}`)).toBe(200);
    provider.setGroups("root", []);
    await age(16);
    await browser.visit(KEY());
    expect(await api(`/teams/${team.teamId}`)).toBe(404);
  });

  test("changes nothing after that, says what to do, and takes the same form once a page was opened", async () => {
    const { csrf } = await signInAs("ann");
    const send = () => suspend(csrf);
    const stateOf = async () =>
      (await store.db.selectFrom("keys").select("state").where("id", "=", keyId).executeTakeFirstOrThrow()).state;
    await age(16);
    const refused = await send();
    expect([refused.status, await stateOf()]).toEqual([401, "active"]);
    expect(refused.text).toContain("in another tab");
    expect(harness.refused.at(-1)?.cause).toBe("session_claims");
    await browser.visit(at("/keys"));
    expect((await send()).status).toBe(303);
    expect(await stateOf()).toBe("suspended");
    await resume(csrf);
  });

  test("b117: nor by a form whose body comes after that, though its head came before", async () => {
    const { csrf } = await signInAs("ann");
    const body = new URLSearchParams({ _csrf: csrf, state: "Suspended" }).toString();
    const form = request(at(`/keys/${keyId}/state`), {
      method: "POST",
      headers: {
        ...{ cookie: `keyplane_session=${secretOf()}`, origin: harness.url, expect: "100-continue" },
        ...{ "content-type": "application/x-www-form-urlencoded", "content-length": body.length },
      },
    });
    // It is asked for behind the check of the head.
    await once(form, "continue");
    await ageOnly(16);
    form.end(body);
    const [answer] = await once(form, "response");
    answer.resume();
    expect(answer.statusCode).toBe(401);
    expect((await browser.visit(KEY())).text).not.toContain("Resume");
  });

  test("a page asks before that, from the tenth minute on, so that its form may be sent for some minutes", async () => {
    const { csrf } = await signInAs("ann");
    await age(9);
    expect((await browser.ask(KEY())).status).toBe(200);
    await age(2);
    const asked = await browser.ask(KEY());
    expect([asked.status, asked.headers.get("location")]).toEqual([303, expect.stringContaining("renew=")]);
    expect([(await suspend(csrf)).status, (await resume(csrf)).status]).toEqual([303, 303]);
  });

  test("a form's answer shows its page without a look at the issuer, which browsers would take for the form's", async () => {
    const { csrf } = await signInAs("ann");
    await age(11);
    browser.visited.length = 0;
    const page = await browser.visit(at(`/keys/${keyId}/state`), { _csrf: csrf, state: "Suspended" });
    expect([page.status, page.url.split(/[?#]/)[0]]).toEqual([200, KEY()]);
    expect(browser.visited.filter((url) => !url.startsWith(at("/keys/")))).toEqual([]);
    const sent = await resume(csrf);
    expect(sent.headers.getSetCookie()).toEqual([expect.stringMatching(/after_form=1; .*Max-Age=10\b/)]);
  });

  test("signs out whenever it is asked to", async () => {
    const { csrf } = await signInAs("ann");
    await age(16);
    expect((await browser.ask(at("/sign-out"), { _csrf: "wrong" })).status).toBe(403);
    expect((await browser.ask(at("/sign-out"), { _csrf: csrf })).status).toBe(303);
    expect(secretOf()).toBe("");
  });

  test("answers a script with a problem where its page is too old, and does not redirect it", async () => {
    await signInAs("ann");
    await age(16);
    const headers = { cookie: `keyplane_session=${secretOf()}`, "hx-request": "true" };
    const answer = await fetch(KEY(), { headers, redirect: "manual" });
    expect([answer.status, answer.headers.get("hx-redirect")]).toEqual([401, null]);
    await answer.text();
  });
});

describe("b117: A page whose session still counts is shown while its issuer", () => {
  afterEach(() => provider.setAway(false));

  test("does not answer, though it did a moment ago; and it is asked once a minute", async () => {
    const { csrf } = await signInAs("ann");
    const secret = secretOf();
    await ageOnly(11);
    provider.setAway(true);
    for (const { clock } of [harness, other]) clock.advance(30_000);
    browser.visited.length = 0;
    const page = await browser.visit(KEY());
    expect([page.status, page.url, secretOf()]).toEqual([200, KEY(), secret]);
    expect(browser.visited.filter((url) => url.startsWith(provider.url))).toEqual([]);
    browser.visited.length = 0;
    expect((await browser.visit(at("/keys"))).status).toBe(200);
    expect(browser.visited).toEqual([at("/keys")]);
    expect([(await suspend(csrf)).status, (await resume(csrf)).status]).toEqual([303, 303]);
    await ageOnly(5);
    expect([(await browser.visit(KEY())).status, await api(`/keys/${keyId}`)]).toEqual([503, 401]);
    provider.setAway(false);
    for (const { clock } of [harness, other]) clock.advance(5_000);
    expect([(await browser.visit(KEY())).status, await api(`/keys/${keyId}`)]).toEqual([200, 200]);
  });

  test("has gone while it was asked, or says that it cannot say", async () => {
    for (const answer of ["away", "temporarily_unavailable", "server_error"]) {
      browser.forget(harness.url);
      await signInAs("ann");
      await ageOnly(11);
      const { url } = await browser.visit(KEY(), undefined, at("/callback"));
      const callback = new URL(url);
      if (answer === "away") provider.setAway(true);
      else {
        const state = callback.searchParams.get("state") ?? "";
        callback.search = new URLSearchParams({ error: answer, iss: provider.url, state }).toString();
      }
      const page = await browser.visit(callback.href);
      provider.setAway(false);
      expect([answer, page.status, page.url]).toEqual([answer, 200, KEY()]);
      expect(browser.cookieNames(harness.url)).toEqual(["keyplane_session", "keyplane_renewal_put_off"]);
    }
  });
});

describe("b117: A session is not renewed", () => {
  test("while the issuer does not answer, which a page says, and opens nothing", async () => {
    await signInAs("ann");
    await age(16);
    provider.setAway(true);
    const page = await browser.visit(KEY());
    expect([page.status, await api(`/keys/${keyId}`)]).toEqual([503, 401]);
    expect(page.text).toContain("The issuer does not answer");
    expect(page.text).toContain("15 minutes");
    provider.setAway(false);
    for (const { clock } of [harness, other]) clock.advance(5_000);
    expect((await browser.visit(KEY())).url).toBe(KEY());
    expect(await api(`/keys/${keyId}`)).toBe(200);
  });

  test("for who has signed out at the issuer: they come to its sign-in, and from there back", async () => {
    await signInAs("ann");
    await age(16);
    browser.forget(provider.url);
    const form = await browser.visit(KEY());
    expect(form.url.startsWith(provider.url)).toBe(true);
    expect(await api(`/keys/${keyId}`)).toBe(401);
    const back = await provider.logIn(browser, form, "ann");
    expect([back.status, back.url]).toEqual([200, KEY()]);
  });

  test("for another person at the issuer: it ends, and they have their own", async () => {
    await signInAs("ann");
    const [secret, digest] = [secretOf(), digestOf()];
    await age(16);
    browser.forget(provider.url);
    await provider.logIn(browser, await browser.visit(KEY()), "bob");
    expect(secretOf()).not.toBe(secret);
    const { rows } = await sql`select subject from sessions
      where digest in (${Buffer.from(digest, "latin1")}, ${Buffer.from(digestOf(), "latin1")})`.execute(store.db);
    expect(rows).toEqual([{ subject: "bob" }]);
  });

  test("by what another person at the issuer says, in silence", async () => {
    provider.setGroups("bob", ["platform"]);
    await signInAs("ann");
    const ann = openBrowser();
    ann.setCookie(harness.url, "keyplane_session", secretOf());
    browser.forget(harness.url);
    browser.forget(provider.url);
    await signInAs("bob");
    // Bob's browser at the issuer, with the session of Ann.
    await age(16, ann);
    browser.setCookie(harness.url, "keyplane_session", secretOf(ann));
    await browser.visit(KEY());
    expect(secretOf()).not.toBe(secretOf(ann));
    const [row] = (
      await sql`select 1 from sessions where subject = 'ann' and 'platform' = any(groups)`.execute(store.db)
    ).rows;
    expect(row).toBeUndefined();
  });

  test("where it has ended meanwhile: it does not come back to life", async () => {
    await signInAs("ann");
    const [secret, digest] = [secretOf(), digestOf()];
    await age(16);
    const { url: callback } = await browser.visit(KEY(), undefined, at("/callback"));
    await endSession(store.db, digest);
    await browser.ask(callback);
    const dead = openBrowser();
    dead.setCookie(harness.url, "keyplane_session", secret);
    expect((await dead.ask(KEY())).status).toBe(303);
    expect(
      await sql`select 1 from sessions where digest = ${Buffer.from(digest, "latin1")}`.execute(store.db),
    ).toMatchObject({
      rows: [],
    });
  });

  test("so that a revoked subject is let in again: that takes another sign-in", async () => {
    const subject = unique("carl");
    const own = await makeTeam(store, { members: [{ role: "admin", kind: "subject", value: subject }] });
    await signInAs(subject);
    expect(await api(`/teams/${own.teamId}`)).toBe(200);
    await sql`insert into revoked_subjects (team_id, subject) values (${own.teamId}, ${subject})`.execute(store.db);
    await age(16);
    expect((await browser.visit(at("/keys"))).url).toBe(at("/keys"));
    expect([await api("/keys"), await api(`/teams/${own.teamId}`)]).toEqual([200, 404]);
  });

  test("and need not be, where it is of a one-time link, which has no issuer", async () => {
    const { cookie } = await signIn(store);
    browser.setCookie(harness.url, "keyplane_session", cookie.replace("keyplane_session=", ""));
    await age(7 * 60);
    expect([(await browser.ask(KEY())).status, await api(`/keys/${keyId}`)]).toEqual([200, 200]);
  });

  test("by an issuer that has said no", async () => {
    await signInAs("ann");
    await age(16);
    const { url } = await browser.visit(KEY(), undefined, at("/callback"));
    const callback = new URL(url);
    callback.search = new URLSearchParams({
      ...{ error: "access_denied", iss: provider.url, state: callback.searchParams.get("state") ?? "" },
    }).toString();
    expect((await browser.ask(callback.href)).status).toBe(401);
    expect(await api(`/keys/${keyId}`)).toBe(401);
  });
});
