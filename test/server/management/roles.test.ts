import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../server/management/routes.ts";
import { change } from "../../../store/database/change.ts";
import type { Store } from "../../../store/database/store.ts";
import { removeLibrary, saveLibrary } from "../../../store/libraries/libraries.ts";
import { openLibrary } from "../../../store/libraries/reachable-libraries.ts";
import { listSubjects } from "../../../store/libraries/subjects.ts";
import { saveTeam, type TeamDraft } from "../../../store/teams/teams.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { libraryDraft, makeTeam, reserveKey, run, unique } from "../../store/fixtures.ts";
import { auditOfKey } from "../../store/questions.ts";
import { type Harness, startHarness } from "../harness.ts";
import { withoutRequestIds } from "../request-ids.ts";
import { type Issuer, makeSigner, type Signer, sign, startIssuer } from "./issuer.ts";

const TOKEN = "kpt_the-token";

let store: Store;
let harness: Harness;
let issuer: Issuer;
let signer: Signer;
let mine: Awaited<ReturnType<typeof makeTeam>>;
let theirs: Awaited<ReturnType<typeof makeTeam>>;
beforeAll(async () => {
  store = await openMigrated();
  signer = await makeSigner("k");
  issuer = await startIssuer();
  issuer.keys = [signer.jwk];
  harness = await startHarness({
    mounts: [{ at: "/api/v1", routes: managementRoutes }],
    store,
    managementToken: managementToken("bootstrap-token", TOKEN),
    config: { oidc: { issuers: [issuer.url], audience: "keyplane", adminGroups: [] } },
  });
  const members: TeamDraft["members"] = [
    { role: "admin", kind: "group", value: "leads" },
    { role: "member", kind: "serviceAccount", value: "ci/deployer" },
    { role: "viewer", kind: "subject", value: "auditor@example.com" },
  ];
  mine = await makeTeam(store, { members });
  theirs = await makeTeam(store, { members: [{ role: "admin", kind: "subject", value: "another-admin" }] });
});
afterAll(async () => {
  await harness.close();
  issuer.close();
  await store.close();
});

const SERVICE_ACCOUNT = { namespace: "ci", serviceaccount: { name: "deployer", uid: "u" } };
const WHO = {
  admin: { sub: "ann", groups: ["leads"] },
  member: { sub: "system:serviceaccount:ci:deployer", "kubernetes.io": SERVICE_ACCOUNT },
  viewer: { sub: "auditor@example.com" },
  stranger: { sub: "eve", groups: ["followers"] },
} as const;
type Who = keyof typeof WHO | "installation";

