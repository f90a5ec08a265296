import { once } from "node:events";
import { request } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memoryRoutes } from "../../../../memory/rest/routes.ts";
import type { RoutePlugin } from "../../../../server/app.ts";
import { managementToken } from "../../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../../server/management/routes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { endSession } from "../../../../store/sessions/sessions.ts";
import { openMigrated } from "../../../env/database/engines.ts";
import { makeTeam, unique } from "../../../store/fixtures.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { requestHead, sendRaw } from "../../raw-http.ts";
import { withoutRequestIds } from "../../request-ids.ts";
import { type Browser, ownPage, signIn } from "./sign-in.ts";

const TOKEN = "kpt_the-token-of-this-installation";
const ISSUER = "https://id.example";
const PERSON = { issuer: ISSUER, subject: "ann", groups: ["leads"] };

let store: Store;
let harness: Harness;
/** Another replica on the same database. */
let other: Harness;
let team: Awaited<ReturnType<typeof makeTeam>>;

/** Pages as the console has them. */
const pages: RoutePlugin = (app) => {
  app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, text, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(text)))),
  );
  app.get("/keys", { config: { console: true } }, ({ managementPrincipal, session }) => ({
    actor: managementPrincipal?.actor,
    ...session,
  }));
  app.post("/keys", { config: { console: true } }, () => ({ done: true }));
};

beforeAll(async () => {
  store = await openMigrated();
  const start = () =>
    startHarness({
      mounts: [
        { at: "", routes: memoryRoutes },
        { at: "/api/v1", routes: managementRoutes },
        { at: "/dashboard", routes: pages },
      ],
      store,
      managementToken: managementToken("bootstrap-token", TOKEN),
      config: { oidc: { issuers: [ISSUER], audience: "keyplane", adminGroups: ["platform"] } },
    });
  [harness, other] = [await start(), await start()];
  team = await makeTeam(store, { members: [{ role: "member", kind: "group", value: "leads" }] });
});
afterAll(async () => {
  await Promise.all([harness.close(), other.close()]);
  await store.close();
});

type SendOptions = { readonly at?: Harness; readonly method?: string; readonly body?: string; readonly type?: string };

async function send(
  path: string,
  headers: Record<string, string>,
  { at = harness, method, body, type }: SendOptions = {},
) {
  const answer = await fetch(`${at.url}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    redirect: "manual",
    headers: { ...(body === undefined ? {} : { "content-type": type ?? "application/json" }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: text.startsWith("{") ? JSON.parse(text) : {} };
}
const FORM = "application/x-www-form-urlencoded";
const keyBody = () => JSON.stringify({ name: unique("key"), team: team.name, spec: { preset: "MCPReadOnly" } });

describe("A session", () => {
  test("opens the management API with the rights of the person, as a JWT of the same one does", async () => {
    const ann = await signIn(store, { person: PERSON });
    expect((await send("/api/v1/keys", { cookie: ann.cookie })).status).toBe(200);
    const made = await send("/api/v1/keys", ownPage(harness, ann), { body: keyBody() });
    expect(made.status).toBe(201);
    expect((await send("/api/v1/teams", ownPage(harness, ann), { body: '{"name":"x","spec":{}}' })).status).toBe(403);
    const audit = await store.db
      .selectFrom("audit_events")
      .select("actor")
      .where("key_id", "=", made.body.id)
      .execute();
    expect(new Set(audit.map(({ actor }) => actor))).toEqual(new Set([`${ISSUER}#ann`]));
  });

  test("of a member of an admin group is the installation's own, as is one of a one-time link", async () => {
    for (const person of [{ ...PERSON, groups: ["platform"] }, null]) {
      const browser = await signIn(store, { person });
      const body = JSON.stringify({ name: unique("team"), spec: {} });
      expect((await send("/api/v1/teams", ownPage(harness, browser), { body })).status).toBe(201);
    }
  });

  test("b66: that was ended is refused with the next request on every replica, as is one at its end", async () => {
    const [ended, over] = [await signIn(store, { person: PERSON }), await signIn(store, { person: PERSON })];
    for (const at of [harness, other])
      expect((await send("/api/v1/keys", { cookie: ended.cookie }, { at })).status).toBe(200);
    await endSession(store.db, ended.digest);
    await sql`update sessions set expires_at = now() where digest = ${Buffer.from(over.digest, "latin1")}`.execute(
      store.db,
    );
    for (const at of [harness, other]) {
      for (const { cookie } of [ended, over]) {
        expect((await send("/api/v1/keys", { cookie }, { at })).status).toBe(401);
        expect((await send("/dashboard/keys", { cookie }, { at })).status).toBe(303);
      }
    }
  });

  test("b66: of a person who was removed from the team opens nothing of it from the next request on", async () => {
    const left = await makeTeam(store, { members: [{ role: "member", kind: "subject", value: "bob" }] });
    const bob = await signIn(store, { person: { ...PERSON, subject: "bob", groups: [] } });
    const make = (at: Harness) =>
      send("/api/v1/keys", ownPage(at, bob), { at, body: keyBody().replace(team.name, left.name) });
    for (const at of [harness, other]) expect((await make(at)).status).toBe(201);
    await sql`delete from team_members where team_id = ${left.teamId}`.execute(store.db);
    for (const at of [harness, other]) expect((await make(at)).status).toBe(422);
  });

  test("of an issuer that is configured no more is none", async () => {
    const { cookie } = await signIn(store, { person: { ...PERSON, issuer: "https://old.example" } });
    expect((await send("/api/v1/keys", { cookie })).status).toBe(401);
  });

  test("b66: that ends while its body is waited for changes nothing", async () => {
    const ann = await signIn(store, { person: PERSON });
    const body = keyBody();
    const call = request(`${harness.url}/api/v1/keys`, {
      method: "POST",
      headers: {
        ...ownPage(harness, ann),
        ...{ "content-type": "application/json", "content-length": body.length, expect: "100-continue" },
      },
    });
    const answered = once(call, "response");
    call.flushHeaders();
    await once(call, "continue");
    await endSession(store.db, ann.digest);
    call.end(body);
    const [{ statusCode }] = await answered;
    expect(statusCode).toBe(401);
  });
});

