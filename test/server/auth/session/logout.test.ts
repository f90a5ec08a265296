import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONSOLE } from "../../../../server/auth/session/return-to.ts";
import { sessionRoutes } from "../../../../server/auth/session/routes.ts";
import { secretDigest } from "../../../../server/auth/session/secret.ts";
import type { Store } from "../../../../store/database/store.ts";
import { findSession } from "../../../../store/sessions/sessions.ts";
import { openMigrated } from "../../../env/database/engines.ts";
import { until } from "../../../env/until.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { sendRaw } from "../../raw-http.ts";
import { openBrowser } from "./browser.ts";
import { CLIENT_SECRET, startProvider, type TestProvider } from "./provider.ts";
import { signIn } from "./sign-in.ts";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

let store: Store;
let folder: string;
let harness: Harness;
let provider: TestProvider;
let stranger: TestProvider;

beforeAll(async () => {
  store = await openMigrated();
  folder = await mkdtemp(join(tmpdir(), "keyplane-logout-"));
  const secretFile = join(folder, "secret");
  await writeFile(secretFile, CLIENT_SECRET);
  [provider, stranger] = [await startProvider(), await startProvider()];
  harness = await startHarness({
    mounts: [{ at: CONSOLE, routes: sessionRoutes }],
    store,
    config: {
      oidc: { issuers: [provider.url], audience: "keyplane", adminGroups: [] },
      consoleClients: [{ issuer: provider.url, clientId: provider.clientId, secretFile }],
    },
  });
  harness.clock.set(Date.now());
  provider.open(harness.url);
});
afterAll(async () => {
  await harness.close();
  for (const one of [provider, stranger]) one.close();
  await store.close();
  await rm(folder, { recursive: true });
});

async function sendLogout(token: string, field = "logout_token"): Promise<number> {
  const answer = await fetch(`${harness.url}${CONSOLE}/backchannel-logout`, {
    method: "POST",
    body: new URLSearchParams({ [field]: token }),
  });
  await answer.text();
  return answer.status;
}

const begin = (subject: string, sid: string | null = null, issuer = provider.url) =>
  signIn(store, { person: { issuer, subject, groups: [] }, sid });
const isThere = async ({ digest }: { readonly digest: string }) => (await findSession(store.db, digest)) !== undefined;

