import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { managementToken } from "../../../../server/auth/management/management-token.ts";
import { CONSOLE } from "../../../../server/auth/session/return-to.ts";
import { consoleRoutes } from "../../../../server/console/routes.ts";
import { managementRoutes } from "../../../../server/management/routes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { openMigrated } from "../../../env/database/engines.ts";
import { makeTeam, reserveKey, unique } from "../../../store/fixtures.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { type Issuer, makeSigner, type Signer, sign, startIssuer } from "../../management/issuer.ts";
import { type Browser, ownPage, signIn } from "./sign-in.ts";

const TOKEN = "kpt_the-token-of-this-installation";
const MINUTE = 60_000;

let store: Store;
let issuer: Issuer;
let signer: Signer;
let harness: Harness;
/** Another replica on the same database. */
let other: Harness;
let mine: Awaited<ReturnType<typeof makeTeam>>;
let another: Awaited<ReturnType<typeof makeTeam>>;
let subject: string;

beforeAll(async () => {
  store = await openMigrated();
  signer = await makeSigner("k");
  issuer = await startIssuer();
  issuer.keys = [signer.jwk];
  const start = () =>
    startHarness({
      mounts: [
        { at: "/api/v1", routes: managementRoutes },
        { at: CONSOLE, routes: consoleRoutes },
      ],
      store,
      managementToken: managementToken("bootstrap-token", TOKEN),
      config: { oidc: { issuers: [issuer.url], audience: "keyplane", adminGroups: ["platform"] } },
    });
  [harness, other] = [await start(), await start()];
});
beforeEach(async () => {
  subject = unique("ann");
  for (const { clock } of [harness, other]) clock.set(Date.now());
  const members = [
    { role: "admin", kind: "subject", value: subject } as const,
    { role: "member", kind: "group", value: "leads" } as const,
  ];
  [mine, another] = [await makeTeam(store, { members }), await makeTeam(store, { members })];
});
afterAll(async () => {
  await Promise.all([harness.close(), other.close()]);
  issuer.close();
  await store.close();
});

type Credential = Readonly<Record<string, string>>;
type AskOptions = { readonly at?: Harness; readonly method?: string; readonly body?: object };