describe("b10, b11: What opens one thing does not open another", () => {
  let ann: Browser;
  beforeAll(async () => {
    ann = await signIn(store, { person: PERSON });
  });

  test("a session opens no route of a key", async () => {
    const secret = ann.cookie.replace("keyplane_session=", "");
    for (const headers of [{ cookie: ann.cookie }, { "x-api-key": secret }, { authorization: `Bearer ${secret}` }]) {
      expect((await send("/atoms", headers)).status).toBe(401);
    }
  });

  test("a session changes no decision about a key", async () => {
    const [good, ended] = [harness.addKey(), harness.addKey({ state: "revoked" })];
    for (const [key, path] of [
      [good, "/atoms/x"],
      [ended, "/atoms/x"],
      [good, "/nowhere"],
    ] as const) {
      const [alone, beside] = [
        await send(path, { "x-api-key": key }),
        await send(path, { "x-api-key": key, cookie: ann.cookie }),
      ];
      expect(withoutRequestIds([beside.status, beside.text])).toEqual(withoutRequestIds([alone.status, alone.text]));
    }
  });

  test("an API key, or a token, in the session's cookie is none", async () => {
    for (const secret of [harness.addKey(), TOKEN, "", "x".repeat(43), `${"x".repeat(42)}%`]) {
      expect((await send("/api/v1/keys", { cookie: `keyplane_session=${secret}` })).status).toBe(401);
      expect((await send("/dashboard/keys", { cookie: `keyplane_session=${secret}` })).status).toBe(303);
    }
  });

  test("a session beside any other credential is not looked at", async () => {
    const secret = ann.cookie.replace("keyplane_session=", "");
    const beside: Record<string, string>[] = [
      { authorization: `Bearer ${secret}` },
      { authorization: "Basic YTpi" },
      { authorization: `Bearer ${harness.addKey()}` },
      { "x-api-key": harness.addKey() },
      { "x-goog-api-key": "x" },
    ];
    for (const headers of beside) {
      expect((await send("/api/v1/keys", { cookie: ann.cookie, ...headers })).status).toBe(401);
    }
    expect((await send(`/api/v1/keys?key=${harness.addKey()}`, { cookie: ann.cookie })).status).toBe(401);
  });

  test("the installation's token opens the management API, and no page", async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await send("/api/v1/keys", headers)).status).toBe(200);
    expect((await send("/dashboard/keys", headers)).status).toBe(401);
    expect((await send("/dashboard/keys", headers, { body: "", type: FORM })).status).toBe(401);
  });

  test("a page that is asked for with any other credential does not lead round by the sign-in and back", async () => {
    const { cookie } = ann;
    for (const headers of [{ authorization: "Basic YTpi" }, { "x-api-key": "x" }])
      expect((await send("/dashboard/keys", { cookie, ...headers })).status).toBe(401);
    const { status, headers, text } = await send("/dashboard/keys?key=x", { cookie });
    expect([status, headers.get("location")]).toEqual([401, null]);
    expect(text).toContain("another credential");
  });

  test("two cookies of the session's name are none", async () => {
    expect((await send("/api/v1/keys", { cookie: `${ann.cookie}; ${ann.cookie}` })).status).toBe(401);
    expect((await send("/api/v1/keys", { cookie: `a=b; ${ann.cookie} ; c=d` })).status).toBe(200);
  });
});