async function as(who: Who | { sub: string; groups?: unknown[] }, method: string, path: string, body?: unknown) {
  const claims = typeof who === "object" ? who : who === "installation" ? undefined : WHO[who];
  const token =
    claims === undefined ? TOKEN : await sign(issuer, signer, harness.clock.now(), { claims: { ...claims } });
  const answer = await fetch(`${harness.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "if-match": "*",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

const KEY_SPEC = { preset: "MCPReadOnly" };
const UPSTREAMS = [{ name: "u", dialect: "openai", baseURL: "http://127.0.0.1:1", credential: "c" }];

/** One of each kind, made by the installation. */
async function makeAll(team: { name: string }) {
  const make = async (path: string, spec: object) =>
    (await as("installation", "POST", `/${path}`, { name: unique("object"), team: team.name, spec })).body.id;
  return {
    keys: await make("keys", KEY_SPEC),
    libraries: await make("libraries", {}),
    gateways: await make("gateways", { upstreams: UPSTREAMS }),
  };
}

const SPECS = { keys: KEY_SPEC, libraries: {}, gateways: { upstreams: UPSTREAMS } } as const;
const KINDS = ["keys", "libraries", "gateways"] as const;

describe("who may do what in their team", () => {
  const table: Record<Exclude<Who, "installation">, Record<"look" | (typeof KINDS)[number], number>> = {
    admin: { look: 200, keys: 2, libraries: 2, gateways: 2 },
    member: { look: 200, keys: 2, libraries: 403, gateways: 403 },
    viewer: { look: 200, keys: 403, libraries: 403, gateways: 403 },
    stranger: { look: 404, keys: 404, libraries: 404, gateways: 404 },
  };
  const means = (status: number) => (status < 300 ? 2 : status);

  test.each(Object.keys(table) as (keyof typeof table)[])("%s", async (who) => {
    const ids = await makeAll(mine);
    for (const kind of KINDS) {
      const path = `/${kind}/${ids[kind]}`;
      const expected = table[who][kind];
      expect([kind, "look", (await as(who, "GET", path)).status]).toEqual([kind, "look", table[who].look]);
      const listed = (await as(who, "GET", `/${kind}?limit=200`)).body.items.map(({ id }: { id: string }) => id);
      expect([kind, listed.includes(ids[kind])]).toEqual([kind, who !== "stranger"]);
      const made = await as(who, "POST", `/${kind}`, { name: unique("by"), team: mine.name, spec: SPECS[kind] });
      // A team that is not yours is no team: that is a fault of the request, and reveals nothing.
      expect([kind, "make", means(made.status)]).toEqual([kind, "make", expected === 404 ? 422 : expected]);
      const changed = await as(who, "PUT", path, { spec: SPECS[kind] });
      expect([kind, "change", means(changed.status)]).toEqual([kind, "change", expected]);
      const ended = await as(who, "DELETE", path);
      expect([kind, "end", means(ended.status)]).toEqual([kind, "end", expected]);
    }
  });

  test("b83: a caller without the right learns this alone, and nothing of the spec", async () => {
    const spec = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`field${i}`, 1]));
    const ids = await makeAll(mine);
    for (const kind of KINDS) {
      const made = await as("viewer", "POST", `/${kind}`, { name: unique("by"), team: mine.name, spec });
      const changed = await as("viewer", "PUT", `/${kind}/${ids[kind]}`, { spec });
      expect([kind, made.status, changed.status]).toEqual([kind, 403, 403]);
    }
  });

  test.each([
    ["admin", 2],
    ["member", 2],
    ["viewer", 403],
    ["stranger", 404],
  ] as const)("%s may end what a subject's tokens open: %i", async (who, expected) => {
    const answer = await as(who, "POST", `/teams/${mine.teamId}/revoked-subjects`, { subject: "leaver" });
    expect(means(answer.status)).toBe(expected);
  });

  describe.each(["that is declared", "whose declaration is gone and whose atoms are retained"])(
    "a library %s",
    (state) => {
      const isRetained = state !== "that is declared";

      test.each([
        ["admin", 2],
        ["member", 403],
        ["viewer", 403],
        ["stranger", 404],
        ["installation", 2],
      ] as const)("%s may list and erase whose memory a library keeps: %i", async (who, expected) => {
        const draft = libraryDraft(mine);
        const { libraryId } = await run(store, (tx) => saveLibrary(tx, draft));
        const ana = { teamId: mine.teamId, libraryIds: null, subject: "ana" };
        await openLibrary(store.db, ana, libraryId);
        if (isRetained) await run(store, (tx) => removeLibrary(tx, { ...draft, policy: "Retain" }));
        const { items } = (await as(who, "GET", `/retained-libraries?name=${draft.name}`)).body;
        const { name, namespace, teamId } = draft;
        const seen = isRetained && who !== "stranger";
        expect(items).toMatchObject(seen ? [{ id: libraryId, name, namespace, team: mine.name, teamId }] : []);
        const listed = await as(who, "GET", `/libraries/${libraryId}/subjects`);
        expect(means(listed.status)).toBe(expected);
        if (expected === 2) expect(listed.body).toMatchObject({ items: [{ subject: "ana" }], nextCursor: null });
        const erase = () =>
          as(who, "POST", `/libraries/${libraryId}/erased-subjects`, { subject: "ana", reason: "asked" });
        const erased = await erase();
        expect(means(erased.status)).toBe(expected);
        if (expected === 2) expect([erased.body, (await erase()).body]).toEqual([{ erased: true }, { erased: false }]);
        const left = await listSubjects(store.db, libraryId, { limit: 10 });
        expect(left?.map(({ subject }) => subject)).toEqual(expected === 2 ? [] : ["ana"]);
      });
    },
  );

  test("b106: who is named as the audit log names them is no subject: their tokens would work on", async () => {
    const subject = `${issuer.url}#leaver`;
    const { status, body } = await as("admin", "POST", `/teams/${mine.teamId}/revoked-subjects`, { subject });
    expect([status, body.detail]).toEqual([400, expect.stringContaining(`leave "${issuer.url}#" out`)]);
  });

  test.each([
    ["admin", 2],
    ["member", 2],
    ["viewer", 403],
    ["stranger", 404],
  ] as const)("%s may end and rotate what is declared: %i", async (who, expected) => {
    const { key } = await reserveKey(store, mine);
    expect(means((await as(who, "POST", `/keys/${key.id}/rotate`)).status)).toBe(expected);
    expect(means((await as(who, "POST", `/keys/${key.id}/revoke`)).status)).toBe(expected);
  });

  test("a team that was made here is its admins' to change, and the installation's alone to make and to end", async () => {
    const name = unique("team");
    const spec = {
      members: [
        { role: "admin", group: "leads" },
        { role: "viewer", subject: "auditor@example.com" },
      ],
    };
    expect((await as("admin", "POST", "/teams", { name, spec })).status).toBe(403);
    const { body } = await as("installation", "POST", "/teams", { name, spec });
    expect((await as("viewer", "PUT", `/teams/${body.id}`, { spec })).status).toBe(403);
    expect((await as("stranger", "PUT", `/teams/${body.id}`, { spec })).status).toBe(404);
    expect((await as("admin", "PUT", `/teams/${body.id}`, { spec })).status).toBe(200);
    expect((await as("admin", "DELETE", `/teams/${body.id}`)).status).toBe(403);
    expect((await as("installation", "DELETE", `/teams/${body.id}`)).status).toBe(200);
  });
});

