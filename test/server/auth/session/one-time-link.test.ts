import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RoutePlugin } from "../../../../server/app.ts";
import { managementToken } from "../../../../server/auth/management/management-token.ts";
import { CONSOLE } from "../../../../server/auth/session/return-to.ts";
import { sessionRoutes } from "../../../../server/auth/session/routes.ts";
import { makeSecret } from "../../../../server/auth/session/secret.ts";
import { managementRoutes } from "../../../../server/management/routes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { openMigrated } from "../../../env/database/engines.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { sendRaw } from "../../raw-http.ts";
import { openBrowser } from "./browser.ts";
import { ownPage, signIn } from "./sign-in.ts";

const TOKEN = "kpt_the-token-of-this-installation";

let store: Store;
let harness: Harness;
let other: Harness;

const pages: RoutePlugin = (app) => {
  app.get("/", { config: { console: true } }, ({ managementPrincipal }) => ({ ...managementPrincipal }));
};

async function start(role: "everything" | "bootstrap" = "everything", on = store): Promise<Harness> {
  return startHarness({
    mounts: [
      { at: CONSOLE, routes: sessionRoutes },
      { at: CONSOLE, routes: pages },
      { at: "/api/v1", routes: managementRoutes },
    ],
    store: on,
    managementToken: managementToken("bootstrap-token", TOKEN, role),
  });
}

beforeAll(async () => {
  store = await openMigrated();
  [harness, other] = [await start(), await start()];
});
afterAll(async () => {
  await Promise.all([harness.close(), other.close()]);
  await store.close();
});

async function ask(headers: Readonly<Record<string, string>>, at = harness) {
  const answer = await fetch(`${at.url}/api/v1/console-links`, { method: "POST", headers });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

async function makeLink(at = harness): Promise<string> {
  const { status, body } = await ask({ authorization: `Bearer ${TOKEN}` }, at);
  expect(status).toBe(201);
  return body.url;
}

describe("A one-time link", () => {
  test("signs in the person who opens it, as the installation's own, and leaves the address", async () => {
    const link = await makeLink();
    const browser = openBrowser();
    const answer = await browser.ask(link);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/dashboard/"]);
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const page = await browser.ask(`${harness.url}${CONSOLE}/`);
    expect(JSON.parse(page.text)).toMatchObject({ actor: "console-link", as: "everything" });
    const kinds = await store.db.selectFrom("audit_events").select(["kind", "actor"]).orderBy("id").execute();
    expect(kinds).toEqual([
      { kind: "console_link.made", actor: "bootstrap-token" },
      { kind: "session.begun", actor: "console-link" },
    ]);
  });

  test("works once, on whichever replica, and for one of many at once", async () => {
    const link = await makeLink();
    const there = link.replace(harness.url, other.url);
    const answers = await Promise.all([link, there, link, there].map((url) => openBrowser().ask(url)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401]);
    const late = openBrowser();
    const again = await late.ask(link);
    expect(again.status).toBe(401);
    expect(again.text).toContain("This link is no longer valid");
    expect(again.text).toContain(`<code>keyplane console --server ${harness.url} --token-file bootstrap-token</code>`);
    expect(late.cookie(harness.url, "keyplane_session")).toBeUndefined();
  });

  test("of an embedded server is made by the command that it was started by, which those at another host are not shown", async () => {
    const publicUrl = new URL("https://keys.example.com");
    const command = "/opt/node /home/ann/cli/main.ts console --data '/home/ann/my data'";
    const embedded = await startHarness({
      mounts: [{ at: CONSOLE, routes: (app, deps) => sessionRoutes(app, { ...deps, linkCommand: command }) }],
      ...{ store, config: { publicUrl } },
    });
    const shownTo = async (host: string) => {
      const { body } = await sendRaw(
        embedded.port,
        `GET ${CONSOLE}/sign-in HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      return /<code>(.*)<\/code>/.exec(body)?.[1]?.replaceAll("&#39;", "'");
    };
    const shown = [];
    for (const host of [`127.0.0.1:${embedded.port}`, `localhost:${embedded.port}`, "keys.example.com"]) {
      shown.push(await shownTo(host));
    }
    await embedded.close();
    const elsewhere = "keyplane console --server https://keys.example.com --token-file bootstrap-token";
    expect(shown).toEqual([command, command, elsewhere]);
  });

  test("is over after ten minutes, by the database's clock", async () => {
    const { body } = await ask({ authorization: `Bearer ${TOKEN}` });
    const left = Date.parse(body.expiresAt) - Date.now();
    expect(left).toBeGreaterThan(5 * 60_000);
    expect(left).toBeLessThan(11 * 60_000);
    await sql`update sign_in_links set expires_at = clock_timestamp() - interval '1 second'`.execute(store.db);
    expect((await openBrowser().ask(body.url)).status).toBe(401);
  });

  test("that was never made is none", async () => {
    for (const secret of ["", "x", "x".repeat(43), harness.addKey(), TOKEN]) {
      const answer = await openBrowser().ask(
        `${harness.url}${CONSOLE}/sign-in?${new URLSearchParams({ link: secret })}`,
      );
      expect([secret, answer.status]).toEqual([secret, 401]);
    }
  });

  test("b87: and a session that are made up take no turn of those who are known", async () => {
    const asked: string[] = [];
    const db = store.db.withPlugin({
      transformQuery({ node }) {
        asked.push(node.kind);
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const watched = await start("everything", { ...store, db });
    try {
      const madeUp = makeSecret();
      const link = `${watched.url}${CONSOLE}/sign-in?link=${madeUp}`;
      expect((await openBrowser().ask(link)).status).toBe(401);
      const headers = { cookie: `keyplane_session=${madeUp}` };
      const page = await fetch(`${watched.url}${CONSOLE}/`, { headers, redirect: "manual" });
      expect([page.status, asked]).toEqual([303, []]);
    } finally {
      await watched.close();
    }
  });

  test("is in no log, nor is what its session's cookie holds", async () => {
    const link = await makeLink();
    const browser = openBrowser();
    for (const _ of [1, 2]) await browser.ask(link);
    const seen = [...harness.lines, JSON.stringify(harness.refused)].join("\n");
    expect(seen).not.toContain(new URL(link).searchParams.get("link"));
    expect(seen).not.toContain(browser.cookie(harness.url, "keyplane_session"));
    const audit = await store.db.selectFrom("audit_events").selectAll().execute();
    expect(JSON.stringify(audit)).not.toContain(new URL(link).searchParams.get("link"));
  });

  test("is made by the installation's token alone: no session prolongs itself", async () => {
    expect((await ask(ownPage(harness, await signIn(store)))).status).toBe(403);
    expect((await ask({})).status).toBe(401);
    expect((await ask({ "x-api-key": harness.addKey() })).status).toBe(401);
  });

  test("is neither made nor taken where the token may less", async () => {
    const link = await makeLink();
    const bounded = await start("bootstrap");
    try {
      expect((await ask({ authorization: `Bearer ${TOKEN}` }, bounded)).status).toBe(403);
      expect((await openBrowser().ask(link.replace(harness.url, bounded.url))).status).toBe(401);
      const { cookie } = await signIn(store);
      const page = await fetch(`${bounded.url}${CONSOLE}/`, { headers: { cookie }, redirect: "manual" });
      expect(page.status).toBe(303);
    } finally {
      await bounded.close();
    }
  });
});