describe("b65: A change by a session", () => {
  let ann: Browser;
  beforeAll(async () => {
    ann = await signIn(store, { person: PERSON });
  });
  const form = (fields: Record<string, string>) => ({ body: String(new URLSearchParams(fields)), type: FORM });

  test("needs our own Origin", async () => {
    const { origin: _, ...noOrigin } = ownPage(harness, ann);
    for (const origin of ["https://evil.test", "null", other.url]) {
      const refused = await send("/api/v1/keys", { ...noOrigin, origin }, { body: keyBody() });
      expect([origin, refused.status, refused.body.code]).toEqual([origin, 403, "forbidden_origin"]);
    }
    for (const site of ["cross-site", "same-site", "none", undefined]) {
      const headers = site === undefined ? noOrigin : { ...noOrigin, "sec-fetch-site": site };
      expect([site, (await send("/api/v1/keys", headers, { body: keyBody() })).status]).toEqual([site, 403]);
    }
    const same = { ...noOrigin, "sec-fetch-site": "same-origin" };
    expect((await send("/api/v1/keys", same, { body: keyBody() })).status).toBe(201);
  });

  test("needs the session's own token, in the header or in the form", async () => {
    const { "x-csrf-token": token, ...headers } = ownPage(harness, ann);
    const others = (await signIn(store, { person: PERSON })).csrfToken;
    for (const wrong of [others, "", token.slice(1), `${token}x`, ann.cookie]) {
      const presented = { ...headers, "x-csrf-token": wrong };
      expect((await send("/api/v1/keys", presented, { body: keyBody() })).status).toBe(403);
      // A wrong header is not made good by the form.
      expect((await send("/dashboard/keys", presented, form({ _csrf: token }))).status).toBe(403);
      expect((await send("/dashboard/keys", headers, form({ _csrf: wrong }))).status).toBe(403);
    }
    expect((await send("/dashboard/keys", headers, form({}))).status).toBe(403);
    expect((await send("/dashboard/keys", headers, form({ _csrf: token }))).status).toBe(200);
    expect((await send("/dashboard/keys", { ...headers, "x-csrf-token": token }, form({}))).status).toBe(200);
  });

  test("needs it without a body too, and with one that turns out to be none", async () => {
    const { "x-csrf-token": _, ...headers } = ownPage(harness, ann);
    expect((await send("/api/v1/keys/key_a", headers, { method: "DELETE" })).status).toBe(403);
    expect((await send("/api/v1/keys/key_a/revoke", headers, { method: "POST" })).status).toBe(403);
    const chunked = requestHead("POST /api/v1/keys/key_a/revoke HTTP/1.1", [
      ...[`Cookie: ${ann.cookie}`, `Origin: ${harness.url}`],
      ...["Content-Type: application/json", "Transfer-Encoding: chunked", "Connection: close"],
    ]).replace("Host: localhost", `Host: 127.0.0.1:${harness.port}`);
    expect((await sendRaw(harness.port, `${chunked}0\r\n\r\n`)).status).toBe(403);
  });

  test("of a token needs neither: no browser adds a token by itself", async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, origin: "https://evil.test" };
    expect((await send("/api/v1/keys", headers, { body: keyBody() })).status).toBe(201);
  });
});

describe("A page of the console", () => {
  test("knows who it is for, and what its forms carry", async () => {
    const ann = await signIn(store, { person: PERSON, displayName: "Ann <b>" });
    const { body } = await send("/dashboard/keys", { cookie: ann.cookie });
    expect(body).toMatchObject({ actor: `${ISSUER}#ann`, displayName: "Ann <b>", csrfToken: ann.csrfToken });
  });

  test("without a session leads to the sign-in, and from there back to itself", async () => {
    const answer = await send("/dashboard/keys?q=a%20b&page=2", {});
    expect(answer.status).toBe(303);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const to = new URL(answer.headers.get("location") ?? "", harness.url);
    expect(to.pathname).toBe("/dashboard/sign-in");
    expect(to.searchParams.get("returnTo")).toBe("/dashboard/keys?q=a%20b&page=2");
  });

  test("without a session refuses a change, and directs htmx to the sign-in", async () => {
    for (const answer of [
      await send("/dashboard/keys", {}, { body: "a=b", type: FORM }),
      await send("/dashboard/keys", { "hx-request": "true" }),
    ]) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get("hx-redirect")).toBe("/dashboard/sign-in");
    }
  });
});