describe("another team's objects", () => {
  let ids: Awaited<ReturnType<typeof makeAll>>;
  beforeAll(async () => {
    ids = await makeAll(theirs);
  });

  test("are not there, whatever is asked of them, and no answer differs from that to an id that does not exist", async () => {
    const ask = async (kind: (typeof KINDS)[number], id: string) => [
      await as("admin", "GET", `/${kind}/${id}`),
      await as("admin", "PUT", `/${kind}/${id}`, { spec: SPECS[kind] }),
      await as("admin", "DELETE", `/${kind}/${id}`),
      ...(kind === "keys"
        ? [
            await as("admin", "POST", `/keys/${id}/revoke`),
            await as("admin", "POST", `/keys/${id}/rotate`),
            await as("admin", "POST", `/keys/${id}/versions`, {}),
          ]
        : []),
    ];
    for (const kind of KINDS) {
      const answers = withoutRequestIds(await ask(kind, ids[kind]));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
      const unknown = `${ids[kind].slice(0, -1)}${ids[kind].endsWith("a") ? "b" : "a"}`;
      expect(answers).toEqual(withoutRequestIds(await ask(kind, unknown)));
    }
    const key = await as("installation", "GET", `/keys/${ids.keys}`);
    expect(key.body.state).toBe("active");
  });

  test("are in no list, by no filter", async () => {
    for (const kind of [...KINDS, "teams"]) {
      const filter = kind === "teams" ? `name=${theirs.name}` : `team=${theirs.name}`;
      expect((await as("admin", "GET", `/${kind}?${filter}`)).body.items).toEqual([]);
      const all = (await as("admin", "GET", `/${kind}?limit=200`)).body.items;
      expect(JSON.stringify(all)).not.toContain(theirs.name);
    }
    expect((await as("admin", "GET", `/keys?team=${theirs.teamId}`)).body.items).toEqual([]);
  });

  test("cannot be referred to from one's own", async () => {
    const { body } = await as("installation", "GET", `/gateways/${ids.gateways}`);
    const spec = { scopes: ["gateway:generate"], gatewayRef: { name: body.name } };
    expect((await as("admin", "POST", "/keys", { name: unique("k"), team: mine.name, spec })).status).toBe(422);
  });
});

test("b66: a person who leaves a team has lost it with the next request", async () => {
  const leaver = unique("leaver");
  const team = await makeTeam(store, { members: [{ role: "admin", kind: "subject", value: leaver }] });
  const { key } = await reserveKey(store, team);
  const who = { sub: leaver };
  expect((await as(who, "GET", `/keys/${key.id}`)).status).toBe(200);
  await change(store, null, (tx) => saveTeam(tx, { ...team, members: [] }));
  expect((await as(who, "GET", `/keys/${key.id}`)).status).toBe(404);
  expect((await as(who, "POST", `/keys/${key.id}/revoke`)).status).toBe(404);
  expect((await as(who, "GET", "/keys")).body.items).toEqual([]);
});

test("an impossible group hides none that counts", async () => {
  const groups = ["a\0b", "\ud800", 7, "leads"];
  expect((await as({ sub: "ann", groups }, "GET", "/keys")).status).toBe(200);
  expect((await as({ sub: "ann", groups }, "GET", `/teams/${mine.teamId}`)).status).toBe(200);
});

