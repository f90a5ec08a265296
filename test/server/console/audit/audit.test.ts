import { once } from "node:events";
import { request } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditLines } from "../../../../server/console/audit/audit-export.ts";
import { AUDIT_CSV, JSON_LINES } from "../../../../server/console/audit/audit-formats.ts";
import { createExports } from "../../../../server/console/exports.ts";
import { appendAudit } from "../../../../store/audit/audit.ts";
import { endSession } from "../../../../store/sessions/sessions.ts";
import { until } from "../../../env/until.ts";
import { fillWithAudit } from "../../../store/filled-audit.ts";
import { makeTeam } from "../../../store/fixtures.ts";
import { ISSUER, type Pages, startPages, type Visitor } from "../pages.ts";

let pages: Pages;
let viewer: Visitor;
let key: { id: string; prefix: string };

const HOSTILE = "<img src=x onerror=alert(1)>";

beforeAll(async () => {
  pages = await startPages();
  const members = [
    { role: "viewer", subject: "vera" },
    { role: "admin", subject: "ada" },
  ];
  await pages.send("POST", "/teams", { name: "payments", spec: { displayName: HOSTILE, members } });
  await pages.send("POST", "/teams", { name: "research", spec: {} });
  key = (await pages.send("POST", "/keys", { name: "reader", team: "payments", spec: { preset: "MCPReadOnly" } })).body;
  await pages.send("POST", "/keys", { name: "secretive", team: "research", spec: { preset: "MCPReadOnly" } });
  const upstreams = [{ name: "u", dialect: "openai", baseURL: "https://u.example", credential: "sk-credential" }];
  await pages.send("POST", "/gateways", { name: "models", team: "payments", spec: { upstreams, routes: [] } });
  await pages.send("POST", `/keys/${key.id}/revoke`, { reason: `it was ${HOSTILE}` });
  viewer = await pages.as("vera");
});
afterAll(() => pages.close());