async function ask(path: string, credential: Credential, { at = harness, body, method }: AskOptions = {}) {
  const answer = await fetch(`${at.url}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    redirect: "manual",
    headers: { ...credential, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, body: text.startsWith("{") ? JSON.parse(text) : {} };
}

const installation = { authorization: `Bearer ${TOKEN}` };
const person = () => ({ issuer: issuer.url, subject, groups: ["leads"] });
const begin = () => signIn(store, { person: person() });
const bySession = (browser: Browser, at = harness) => ownPage(at, browser);
const byToken = async (claims: object = {}, now = harness.clock.now()) => ({
  authorization: `Bearer ${await sign(issuer, signer, now, { claims: { sub: subject, groups: ["leads"], ...claims } })}`,
});
const keyOf = ({ name }: { readonly name: string }) => ({
  ...{ name: unique("key"), team: name, spec: { preset: "MCPReadOnly" } },
});
const revoke = async (whose = subject, team = mine) => {
  const done = await ask(`/api/v1/teams/${team.teamId}/revoked-subjects`, installation, { body: { subject: whose } });
  expect(done.status).toBe(200);
  return done;
};

/** What a credential gets of a team, looking and changing: the statuses of both, and whether a list has the team. */
async function reach(credential: Credential, team: typeof mine, at = harness) {
  const { key } = await reserveKey(store, team);
  const looked = await ask(`/api/v1/keys/${key.id}`, credential, { at });
  const made = await ask("/api/v1/keys", credential, { at, body: keyOf(team) });
  const ended = await ask(`/api/v1/keys/${key.id}/revoke`, credential, { at, body: {} });
  const teams = (await ask("/api/v1/teams?limit=200", credential, { at })).text.includes(team.teamId);
  return [looked.status, made.status, ended.status, teams];
}
const ALL = [200, 201, 200, true];
/** As of a team that is another's. */
const NOTHING = [404, 422, 404, false];

describe("b117: Of a team that has revoked a subject", () => {
  test("their console session reads and changes nothing any more, on any replica, in the API and on pages", async () => {
    const ann = await begin();
    expect(await reach(bySession(ann), mine)).toEqual(ALL);
    await revoke();
    for (const at of [harness, other]) {
      expect(await reach(bySession(ann, at), mine, at)).toEqual(NOTHING);
      const page = await ask(`${CONSOLE}/teams/${mine.teamId}`, { cookie: ann.cookie }, { at });
      expect([page.status, page.text.includes(mine.name)]).toEqual([404, false]);
      const pages = await ask(`${CONSOLE}/keys`, { cookie: ann.cookie }, { at });
      expect([pages.status, pages.text.includes(mine.name)]).toEqual([200, false]);
    }
  });

  test("their JWTs that were issued until then open nothing of it, however they are a member", async () => {
    for (const names of [{ groups: [] }, { sub: unique("bob") }]) {
      const token = await byToken(names);
      const whose = "sub" in names ? names.sub : subject;
      const [, , , seen] = await reach(token, mine);
      expect(seen).toBe(true);
      await revoke(whose);
      for (const at of [harness, other]) expect(await reach(token, mine, at)).toEqual(NOTHING);
    }
  });

  test("what their sessions and JWTs open of other teams they open still, and those of others open it", async () => {
    const [ann, bob] = [await begin(), await signIn(store, { person: { ...person(), subject: unique("bob") } })];
    await revoke();
    expect(await reach(bySession(ann), another)).toEqual(ALL);
    expect(await reach(await byToken(), another)).toEqual(ALL);
    expect(await reach(bySession(bob), mine)).toEqual(ALL);
    expect(await reach(await byToken({ sub: unique("carl") }), mine)).toEqual(ALL);
  });

  test("a sign-in after it counts again: at once in the console, of JWTs a minute later", async () => {
    const before = await begin();
    await revoke();
    expect(await reach(bySession(await begin()), mine)).toEqual(ALL);
    expect(await reach(bySession(before), mine)).toEqual(NOTHING);
    // The issuer's clock may be off by a minute.
    const now = Date.now();
    harness.clock.set(now + 2 * MINUTE);
    expect(await reach(await byToken({}, now + MINUTE / 2), mine)).toEqual(NOTHING);
    expect(await reach(await byToken({}, now + 2 * MINUTE), mine)).toEqual(ALL);
  });

  test("a second revocation ends what was begun after the first", async () => {
    await revoke();
    const ann = await begin();
    await revoke();
    expect(await reach(bySession(ann), mine)).toEqual(NOTHING);
  });

  test("who manages the installation by an admin group goes on: they are no member", async () => {
    const root = await signIn(store, { person: { ...person(), groups: ["platform"] } });
    await revoke();
    expect(await reach(bySession(root), mine)).toEqual(ALL);
  });
});

test("b117: The keys that a revoked subject has made by hand are named, each that lives, and work on", async () => {
  const [ann, bob] = [await begin(), await signIn(store, { person: { ...person(), subject: unique("bob") } })];
  const make = async (by: Browser, team = mine) =>
    (await ask("/api/v1/keys", bySession(by), { body: keyOf(team) })).body;
  const [one, ended, taken, theirs] = [await make(ann), await make(ann), await make(bob), await make(bob)];
  await make(ann, another);
  await ask(`/api/v1/keys/${ended.id}/revoke`, bySession(ann), { body: {} });
  const version = async (id: string, by = ann, overlap = "1h") =>
    (await ask(`/api/v1/keys/${id}/versions`, bySession(by), { body: { overlap } })).body;
  const { prefix } = await version(taken.id);
  const overlapping = await make(bob);
  const { prefix: beforeLast } = await version(overlapping.id);
  await version(overlapping.id, bob);
  const [replaced, expired] = [await make(ann), await make(ann)];
  await version(replaced.id, bob, "0s");
  await sql`update keys set ends_at = clock_timestamp() where id = ${expired.id}`.execute(store.db);
  const named = ({ id, name }: { readonly id: string; readonly name: string }, of: string) => ({
    ...{ id, name, namespace: "", prefix: of },
  });
  const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);
  expect((await revoke()).body.keys).toEqual(
    [named(one, one.prefix), named(taken, prefix), named(overlapping, beforeLast)].sort(byId),
  );
  expect((await ask(`/api/v1/keys/${theirs.id}`, bySession(bob))).body.state).toBe("active");
  expect((await ask(`/api/v1/keys/${one.id}`, bySession(bob))).body.state).toBe("active");
});

describe("b117: A subject whose sessions are ended", () => {
  const end = (credential: Credential, body: object = { subject }) =>
    ask("/api/v1/ended-sessions", credential, { body });
  const isOpen = async ({ cookie }: Browser) => {
    const answers = await Promise.all([harness, other].map((at) => ask("/api/v1/keys", { cookie }, { at })));
    return answers.map(({ status }) => status === 200);
  };

  test("has none anywhere, by any issuer, in any team; all others go on, and the audit log says by whom", async () => {
    const [ann, elsewhere] = [await begin(), await begin()];
    await sql`update sessions set issuer = 'https://other.example'
      where digest = ${Buffer.from(elsewhere.digest, "latin1")}`.execute(store.db);
    const bob = await signIn(store, { person: { ...person(), subject: unique("bob") } });
    const link = await signIn(store);
    const { status, body } = await end(installation, { subject, reason: "lost" });
    expect([status, body]).toEqual([200, { ended: 2 }]);
    expect([await isOpen(ann), await isOpen(bob), await isOpen(link)]).toEqual([
      [false, false],
      [true, true],
      [true, true],
    ]);
    expect((await end(installation)).body).toEqual({ ended: 0 });
    const { rows } = await sql`select actor, detail->>'count' as count, detail->>'why' as why from audit_events
      where kind = 'session.ended' and detail->>'subject' = ${subject} order by id`.execute(store.db);
    expect(rows).toEqual([
      { actor: "bootstrap-token", count: "2", why: "lost" },
      { actor: "bootstrap-token", count: "0", why: null },
    ]);
    expect(await isOpen(await begin())).toEqual([true, true]);
  });

  test("is said to have had those that were open: one that was over, or came with a backup, let no one in", async () => {
    const [over, restored] = [await begin(), await begin()].map(({ digest }) => Buffer.from(digest, "latin1"));
    await sql`update sessions set expires_at = clock_timestamp() where digest = ${over}`.execute(store.db);
    await sql`update sessions set made_in = 1 where digest = ${restored}`.execute(store.db);
    await begin();
    expect((await end(installation)).body).toEqual({ ended: 1 });
    const { rows } = await sql`select from sessions where subject = ${subject}`.execute(store.db);
    expect(rows).toEqual([]);
  });

  test("has them ended by the installation's own alone, by the name that its tokens have", async () => {
    const ann = await begin();
    expect((await end(bySession(ann))).status).toBe(403);
    expect((await end(await byToken())).status).toBe(403);
    expect((await end(await byToken({ sub: unique("root"), groups: ["platform"] }))).body).toEqual({ ended: 1 });
    for (const wrong of [{}, { subject: "" }, { subject: `${issuer.url}#${subject}` }, { subject: "a\nb" }])
      expect((await end(installation, wrong)).status).toBe(400);
  });
});

describe("b117: A JWT that a revocation could not reach opens no management API", () => {
  const DAY = 24 * 60 * MINUTE;
  const status = async (claims: object) => (await ask("/api/v1/keys", await byToken(claims))).status;
  const seconds = (ms: number) => Math.floor((harness.clock.now() + ms) / 1_000);

  test("of the future, without a time, or older than revocations are kept", async () => {
    expect(await status({ iat: seconds(55_000) })).toBe(200);
    expect(await status({ iat: seconds(65_000) })).toBe(401);
    expect(await status({ iat: undefined })).toBe(401);
    expect(await status({ iat: seconds(-89 * DAY) })).toBe(200);
    expect(await status({ iat: seconds(-91 * DAY) })).toBe(401);
  });
});
