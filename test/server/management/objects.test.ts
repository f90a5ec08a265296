import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { findOrphans } from "../../../store/orphans.ts";
import { readTeams } from "../../../store/teams/team-records.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { libraryDraft, makeTeam, run, unique } from "../../store/fixtures.ts";
import { type Api, type ApiResponse, startApi } from "./api.ts";

describeNightlyOnEachEngine("what the management API makes", (store) => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi(store(), { KEYPLANE_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.0/8" });
  });
  afterAll(() => api.close());

  const put = (path: string, spec: unknown, ifMatch = "*") => api.send("PUT", path, { spec }, { "if-match": ifMatch });

  async function madeTeam(spec: object = {}) {
    const name = unique("made");
    const { body } = await api.send("POST", "/teams", { name, spec });
    expect(body.id).toMatch(/^team_/);
    return { name, id: body.id };
  }

  const auditOf = async (teamId: string) =>
    (
      await sql<{ kind: string; actor: string; why: string; address: string }>`
        select kind, actor, detail->>'why' as why, detail->>'address' as address from audit_events
        where team_id = ${teamId} order by id`.execute(store().db)
    ).rows;

  describe("a team", () => {
    const spec = {
      displayName: "Research",
      members: [
        { role: "admin", group: "leads" },
        { role: "member", serviceAccount: { namespace: "ci", name: "deployer" } },
        { role: "viewer", subject: "auditor@example.com", libraryRefs: [{ namespace: "research-dev", name: "diary" }] },
      ],
    };

    test("b96: does not take the cluster's own namespaces", async () => {
      for (const own of ["kube-system", "kube-public", "kube-node-lease"]) {
        const { status, body } = await api.send("POST", "/teams", {
          name: unique("team"),
          spec: { namespaces: [own] },
        });
        expect([status, body.errors]).toEqual([
          422,
          [{ path: "spec.namespaces[0]", message: expect.stringContaining(own) }],
        ]);
      }
    });

    test("names a library in no namespace by its name alone, for a member and as the default", async () => {
      const ref = { name: "handbook" };
      const members = [{ role: "member", subject: "ann", libraryRefs: [ref, { namespace: "", name: "diary" }] }];
      const free = { members, mcpAgentPolicy: { defaultLibraryRef: ref } };
      const { name, id } = await madeTeam(free);
      const library = await api.send("POST", "/libraries", { name: "handbook", team: name, spec: {} });
      const { spec: shown } = (await api.send("GET", `/teams/${id}`)).body;
      expect(shown).toMatchObject({ namespaces: [], mcpAgentPolicy: { defaultLibraryRef: ref } });
      expect(shown.members).toEqual([{ ...members[0], libraryRefs: [ref, { name: "diary" }] }]);
      expect((await put(`/teams/${id}`, shown)).status).toBe(200);
      const [team] = await store()
        .db.transaction()
        .execute((tx) => readTeams(tx, [id]));
      expect(team).toMatchObject({ defaultLibraryId: library.body.id, members: [{ libraryIds: [library.body.id] }] });

      const placed = { namespaces: [unique("ns")], mcpAgentPolicy: { defaultLibraryRef: { namespace: "x", ...ref } } };
      const { status, body } = await put(`/teams/${id}`, placed);
      expect([status, body.errors?.[0]?.path]).toEqual([422, "spec.mcpAgentPolicy.defaultLibraryRef"]);
    });

    test("b102: has webhooks whose signing secrets go in, stay with their URL, and never come out", async () => {
      const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
      const hook = { url: "https://hooks.example.com/keys", events: ["key.revoked"] };
      const { id } = await madeTeam({ webhooks: [{ ...hook, secret }] });
      const shown = await api.send("GET", `/teams/${id}`);
      expect(shown.body).toMatchObject({ missingSecrets: [], spec: { webhooks: [hook] } });
      expect(shown.body.spec.webhooks).toEqual([hook]);
      // What was read, written back, keeps the secret; another URL does not get it.
      expect((await put(`/teams/${id}`, shown.body.spec)).status).toBe(200);
      expect((await api.send("GET", `/teams/${id}`)).body.missingSecrets).toEqual([]);
      for (const [webhook, path] of [
        [{ ...hook, url: "https://hooks.example.com/other" }, "secret"],
        [{ ...hook, secret: "whsec_c2hvcnQ=" }, "secret"],
        [{ ...hook, secretRef: { namespace: "a", name: "b" } }, "secretRef"],
        [{ ...hook, events: [] }, "events"],
        [{ ...hook, url: "https://me:word@hooks.example.com/" }, "url"],
        [{ ...hook, url: "ftp://hooks.example.com/" }, "url"],
      ] as const) {
        const refused = await put(`/teams/${id}`, { webhooks: [webhook] });
        expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([422, `spec.webhooks[0].${path}`]);
        expect(refused.text).not.toContain("c2hvcnQ");
      }
      const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
      const changed = await put(
        `/teams/${id}`,
        { webhooks: [{ ...hook, secret: other }] },
        shown.headers.get("etag") ?? "",
      );
      expect(changed.status).toBe(200);
      expect(changed.headers.get("etag")).not.toBe(shown.headers.get("etag"));
      const { rows } = await sql<{ detail: object }>`
        select detail from audit_events where team_id = ${id} order by id`.execute(store().db);
      expect(rows.at(-1)?.detail).toMatchObject({ changedSecrets: [hook.url] });
      const stored = (await sql`select t::text from team_webhooks t`.execute(store().db)).rows;
      for (const text of [shown.text, changed.text, JSON.stringify([rows, stored]), api.lines.join()]) {
        expect([text.includes(secret), text.includes(other)]).toEqual([false, false]);
      }
      expect((await put(`/teams/${id}`, {})).body.spec.webhooks).toBeUndefined();
    });

    test("is made, shown, listed, changed and deleted, each with its line in the audit log", async () => {
      const name = unique("team");
      const namespaces = [unique("ns")];
      const made = await api.send("POST", "/teams", { name, spec: { ...spec, namespaces }, reason: "new" });
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ name, namespaces, declaredIn: null, change: { confirmed: true } });
      expect(made.body.spec).toEqual({ ...spec, namespaces });
      const { id } = made.body;
      expect((await api.send("GET", `/teams?name=${name}`)).body.items).toMatchObject([{ id }]);
      const etag = made.headers.get("etag") ?? "";
      const changed = await put(`/teams/${id}`, { members: [] }, etag);
      expect(changed.body.spec).toEqual({ namespaces: [], members: [] });
      expect((await put(`/teams/${id}`, spec, etag)).body.code).toBe("precondition_failed");
      expect((await api.send("PUT", `/teams/${id}`, { spec })).body.code).toBe("precondition_required");
      expect((await api.send("DELETE", `/teams/${id}`, { reason: "over" })).body).toMatchObject({ confirmed: true });
      expect((await api.send("GET", `/teams/${id}`)).status).toBe(404);
      const by = { actor: "bootstrap-token", address: "127.0.0.1" };
      expect(await auditOf(id)).toEqual([
        { kind: "team.created", ...by, why: "new" },
        { kind: "team.changed", ...by, why: null },
        { kind: "team.deleted", ...by, why: "over" },
      ]);
    });

    test("deleted suspends its keys; one made by its name again is the same, and they work again", async () => {
      const team = await madeTeam();
      const key = await api.send("POST", "/keys", { name: "a", team: team.name, spec: { preset: "MCPReadOnly" } });
      await api.send("DELETE", `/teams/${team.id}`);
      const shown = async () => {
        const listed = (state: string) => api.send("GET", `/keys?team=${team.id}&state=${state}`);
        const [one, active, suspended] = await Promise.all([
          api.send("GET", `/keys/${key.body.id}`),
          listed("active"),
          listed("suspended"),
        ]);
        return [one.body.state, active.body.items.length, suspended.body.items.length];
      };
      expect([await api.tryKey(key.body.secret), ...(await shown())]).toEqual([401, "suspended", 0, 1]);
      expect((await api.send("POST", "/teams", { name: team.name, spec: {} })).body.id).toBe(team.id);
      expect([await api.tryKey(key.body.secret), ...(await shown())]).toEqual([200, "active", 1, 0]);
    });

    test("has its leaked keys revoked where its spec says so, and reported where it says nothing", async () => {
      const team = await madeTeam({ leaks: { action: "Revoke" } });
      expect((await api.send("GET", `/teams/${team.id}`)).body.spec.leaks).toEqual({ action: "Revoke" });
      expect((await put(`/teams/${team.id}`, {})).body.spec.leaks).toBeUndefined();
      const { rows } = await sql<{ leak_action: string }>`
        select leak_action from teams where id = ${team.id}`.execute(store().db);
      expect(rows).toEqual([{ leak_action: "Alert" }]);
    });

    test("b122: has its keys used from where it and they say, from the next call on, and its changes recorded", async () => {
      const team = await madeTeam({ allowedCIDRs: ["203.0.113.0/24"] });
      const make = (spec: object) =>
        api.send("POST", "/keys", { name: unique("key"), team: team.name, spec: { preset: "MCPReadOnly", ...spec } });
      const [plain, narrow] = [await make({}), await make({ allowedCIDRs: ["198.51.100.0/24", "::/0"] })];
      const both = () => Promise.all([plain, narrow].map(({ body }) => api.tryKey(body.secret)));
      expect(narrow.body.spec.allowedCIDRs).toEqual(["198.51.100.0/24", "::/0"]);
      expect((await api.send("GET", `/teams/${team.id}`)).body.spec.allowedCIDRs).toEqual(["203.0.113.0/24"]);
      expect(await both()).toEqual([403, 403]);
      await put(`/teams/${team.id}`, { allowedCIDRs: ["127.0.0.0/8", "::1/128"] });
      expect(await both()).toEqual([200, 403]);
      await put(`/keys/${narrow.body.id}`, { preset: "MCPReadOnly", allowedCIDRs: ["127.0.0.1/32"] });
      expect(await both()).toEqual([200, 200]);
      expect((await put(`/teams/${team.id}`, {})).body.spec.allowedCIDRs).toBeUndefined();
      expect((await put(`/keys/${narrow.body.id}`, { preset: "MCPReadOnly" })).body.spec.allowedCIDRs).toBeUndefined();
      expect(await both()).toEqual([200, 200]);
      const kinds = (await auditOf(team.id)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "team.changed")).toHaveLength(2);
    });

    test("b124: has its calls limited together from the next one on, and its changes recorded", async () => {
      const rateLimit = { requestsPerMinute: 10, burst: 2, concurrent: 9 };
      const team = await madeTeam({ rateLimit });
      const make = () =>
        api.send("POST", "/keys", { name: unique("key"), team: team.name, spec: { preset: "MCPReadOnly" } });
      const secrets = [await make(), await make(), await make()].map(({ body }) => body.secret);
      expect((await api.send("GET", `/teams/${team.id}`)).body.spec.rateLimit).toEqual(rateLimit);
      const statuses = [];
      for (const secret of secrets) statuses.push(await api.tryKey(secret));
      expect(statuses).toEqual([200, 200, 429]);
      const scoped = { requestsPerMinute: 60_000, burst: 60_000, scope: "Installation" };
      const changedTo = await put(`/teams/${team.id}`, {
        rateLimit: { requestsPerMinute: 60_000, scope: "Installation" },
      });
      expect(changedTo.body.spec.rateLimit).toEqual(scoped);
      expect(await api.tryKey(secrets[2])).toBe(200);
      expect((await put(`/teams/${team.id}`, {})).body.spec.rateLimit).toBeUndefined();
      const changed = (await auditOf(team.id)).filter(({ kind }) => kind === "team.changed");
      expect(changed).toHaveLength(2);
    });

    test("b129: has the budgets that it was given, which bound no limit, and none once they are left out", async () => {
      const budgets = [{ tokens: 9_000, period: "Month", timeZone: "Europe/Berlin", onExhausted: "Refuse" }];
      const team = await madeTeam({ budgets: [{ tokens: 9_000, period: "Month", timeZone: "Europe/Berlin" }] });
      const { spec } = (await api.send("GET", `/teams/${team.id}`)).body;
      expect([spec.budgets, spec.rateLimit]).toEqual([budgets, undefined]);
      expect((await put(`/teams/${team.id}`, {})).body.spec.budgets).toBeUndefined();
      const zone = { budgets: [{ tokens: 9_000, period: "Month", timeZone: "Europe/Atlantis" }] };
      expect((await put(`/teams/${team.id}`, zone)).body.errors).toMatchObject([{ path: "spec.budgets[0]" }]);
      const given = { name: unique("key"), team: team.name, spec: { preset: "MCPReadOnly", budgets } };
      const made = await api.send("POST", "/keys", given);
      expect((await api.send("GET", `/keys/${made.body.id}`)).body.spec.budgets).toEqual(budgets);
    });

    test("has its name to itself, and its namespaces", async () => {
      const namespaces = [unique("ns")];
      const team = await madeTeam({ namespaces });
      const declared = await makeTeam(store());
      for (const { name, id } of [team, { name: declared.name, id: declared.teamId }]) {
        expect((await api.send("POST", "/teams", { name, spec: {} })).body).toMatchObject({ code: "exists", id });
      }
      const other = await api.send("POST", "/teams", {
        name: unique("other"),
        spec: { namespaces: ["x-1", ...namespaces] },
      });
      expect([other.status, other.body.errors[0].path]).toEqual([422, "spec.namespaces[1]"]);
    });

    test("that is declared is looked at here, and changed where it is declared", async () => {
      const { teamId, name } = await makeTeam(store());
      expect((await api.send("GET", `/teams/${teamId}`)).body).toMatchObject({
        name,
        declaredIn: { kind: "PlatformTeam" },
      });
      expect((await put(`/teams/${teamId}`, {})).body).toMatchObject({ code: "managed", status: 409 });
      expect((await api.send("DELETE", `/teams/${teamId}`)).body.code).toBe("managed");
    });

    test("b106: ends what a subject's tokens open, declared or made here, and says by whom in the audit log", async () => {
      const { id } = await madeTeam();
      const { teamId } = await makeTeam(store());
      for (const team of [id, teamId, id]) {
        const answer = await api.send("POST", `/teams/${team}/revoked-subjects`, { subject: "ann", reason: "lost" });
        expect([answer.status, answer.body]).toEqual([
          200,
          { sequence: expect.any(Number), confirmed: true, keys: [] },
        ]);
      }
      expect((await auditOf(teamId)).at(-1)).toMatchObject({ kind: "subject.revoked", why: "lost" });
      for (const body of [{}, { subject: "" }, { subject: "a\nb" }, { subject: 7 }, { subject: "a", team: "b" }]) {
        expect((await api.send("POST", `/teams/${id}/revoked-subjects`, body)).status).toBe(400);
      }
      expect((await api.send("POST", "/teams/nothing/revoked-subjects", { subject: "ann" })).status).toBe(404);
    });

    test("b78: takes no key in a text, nor does a library or a gateway", async () => {
      const key = mintKey(randomBytes);
      const { id: team } = await madeTeam();
      const upstreams = [{ name: "u", dialect: "openai", baseURL: `https://id.example/${key}`, noCredential: true }];
      for (const [path, body] of [
        ["/teams", { spec: { displayName: key } }],
        ["/teams", { spec: { members: [{ role: "viewer", subject: key }] } }],
        ["/libraries", { team, spec: { description: `the key ${key}` } }],
        ["/gateways", { team, spec: { upstreams, routes: [] } }],
      ] as const) {
        const { status, text } = await api.send("POST", path, { name: unique("pasted"), ...body });
        expect([status, text.includes("looks like a key"), text.includes(key)], path).toEqual([422, true, false]);
      }
    });

    test("b78: is changed, as are a library and a gateway, beside a key that was pasted into a text before", async () => {
      const key = mintKey(randomBytes);
      const members = ["old", "other"].map((subject) => ({ role: "viewer", subject }));
      const webhooks = [
        { url: "https://hooks.example/old", events: ["key.revoked"], secret: `whsec_${"a".repeat(32)}` },
      ];
      const team = await madeTeam({ members, webhooks });
      const make = async (path: string, spec: object) =>
        (await api.send("POST", path, { name: unique("old"), team: team.id, spec })).body.id;
      const library = await make("/libraries", { description: "old" });
      const upstreams = ["a", "old"].map((name) => {
        return { name, dialect: "openai", baseURL: `https://id.example/${name}`, noCredential: true };
      });
      const gateway = await make("/gateways", { upstreams, routes: [] });
      for (const [table, column, of] of [
        ["team_members", "value", sql`team_id = ${team.id}`],
        ["team_webhooks", "url", sql`team_id = ${team.id}`],
        ["libraries", "description", sql`id = ${library}`],
        ["gateway_upstreams", "base_url", sql`gateway_id = ${gateway}`],
      ] as const) {
        const kept = sql.ref(column);
        await sql`update ${sql.table(table)} set ${kept} = replace(${kept}, 'old', ${key})
          where ${of} and ${kept} like '%old%'`.execute(store().db);
      }
      const changes: [path: string, change: (spec: ApiResponse["body"]) => object][] = [
        [`/teams/${team.id}`, ({ members }) => ({ members: members.toReversed() })],
        [`/libraries/${library}`, () => ({ displayName: "Docs" })],
        [`/gateways/${gateway}`, ({ upstreams }) => ({ upstreams: upstreams.slice(1) })],
      ];
      for (const [path, change] of changes) {
        const { spec } = (await api.send("GET", path)).body;
        expect(JSON.stringify(spec), path).toContain(key);
        const { status, body } = await put(path, { ...spec, ...change(spec) });
        expect([status, body.errors], path).toEqual([200, undefined]);
      }
      expect((await put(`/libraries/${library}`, { displayName: `the key ${key}` })).status).toBe(422);
    });

    test("b78: takes no key for a subject, and keeps none", async () => {
      const { teamId } = await makeTeam(store());
      const subject = mintKey(randomBytes);
      const { status, body } = await api.send("POST", `/teams/${teamId}/revoked-subjects`, { subject });
      expect([status, body.detail]).toEqual([400, expect.stringContaining("looks like a key")]);
      expect((await auditOf(teamId)).map(({ kind }) => kind)).not.toContain("subject.revoked");
    });

    test.each([
      ["spec.members[0]", { members: [{ role: "admin" }] }],
      ["spec.members[0].role", { members: [{ role: "owner", group: "g" }] }],
      ["spec.members[0].libraryRefs", { members: [{ role: "viewer", group: "g", libraryRefs: [] }] }],
      [
        "spec.members[0].libraryRefs[0].name",
        { members: [{ role: "viewer", group: "g", libraryRefs: [{ namespace: "n" }] }] },
      ],
      ["spec.namespaces[0]", { namespaces: ["No"] }],
      ["spec.allowedCIDRs[1]", { allowedCIDRs: ["0.0.0.0/0", "10.0.0.1/8"] }],
      ["spec.allowedCIDRs", { allowedCIDRs: [] }],
      ["spec.rateLimit", { rateLimit: { burst: 2 } }],
      ["spec.rateLimit.concurrent", { rateLimit: { concurrent: 0 } }],
      ["spec.leaks.action", { leaks: { action: "Ignore" } }],
      [
        "spec.mcpAgentPolicy.defaultLibraryRef",
        { mcpAgentPolicy: { defaultLibraryRef: { namespace: "n", name: "l" } } },
      ],
    ])("is refused where it is at fault: %s", async (path, spec) => {
      const { status, body } = await api.send("POST", "/teams", { name: unique("team"), spec });
      expect([status, body.errors[0].path]).toEqual([422, path]);
    });
  });

  describe("a library", () => {
    test("holds atoms for the team's keys, and keeps them by its deletion policy", async () => {
      const team = await madeTeam();
      const name = unique("library");
      const make = () => api.send("POST", "/libraries", { name, team: team.name, spec: { deletionPolicy: "Retain" } });
      const library = await make();
      expect(library.body).toMatchObject({ name, namespace: "", team: team.name, spec: { deletionPolicy: "Retain" } });
      const key = await api.send("POST", "/keys", {
        name: "writer",
        team: team.id,
        spec: { preset: "MCPReadWrite", mcpDefaultLibraryRef: { name } },
      });
      expect(key.status).toBe(201);
      const headers = { "x-api-key": key.body.secret, "content-type": "application/json" };
      const saved = await fetch(`${api.url}/atoms`, { method: "POST", headers, body: '{"content":"kept"}' });
      expect(saved.status).toBe(201);
      const list = async () => {
        const answer = await fetch(`${api.url}/atoms?library=${name}`, { headers });
        return [
          answer.status,
          ...(JSON.parse(await answer.text()).items ?? []).map(({ content }: { content: string }) => content),
        ];
      };
      await api.send("DELETE", `/libraries/${library.body.id}`);
      expect(await list()).toEqual([404]);
      await make();
      expect(await list()).toEqual([200, "kept"]);
      await put(`/libraries/${library.body.id}`, { deletionPolicy: "Delete", description: "short-lived" });
      await api.send("DELETE", `/libraries/${library.body.id}`);
      await make();
      expect(await list()).toEqual([200]);
      expect((await auditOf(team.id)).map(({ kind }) => kind)).toContain("library.deleted");
    });

    test("of one name may be in two teams, and neither loses it to the other", async () => {
      const name = unique("library");
      const [one, two] = [await madeTeam(), await madeTeam()];
      const [first, second] = [
        await api.send("POST", "/libraries", { name, team: one.name, spec: {} }),
        await api.send("POST", "/libraries", { name, team: two.name, spec: {} }),
      ];
      expect([first.status, second.status]).toEqual([201, 201]);
      expect((await api.send("GET", `/libraries/${first.body.id}`)).status).toBe(200);
    });

    test("is not made where a bare name would mean two, also when they are asked for at once", async () => {
      const team = await makeTeam(store());
      const name = unique("library");
      const declared = await run(store(), (tx) => saveLibrary(tx, libraryDraft(team, { name, displayName: name })));
      const refused = await api.send("POST", "/libraries", { name, team: team.name, spec: {} });
      expect(refused.body).toMatchObject({ code: "exists", id: declared.libraryId });
      const other = unique("library");
      const answers = await Promise.all(
        [1, 2, 3].map(() => api.send("POST", "/libraries", { name: other, team: team.name, spec: {} })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    });

    test("may be the default of a team that was made here, in a namespace of it", async () => {
      const namespace = unique("ns");
      const team = await madeTeam({
        namespaces: [namespace],
        mcpAgentPolicy: { defaultLibraryRef: { namespace, name: "handbook" } },
      });
      const make = (namespace: string) =>
        api.send("POST", "/libraries", { name: "handbook", namespace, team: team.name, spec: {} });
      expect((await make("elsewhere")).body.errors[0].path).toBe("namespace");
      expect((await make(namespace)).status).toBe(201);
      const key = await api.send("POST", "/keys", { name: "w", team: team.name, spec: { scopes: ["memory:write"] } });
      const headers = { "x-api-key": key.body.secret, "content-type": "application/json" };
      const saved = await fetch(`${api.url}/atoms`, { method: "POST", headers, body: '{"content":"to the default"}' });
      expect(saved.status).toBe(201);
    });

    test("that is declared is read-only here", async () => {
      const team = await makeTeam(store());
      const { libraryId } = await run(store(), (tx) => saveLibrary(tx, libraryDraft(team)));
      expect((await put(`/libraries/${libraryId}`, {})).body.code).toBe("managed");
      expect((await api.send("DELETE", `/libraries/${libraryId}`)).body.code).toBe("managed");
    });
  });

  describe("a gateway", () => {
    const CREDENTIAL = `sk-canary-${randomBytes(12).toString("hex")}`;
    const upstream = (port: number, more: object = {}) => ({
      name: "main",
      dialect: "openai",
      baseURL: `http://127.0.0.1:${port}`,
      ...more,
    });

    test("b124: has the limits, retries, times and weights of its routes as they were declared, and its changes recorded with them", async () => {
      const team = await madeTeam();
      const fallbacks = [{ upstream: "main", upstreamModel: "y" }];
      const route = { model: "m", routeID: "r", upstream: "main", upstreamModel: "x", fallbacks };
      const spec = (fields?: object) => ({
        upstreams: [upstream(1, { credential: CREDENTIAL })],
        routes: [{ ...route, ...fields }],
      });
      const rateLimit = { requestsPerMinute: 60, scope: "Installation", concurrent: 3 };
      const weights = { weight: 2, sticky: "Key", fallbacks: fallbacks.map((one) => ({ ...one, weight: 1 })) };
      const fields = { rateLimit, retry: { attempts: 3 }, timeouts: { firstByteSeconds: 30 }, ...weights };
      const made = await api.send("POST", "/gateways", { name: "main", team: team.name, spec: spec(fields) });
      expect(made.body.spec.routes[0]).toEqual({ ...route, ...fields });
      const changed = await put(`/gateways/${made.body.id}`, spec());
      expect([changed.status, changed.body.spec.routes[0]]).toEqual([200, route]);
      expect((await auditOf(team.id)).map(({ kind }) => kind)).toContain("gateway.changed");
    });

    test("has another entity tag once a credential is another, so that no edit undoes what it has not seen", async () => {
      const team = await madeTeam();
      const spec = (credential?: string) => ({
        upstreams: [upstream(1, credential === undefined ? {} : { credential })],
      });
      const made = await api.send("POST", "/gateways", { name: "main", team: team.name, spec: spec(CREDENTIAL) });
      const path = `/gateways/${made.body.id}`;
      const tag = made.headers.get("etag") ?? "";
      expect((await put(path, spec(), tag)).headers.get("etag"), "nothing has changed").toBe(tag);
      const changed = await put(path, spec(`${CREDENTIAL}-2`), tag);
      expect(changed.status).toBe(200);
      expect(changed.headers.get("etag")).not.toBe(tag);
      expect((await put(path, spec(`${CREDENTIAL}-3`), tag)).status).toBe(412);
      expect(Object.keys(changed.body)).not.toContain("credentials");
      expect((await api.send("GET", path)).headers.get("etag")).toBe(changed.headers.get("etag"));
    });

    test("forwards with the credential that it was given, and shows it to no caller", async () => {
      const seen: (string | undefined)[] = [];
      const provider = createServer((request, response) => {
        seen.push(request.headers.authorization);
        response.setHeader("content-type", "application/json").end("{}");
      });
      await new Promise<void>((done) => provider.listen(0, "127.0.0.1", done));
      const address = provider.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      try {
        const team = await madeTeam();
        const made = await api.send("POST", "/gateways", {
          name: "main",
          team: team.name,
          spec: { upstreams: [upstream(port, { credential: CREDENTIAL })] },
        });
        expect(made.status).toBe(201);
        expect(made.body).toMatchObject({ missingCredentials: [], publicID: expect.stringMatching(/^gw-/) });
        const key = await api.send("POST", "/keys", {
          name: "caller",
          team: team.name,
          spec: { scopes: ["gateway:generate"], gatewayRef: { name: "main" } },
        });
        const call = () =>
          fetch(`${api.url}/g/${made.body.publicID}/v1/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${key.body.secret}`, "content-type": "application/json" },
            body: "{}",
          });
        expect((await call()).status).toBe(200);
        const path = `/gateways/${made.body.id}`;
        // What was read, written back, keeps the credential.
        const { spec } = (await api.send("GET", path)).body;
        expect((await put(path, { ...spec, routesOnly: false })).status).toBe(200);
        expect((await call()).status).toBe(200);
        expect(seen).toEqual([`Bearer ${CREDENTIAL}`, `Bearer ${CREDENTIAL}`]);

        const shown = [made.text, (await api.send("GET", path)).text, (await api.send("GET", "/gateways")).text];
        const { rows } = await sql`select t::text from audit_events t`.execute(store().db);
        const stored = (await sql`select t::text from gateway_upstreams t`.execute(store().db)).rows;
        for (const text of [...shown, JSON.stringify(rows), JSON.stringify(stored), api.lines.join()]) {
          expect(text.includes(CREDENTIAL)).toBe(false);
        }
        expect((await api.send("DELETE", path)).body).toMatchObject({ confirmed: true });
        expect((await call()).status).toBe(403);
        const none = { cluster: team.id, namespaces: null, uids: [] };
        expect((await findOrphans(store().db, "ModelGateway", none)).orphans).toEqual([]);
      } finally {
        provider.close();
      }
    });

    test("b457: that is made again under its name has its address again, and the keys that name it reach it", async () => {
      const team = await madeTeam();
      const spec = { upstreams: [upstream(1, { credential: CREDENTIAL })] };
      const make = async () => (await api.send("POST", "/gateways", { name: "main", team: team.name, spec })).body;
      const { id, publicID } = await make();
      const bound = { preset: "GatewayDefault", gatewayRef: { name: "main" } };
      const key = await api.send("POST", "/keys", { name: "caller", team: team.name, spec: bound });
      const isAllowed = async () =>
        (await api.send("GET", `/keys/${key.body.id}/access?scope=gateway:generate&gateway=${publicID}`)).body.allowed;
      expect(await isAllowed()).toBe(true);
      await api.send("DELETE", `/gateways/${id}`);
      expect(await isAllowed()).toBe(false);
      expect(await make()).toMatchObject({ publicID });
      expect(await isAllowed()).toBe(true);
    });

    test("does not send a credential that is stored to another address", async () => {
      const team = await madeTeam();
      const make = { name: "g", team: team.name, spec: { upstreams: [upstream(1, { credential: CREDENTIAL })] } };
      const { body } = await api.send("POST", "/gateways", make);
      for (const moved of [upstream(2), upstream(1, { dialect: "gemini" }), upstream(1, { name: "other" })]) {
        const refused = await put(`/gateways/${body.id}`, { upstreams: [moved] });
        expect([refused.status, refused.body.errors[0].path]).toEqual([422, "spec.upstreams[0].credential"]);
      }
      expect((await put(`/gateways/${body.id}`, { upstreams: [upstream(2, { credential: "another" })] })).status).toBe(
        200,
      );
    });

    test("b393: loses a stored credential by noCredential alone, and shows that it has none", async () => {
      const team = await madeTeam();
      const make = { name: "g", team: team.name, spec: { upstreams: [upstream(1, { noCredential: true })] } };
      const { body, status } = await api.send("POST", "/gateways", make);
      expect([status, body.missingCredentials, body.spec.upstreams[0].noCredential]).toEqual([201, [], true]);
      const stored = async () =>
        (
          await sql`select credential is not null as has, takes_credential as takes from gateway_upstreams
          where gateway_id = ${body.id}`.execute(store().db)
        ).rows;
      expect(await stored()).toEqual([{ has: false, takes: false }]);
      const path = `/gateways/${body.id}`;
      expect((await put(path, body.spec)).status).toBe(200);
      expect((await put(path, { upstreams: [upstream(2, { noCredential: true })] })).status).toBe(200);
      for (const fields of [{}, { noCredential: false }]) {
        const refused = await put(path, { upstreams: [upstream(2, fields)] });
        expect([refused.status, refused.body.errors[0].path]).toEqual([422, "spec.upstreams[0].credential"]);
        expect(refused.body.errors[0].message).toContain("noCredential: true");
      }
      expect((await put(path, { upstreams: [upstream(2, { credential: CREDENTIAL })] })).status).toBe(200);
      expect(await stored()).toEqual([{ has: true, takes: true }]);
      expect((await put(path, { upstreams: [upstream(2)] })).body.spec.upstreams[0]).not.toHaveProperty("noCredential");
      expect(await stored()).toEqual([{ has: true, takes: true }]);
      expect((await put(path, { upstreams: [upstream(2, { noCredential: true })] })).status).toBe(200);
      expect(await stored()).toEqual([{ has: false, takes: false }]);
    });

    test("b73: keeps its public id, which no other gateway gets", async () => {
      const [one, two] = [await madeTeam(), await madeTeam()];
      const publicID = unique("public");
      const spec = { publicID, upstreams: [upstream(1, { credential: CREDENTIAL })] };
      const { body } = await api.send("POST", "/gateways", { name: "g", team: one.name, spec });
      const changed = await put(`/gateways/${body.id}`, { ...spec, publicID: `${publicID}-2` });
      expect([changed.status, changed.body.errors[0].path]).toEqual([422, "spec.publicID"]);
      const taken = await api.send("POST", "/gateways", { name: "g", team: two.name, spec });
      expect([taken.status, taken.body.errors[0].path]).toEqual([422, "spec.publicID"]);
      await api.send("DELETE", `/gateways/${body.id}`);
      expect((await api.send("POST", "/gateways", { name: "g", team: two.name, spec })).status).toBe(422);
      expect((await api.send("POST", "/gateways", { name: "g", team: one.name, spec })).status).toBe(201);
    });

    let own: { readonly name: string };
    beforeAll(async () => {
      own = await madeTeam();
    });
    test.each([
      ["spec.upstreams[0].credential", { upstreams: [upstream(1)] }],
      ["spec.upstreams[0].credential", { upstreams: [upstream(1, { credential: "sk-canary b" })] }],
      ["spec.upstreams[0].credential", { upstreams: [upstream(1, { credential: ["sk-canary"] })] }],
      ["spec.upstreams[0].noCredential", { upstreams: [upstream(1, { noCredential: true, credential: "sk-canary" })] }],
      ["spec.upstreams[0].noCredential", { upstreams: [upstream(1, { noCredential: "sk-canary" })] }],
      ["spec.upstreams[0].baseURL", { upstreams: [{ ...upstream(1), baseURL: "https://u:sk-canary@127.0.0.1" }] }],
      ["spec.upstreams[0].baseURL", { upstreams: [{ ...upstream(1), baseURL: "https://127.0.0.1/?key=sk-canary" }] }],
      ["spec.upstreams[0].credentialRef", { upstreams: [upstream(1, { credentialRef: { name: "sk-canary" } })] }],
      ["spec.upstreams[0].dialect", { upstreams: [upstream(1, { dialect: "smtp", credential: "sk-canary" })] }],
      ["spec.upstreams", { upstreams: [] }],
      [
        "spec.routes",
        {
          upstreams: [upstream(1, { credential: "sk-canary" })],
          routes: [{ model: "m", routeID: "r", upstream: "x", upstreamModel: "m" }],
        },
      ],
    ])("is refused where it is at fault, without repeating a credential: %s", async (path, spec) => {
      const { status, body, text } = await api.send("POST", "/gateways", { name: "g", team: own.name, spec });
      expect([status, body.errors[0].path]).toEqual([422, path]);
      expect(text).not.toContain("sk-canary");
    });
  });

  test("b76: is made once, however often and by whom it is asked for at once", async () => {
    const request = { name: unique("once"), spec: {} };
    const key = { "idempotency-key": unique("key") };
    const answers = await Promise.all([1, 2, 3, 4].map(() => api.send("POST", "/teams", request, key)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    const other = await api.send("POST", "/teams", { ...request, name: unique("once") }, key);
    expect(other.body).toMatchObject({ code: "idempotency_mismatch", id: answers[0]?.body.id });
  });

  test.each(["teams", "libraries", "gateways"])("of %s comes in pages that hold everything once", async (path) => {
    const team = await madeTeam();
    const spec =
      path === "gateways"
        ? { upstreams: [{ name: "u", dialect: "openai", baseURL: "http://127.0.0.1:1", credential: "c" }] }
        : {};
    const home = path === "teams" ? {} : { team: team.name };
    const made: string[] = path === "teams" ? [] : [];
    const stem = unique("paged");
    for (const i of [1, 2, 3])
      made.push((await api.send("POST", `/${path}`, { name: `${stem}-${i}`, ...home, spec })).body.id);
    const found: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const filter: string = path === "teams" ? "" : `&team=${team.id}`;
      const { body } = await api.send("GET", `/${path}?limit=2${filter}${cursor === "" ? "" : `&cursor=${cursor}`}`);
      found.push(...body.items.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    }
    expect(new Set(found).size).toBe(found.length);
    expect(found.filter((id) => made.includes(id))).toEqual(made.sort());
    expect((await api.send("GET", `/${path}?cursor=nonsense`)).status).toBe(400);
  });
});