/** The actions that a page lists, in its order. */
function actions(text: string): string[] {
  return [...text.matchAll(/action=([\w.]+)">\1<\/a>/g)].map(([, kind = ""]) => kind);
}

async function list(search: string, visitor: Visitor = pages): Promise<string[]> {
  const { status, text } = await visitor.get(`/audit${search}`);
  expect(status).toBe(200);
  return actions(text);
}

type Line = { id: number; action: string; actor: string; team: string | null; keyId: string | null; detail: object };

async function exported(search: string, visitor: Visitor = pages): Promise<Line[]> {
  const { status, text } = await visitor.get(`/audit/export${search}`);
  expect(status).toBe(200);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe("the audit log's page", () => {
  test("shows the latest first, with who did what, what was before and is after, and no credential", async () => {
    const { text } = await pages.get("/audit");
    expect(actions(text).slice(0, 2)).toEqual(["key.revoked", "gateway.created"]);
    expect(text.replaceAll("<wbr>", "")).toContain("https://u.example");
    expect(text).not.toContain("sk-credential");
    expect(text).toContain("&lt;img src=x");
    expect(text).not.toContain(HOSTILE);
  });

  test("names a person as their issuer does, and the objects that ids in it stand for where the reader sees them", async () => {
    const ada = await pages.as("ada", "Ada Lovelace");
    const wanted = { name: "bound", team: "payments", spec: { preset: "GatewayDefault" } };
    const path = `/keys/${(await pages.send("POST", "/keys", wanted)).body.id}/edit`;
    const [, etag = ""] = /name="etag" value="([^"]*)"/.exec((await ada.get(path)).text) ?? [];
    const fields = { etag: etag.replaceAll("&quot;", '"'), preset: "GatewayDefault", gateway: "models" };
    expect((await ada.post(path, fields)).status).toBe(303);
    const { text } = await viewer.get("/audit?action=key.policy_updated&about=bound");
    expect(text).toMatch(/>Ada Lovelace<\/a><small>https:\/\/id\.example#ada · /);
    expect(text).toMatch(/<ins>models \(gw_\w+\)<\/ins>/);
  });

  test("says of a list that has grown or shrunk what has come or gone", async () => {
    const [few, many] = [
      ["ann", "ben"],
      ["ann", "ben", "zoe"],
    ].map((names) => names.map((value) => ({ value })));
    const changes = [
      [few, many],
      [many, few],
    ].map(([before, after]) => ({ members: { before, after } }));
    const event = { at: null, kind: "team.changed", by: { actor: "console" } };
    await appendAudit(
      pages.store.db,
      changes.map((changed) => ({ ...event, detail: { name: "growing", changed } })),
    );
    const { text } = await pages.get("/audit?about=growing");
    expect(text).toContain('<ins>value: zoe</ins> <span class="muted">beside 2 that stay</span>');
    expect(text).toContain('<del>value: zoe</del> <span class="muted">beside 2 that stay</span>');
  });

  test("offers who does not run the installation no action that they never see", async () => {
    const offered = async (visitor: Visitor) => (await visitor.get("/audit")).text.includes('value="session.begun"');
    expect([await offered(pages), await offered(viewer)]).toEqual([true, false]);
  });

  test("says from where a person has signed in", async () => {
    const by = {
      actor: `${ISSUER}#grace`,
      actorName: "Grace",
      address: "203.0.113.77",
      userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36",
    };
    await appendAudit(pages.store.db, [{ at: null, kind: "session.begun", by, detail: {} }]);
    const { text } = await pages.get("/audit?action=session.begun");
    expect(text).toContain(
      `>Grace</a><small>${ISSUER}#grace · 203.0.113.77</small><details class="small"><summary>Chrome on Linux</summary>`,
    );
  });

  test("b221: says of no other team what its gateways are called, also where one's id is written into what a change has", async () => {
    const upstreams = [{ name: "u", dialect: "openai", baseURL: "https://u.example", credential: "sk-credential" }];
    const hidden = { name: "unreleased", team: "research", spec: { upstreams, routes: [] } };
    const { id } = (await pages.send("POST", "/gateways", hidden)).body;
    const spec = { preset: "GatewayDefault", allowedModels: [id] };
    await pages.send("POST", "/keys", { name: "curious", team: "payments", spec });
    const { text } = await viewer.get("/audit?about=curious");
    expect(text).toContain(id);
    expect(text).not.toContain("unreleased");
  });

  test("is filtered by the action, the team, who did it, and by a key, a prefix or a name", async () => {
    expect(await list("?action=team.created")).toEqual(["team.created", "team.created"]);
    expect(await list("?action=team.created&team=payments")).toEqual(["team.created"]);
    expect(await list("?actor=no-such-actor")).toEqual([]);
    const ofKey = await list(`?about=${key.id}`);
    expect(ofKey).toEqual(["key.revoked", "key.activated", "key.reserved"]);
    expect(await list(`?about=${key.prefix}`)).toEqual(ofKey);
    expect(await list("?about=reader")).toEqual(ofKey);
    expect(await list("?about=models")).toEqual(["gateway.created"]);
  });

  test("is filtered by times, in UTC", async () => {
    expect(await list("?to=2020-01-01T00:00")).toEqual([]);
    expect((await list("?from=2020-01-01T00:00:00&action=key.revoked")).length).toBe(1);
  });

  test.for(["viewer", "admin"])(
    "shows a team's events to its %s, and none of another team or of no team",
    async (role) => {
      const visitor = role === "viewer" ? viewer : await pages.as("ada");
      const kinds = await list("", visitor);
      expect(kinds).toContain("gateway.created");
      expect(kinds).not.toContain("session.begun");
      expect(kinds.filter((kind) => kind === "team.created")).toHaveLength(1);
      expect((await visitor.get("/audit")).text).not.toContain("secretive");
      expect(await list("?team=research", visitor)).toEqual([]);
      expect(await list("?about=secretive", visitor)).toEqual([]);
    },
  );

  test("shows nothing to a person of no team, and says what would be there", async () => {
    const { text } = await (await pages.as("stranger")).get("/audit");
    expect(actions(text)).toEqual([]);
    expect(text).toContain("Nothing has happened yet");
  });

  test.for(["?after=x", "?after=1", "?after=1-2-3"])("refuses %s, which is no place of the log", async (search) => {
    expect((await pages.get(`/audit${search}`)).status).toBe(400);
  });

  test.for([
    "?from=0000-01-01T00:00&to=9999-12-31T23:59:59.999",
    "?from=9999-12-31T23:59&to=0000-01-01T00:00",
    "?after=99999999999999999-999999999999999",
    "?from=yesterday&to=x&team=%00&action=a&action=b",
    `?about=${"%F0%9F%98%80".repeat(400)}`,
    "?actor=%ED%A0%80&about=%25%27%3B",
  ])("takes %s for what it means, or for nothing", async (search) => {
    expect((await pages.get(`/audit${search}`)).status).toBe(200);
  });

  test("takes no more of a whole key in its address than the prefix", async () => {
    const { text } = await pages.get(`/audit?about=${key.prefix}${"x".repeat(49)}`);
    expect(text).not.toContain("xxxx");
    expect(actions(text)).toContain("key.revoked");
  });

  test("b187: takes no more than the prefix of a key that stands within a text", async () => {
    const { text } = await pages.get(`/audit?about=API_KEY%3D%22${key.prefix}${"x".repeat(49)}%22`);
    expect(text).not.toContain("xxxx");
    expect(actions(text)).toContain("key.revoked");
  });
});

describe("the audit log's export", () => {
  test("has what the filters find, a line of JSON each, as a file that nothing keeps", async () => {
    const { headers } = await pages.get("/audit/export");
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="keyplane-audit-[\w-]+\.jsonl"$/);
    expect(headers.get("cache-control")).toBe("no-store");
    const lines = await exported(`?about=${key.id}`);
    expect(lines.map(({ action, team, keyId }) => ({ action, team, keyId }))).toEqual(
      ["key.revoked", "key.activated", "key.reserved"].map((action) => ({ action, team: "payments", keyId: key.id })),
    );
    expect(lines[0]?.detail).toMatchObject({ reason: "ByHand", why: `it was ${HOSTILE}` });
  });

  test("has of a viewer's team what the page has, and nothing else", async () => {
    const lines = await exported("", viewer);
    expect(new Set(lines.map(({ team }) => team))).toEqual(new Set(["payments"]));
    expect(await exported("?team=research", viewer)).toEqual([]);
  });

  test("is a table for spreadsheets too, that runs nothing as a formula", async () => {
    const { headers, text } = await pages.get(`/audit/export.csv?about=${key.id}`);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(headers.get("content-disposition")).toMatch(/filename="keyplane-audit-[\w-]+\.csv"$/);
    const [head, ...lines] = text.split("\r\n").slice(0, -1);
    expect(head).toBe("Time (UTC),Action,Namespace,Name,Team,By,Their name,From,Why,Detail,Key id,Id");
    expect(lines.map((line) => line.split(",")[1])).toEqual(["key.revoked", "key.activated", "key.reserved"]);
    expect(lines[0]).toContain(`,reader,payments,`);
    expect(lines[0]).toContain(`,it was ${HOSTILE},`);
    expect((await viewer.get("/audit/export.csv?team=research")).text.split("\r\n")).toHaveLength(2);
  });

  test("says in a table what was cut", async () => {
    const search = { kind: "team.created", teamIds: undefined, actor: undefined, about: undefined };
    const of = async (most: number) => {
      const asked = { db: pages.store.db, search: { ...search, from: undefined, to: undefined } };
      const format = { ...AUDIT_CSV, most };
      return (await Array.fromAsync(auditLines({ ...asked, format, checkAgain: async () => {} }))).join("");
    };
    expect((await of(1)).split("\r\n").slice(1, -1)).toEqual([
      expect.stringContaining(",team.created,"),
      expect.stringMatching(/^"Cut here: .* or export as JSON Lines, which has all\."$/),
    ]);
    expect(await of(2)).not.toContain("Cut here");
  });

  describe("of a long log", () => {
    const EVENTS = 2_000;
    beforeAll(async () => {
      await fillWithAudit(pages.store, EVENTS, 2);
      // More than the connection's buffers take: the end waits for its reader.
      await sql`update audit_events set detail = jsonb_build_object('padding', repeat('x', 12000))
        where team_id = 'team_1'`.execute(pages.store.db);
      await sql`insert into teams (id, cluster, name, display_name, state, generation)
        values ('team_1', 'c', 'filled', '', 'active', 1)`.execute(pages.store.db);
      await sql`insert into team_members (team_id, role, kind, value)
        values ('team_1', 'viewer', 'subject', 'fay')`.execute(pages.store.db);
    });

    test("is counted on its page: exactly up to a thousand events, and beyond as more than that", async () => {
      const footOf = async (search: string) =>
        /\d+ events? on this page[^<]*/.exec((await pages.get(`/audit${search}`)).text)?.[0];
      expect(await footOf("")).toBe("50 events on this page, more than 1,000 in all");
      expect(await footOf("?about=reader")).toBe("3 events on this page, 3 in all");
    });

    test("has each event once, the latest first", async () => {
      const ids = (await exported("?to=2026-11-14T12:00:01")).map(({ id }) => id);
      expect(ids).toHaveLength(EVENTS);
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => b - a));
    });

    test("b240: is looked for no further once its reader has left, where nothing is found for long", async () => {
      await sql`insert into audit_events (at, kind, actor, detail)
        select '2020-01-01', 'key.forgotten', 'controller', '{}' from generate_series(1, 2500)`.execute(pages.store.db);
      const search = { kind: "key.forgotten", teamIds: undefined, actor: undefined, about: undefined };
      const within = { ...search, from: Date.UTC(2021, 0), to: undefined };
      let checks = 0;
      const checkAgain = async () => void checks++;
      const pieces = auditLines({ db: pages.store.db, search: within, format: JSON_LINES, checkAgain });
      const file = createExports()({ actor: "fay", teamId: "team_1", pieces });
      file.resume();
      await nextTurn();
      file.destroy();
      await once(file, "close");
      expect(checks).toBe(0);
    });

    test("b66: is broken off, and not ended, where a member is removed or signs out meanwhile", async () => {
      const cuts = [
        () => sql`delete from team_members where value = 'fay'`.execute(pages.store.db),
        (visitor: Visitor) => endSession(pages.store.db, visitor.browser.digest),
      ];
      for (const cut of cuts) {
        await sql`insert into team_members (team_id, role, kind, value)
          values ('team_1', 'viewer', 'subject', 'fay') on conflict do nothing`.execute(pages.store.db);
        const visitor = await pages.as("fay");
        const { answer, ended } = await beginExport(visitor);
        await cut(visitor);
        answer.resume();
        await ended;
        expect(answer.complete).toBe(false);
      }
      await until("the server says so", () =>
        pages.lines.some((line) => line.includes("an export of the audit log was aborted")),
      );
    });

    test("is whole where its reader becomes a member of another team meanwhile", async () => {
      await sql`insert into team_members (team_id, role, kind, value)
        values ('team_1', 'viewer', 'subject', 'fay') on conflict do nothing`.execute(pages.store.db);
      const { answer, ended } = await beginExport(await pages.as("fay"));
      const { teamId: another } = await makeTeam(pages.store);
      await sql`insert into team_members (team_id, role, kind, value)
        values (${another}, 'viewer', 'subject', 'fay')`.execute(pages.store.db);
      answer.resume();
      await ended;
      expect(answer.complete).toBe(true);
      await sql`delete from team_members where team_id = ${another}`.execute(pages.store.db);
    });

    test("b157: is written to two people of a team at a time, and to each of them once, and to others meanwhile", async () => {
      await sql`insert into team_members (team_id, role, kind, value)
        select 'team_1', 'viewer', 'subject', unnest(array['fay', 'gus', 'hal']) on conflict do nothing`.execute(
        pages.store.db,
      );
      // As that is confirmed the server knows the members, too.
      await pages.send("POST", "/teams", { name: "late", spec: {} });
      const [fay, gus, hal] = [await pages.as("fay"), await pages.as("gus"), await pages.as("hal")];
      const open = [await beginExport(fay)];
      const again = await fay.get("/audit/export");
      expect(again.status).toBe(503);
      expect(again.text).toContain("Another of your exports");
      open.push(await beginExport(gus));
      const beyond = await hal.get("/audit/export");
      expect([beyond.status, beyond.text]).toEqual([503, expect.stringContaining("Your team has as many exports")]);
      expect((await viewer.get("/audit/export")).status).toBe(200);
      for (const { answer } of open) answer.destroy();
      await until("there is room again", async () => (await hal.get("/audit/export?action=none")).status === 200);
      for (let i = 0; i < 3; i++) await leaveBeforeHead(pages);
      await until("there is room again", async () => (await pages.get("/audit/export?action=none")).status === 200);
    });
  });
});

/** Asks for an export, and leaves as it is being asked for. */
async function leaveBeforeHead({ browser }: Visitor): Promise<void> {
  const asked = request(`${pages.url}/dashboard/audit/export`, { headers: { cookie: browser.cookie } });
  asked.on("error", () => {});
  asked.end(() => setImmediate(() => asked.destroy()));
  await new Promise((resolve) => asked.once("close", resolve));
}

/** Asks for an export, and takes no more of it than its head. */
async function beginExport({ browser }: Visitor) {
  const asked = request(`${pages.url}/dashboard/audit/export`, { headers: { cookie: browser.cookie } }).end();
  const [answer] = await once(asked, "response");
  expect(answer.statusCode).toBe(200);
  answer.on("error", () => {});
  return { answer, ended: new Promise((resolve) => answer.once("close", resolve)) };
}