describe("b66: An issuer's report that a person has signed out", () => {
  test("ends the session that it names, or all of the subject", async () => {
    const [one, two, other] = [await begin("ann", "s1"), await begin("ann", "s2"), await begin("bob", "s3")];
    const elsewhere = await begin("ann", "s1", "https://other.example");
    expect(await sendLogout(await provider.logoutToken({ sid: "s1" }))).toBe(200);
    expect([await isThere(one), await isThere(two), await isThere(elsewhere)]).toEqual([false, true, true]);
    expect(await sendLogout(await provider.logoutToken({ sub: "ann" }))).toBe(200);
    expect([await isThere(two), await isThere(other), await isThere(elsewhere)]).toEqual([false, true, true]);
    const ended = await store.db
      .selectFrom("audit_events")
      .select("actor")
      .where("kind", "=", "session.ended")
      .execute();
    expect(ended).toEqual([{ actor: provider.url }, { actor: provider.url }]);
  });

  test("is heard once for each token", async () => {
    const token = await provider.logoutToken({ sub: "ann" });
    expect(await sendLogout(token)).toBe(200);
    const later = await begin("ann");
    expect(await sendLogout(token)).toBe(400);
    expect(await isThere(later)).toBe(true);
  });

  test("is refused with a token that is for another use or another audience, or old", async () => {
    const session = await begin("ann", "s1");
    const wrong: Record<string, unknown>[] = [
      ...[
        { sub: "ann", aud: "another" },
        { sub: "ann", iss: "https://other.example" },
        { sub: "ann", nonce: "n" },
      ],
      ...[{}, { sub: "" }, { sub: 7 }, { sid: 7 }, { sub: "ann", sid: "" }],
      ...[
        { sub: "ann", events: {} },
        { sub: "ann", events: { [EVENT]: 1 } },
        { sub: "ann", events: undefined },
      ],
      ...[
        { sub: "ann", jti: undefined },
        { sub: "ann", jti: "" },
        { sub: "ann", iat: undefined },
      ],
      ...[{ sub: "ann", exp: Math.floor(Date.now() / 1_000) - 100 }],
    ];
    for (const claims of wrong)
      expect([claims, await sendLogout(await provider.logoutToken(claims))]).toEqual([claims, 400]);
    const minutes = (count: number) => Date.now() + count * 60_000;
    for (const at of [minutes(-10), minutes(10)]) {
      expect(await sendLogout(await provider.logoutToken({ sub: "ann" }, at))).toBe(400);
    }
    const forged = await stranger.logoutToken({ iss: provider.url, sub: "ann" });
    const [, claims = ""] = (await provider.logoutToken({ sub: "ann" })).split(".");
    const unsigned = ["none", "None", "HS256"].map((alg) => {
      const header = Buffer.from(JSON.stringify({ alg, kid: "k", typ: "logout+jwt" })).toString("base64url");
      return `${header}.${claims}.`;
    });
    for (const text of [forged, ...unsigned, "", "a.b.c", "x".repeat(10_000)]) expect(await sendLogout(text)).toBe(400);
    expect(await sendLogout(await provider.logoutToken({ sub: "ann" }), "another_field")).toBe(400);
    expect(await isThere(session)).toBe(true);
  });

  test("is heard when people sign out at the issuer itself", async () => {
    const browser = openBrowser();
    const form = await browser.visit(`${harness.url}${CONSOLE}/sign-in?issuer=${encodeURIComponent(provider.url)}`);
    // There is no page behind it in this server.
    await provider.logIn(browser, form, "carl");
    const digest = secretDigest(browser.cookie(harness.url, "keyplane_session") ?? "") ?? "";
    expect(await isThere({ digest })).toBe(true);
    const out = await browser.visit(`${provider.url}/session/end?client_id=${provider.clientId}`);
    const [, xsrf = ""] = /name="xsrf" value="([^"]+)"/.exec(out.text) ?? [];
    await browser.visit(`${provider.url}/session/end/confirm`, { xsrf, logout: "yes" });
    await until("the session has ended", async () => !(await isThere({ digest })));
  });
});

test("A body that is larger than any logout token is not waited for, whatever its sender", async () => {
  const head = [
    `POST ${CONSOLE}/backchannel-logout HTTP/1.1`,
    `Host: localhost:${harness.port}`,
    "Content-Type: application/x-www-form-urlencoded",
  ];
  for (const framing of [
    "Content-Length: 1000000\r\n\r\na",
    `Transfer-Encoding: chunked\r\n\r\n5000\r\n${"a".repeat(0x5000)}`,
  ])
    expect((await sendRaw(harness.port, [...head, framing].join("\r\n"))).status).toBe(413);
});

test("b110: Bodies that callers without a credential hold back hold bounded memory, and keep no logout out", async () => {
  const session = await begin("ann");
  const statuses: string[] = [];
  const heldBack = Array.from({ length: 6 }, () => {
    const socket = connect(harness.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.on("data", (answer) => statuses.push(answer.toString("latin1").slice(9, 12)));
    socket.write(`POST ${CONSOLE}/backchannel-logout HTTP/1.1\r\nHost: localhost:${harness.port}\r\n`);
    socket.write("Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n");
    // Each byte is held in a buffer of its own: these are 8 MiB.
    socket.write("1\r\na\r\n".repeat(16_000));
    return socket;
  });
  await until("those that came first have made room", () => statuses.length >= 4);
  expect(new Set(statuses)).toEqual(new Set(["503"]));
  expect(await sendLogout(await provider.logoutToken({ sub: "ann" }))).toBe(200);
  expect(await isThere(session)).toBe(false);
  for (const socket of heldBack) socket.destroy();
});

test("A logout token while the issuer's keys cannot be had is not taken, and may come again", async () => {
  const session = await begin("ann");
  const token = await provider.logoutToken({ sub: "ann" });
  harness.clock.advance(11 * 60_000);
  harness.clock.set(Date.now());
  provider.setAway(true);
  expect(await sendLogout(token)).toBe(503);
  provider.setAway(false);
  harness.clock.advance(31_000);
  expect(await sendLogout(token)).toBe(200);
  expect(await isThere(session)).toBe(false);
});