test("a subject that calls itself a ServiceAccount is none", async () => {
  const { key } = await reserveKey(store, mine);
  for (const claims of [
    { sub: "system:serviceaccount:ci:deployer" },
    { sub: "eve", "kubernetes.io": SERVICE_ACCOUNT },
    { sub: "ci/deployer" },
    { sub: "system:serviceaccount:ci:deployer", "kubernetes.io": { namespace: "ci" } },
  ]) {
    expect((await as(claims, "GET", `/keys/${key.id}`)).status).toBe(404);
  }
});

test("the audit log names the issuer and the subject", async () => {
  const { body } = await as("member", "POST", "/keys", { name: unique("k"), team: mine.name, spec: KEY_SPEC });
  const actors = (await auditOfKey(store.db, body.id)).map(({ actor }) => actor);
  expect(new Set(actors)).toEqual(new Set([`${issuer.url}#system:serviceaccount:ci:deployer`]));
});

test("an idempotency key is its caller's own", async () => {
  const made = new Set<string>();
  for (const who of ["admin", "member"] as const) {
    const token = await sign(issuer, signer, harness.clock.now(), { claims: { ...WHO[who] } });
    const answer = await fetch(`${harness.url}/api/v1/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": "same" },
      body: JSON.stringify({ name: unique("k"), team: mine.name, spec: KEY_SPEC }),
    });
    expect(answer.status).toBe(201);
    made.add(JSON.parse(await answer.text()).id);
  }
  expect(made.size).toBe(2);
});

test("b88: what the management API refuses is in the audit log: callers that are unknown, and those that lack the right", async () => {
  const key = await reserveKey(store, mine);
  harness.refused.length = 0;
  const viewer = await as("viewer", "POST", `/keys/${key.key.id}/revoke`, {});
  const unknown = await fetch(`${harness.url}/api/v1/keys`, { headers: { authorization: "Bearer nothing" } });
  expect([viewer.status, unknown.status]).toEqual([403, 401]);
  expect(harness.refused.map(({ cause, route, principal, address }) => [cause, route, principal, address])).toEqual([
    ["management_forbidden", "/api/v1/keys/:id/revoke", `${issuer.url}#auditor@example.com`, "127.0.0.1"],
    ["jwt_malformed", "/api/v1/keys", undefined, "127.0.0.1"],
  ]);
});

test("the audit log is of their teams for everybody who has a role there, and of no team the installation's alone", async () => {
  const [ours, another] = [(await reserveKey(store, mine)).key.id, (await reserveKey(store, theirs)).key.id];
  for (const who of ["admin", "member", "viewer", "stranger"] as const) {
    const { status, body } = await as(who, "GET", "/audit-events?limit=200");
    const seen: { teamId: string | null; keyId: string | null }[] = body.items;
    expect([status, [...new Set(seen.map(({ teamId }) => teamId))]]).toEqual([
      200,
      who === "stranger" ? [] : [mine.teamId],
    ]);
    expect(seen.some(({ keyId }) => keyId === ours)).toBe(who !== "stranger");
    expect((await as(who, "GET", `/audit-events?about=${another}`)).body.items).toEqual([]);
    expect((await as(who, "GET", `/audit-events?team=${theirs.teamId}`)).status).toBe(400);
  }
  const { body } = await as("installation", "GET", `/audit-events?about=${another}`);
  expect(body.items).not.toEqual([]);
});

test("b432: the feed of a team is refused to those who may not read it, as one of no team", async () => {
  const feedOf = async (who: Who, named: string) =>
    withoutRequestIds((await as(who, "GET", `/audit-events?after=0&team=${named}`)).body);
  for (const who of ["admin", "member", "viewer", "stranger"] as const) {
    const refused = await feedOf(who, "no-team");
    expect(refused).toMatchObject({ status: 400 });
    expect(await feedOf(who, theirs.teamId)).toEqual(refused);
  }
});

test("what a key may do is shown to those who see the key, and to no others", async () => {
  const path = `/keys/${(await reserveKey(store, mine)).key.id}/access?scope=memory:read`;
  for (const who of ["installation", "admin", "member", "viewer"] as const) {
    expect((await as(who, "GET", path)).status, who).toBe(200);
  }
  expect((await as("stranger", "GET", path)).status).toBe(404);
});
