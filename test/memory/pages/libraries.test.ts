import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pages, startPages, type Visitor } from "../../server/console/pages.ts";

let pages: Pages;
let viewer: Visitor;
/** Libraries by their names. */
const ids = new Map<string, string>();

const HOSTILE = `<script>alert(1)</script> <a href="javascript:alert(1)">https://evil.example</a> **bold`;

beforeAll(async () => {
  pages = await startPages();
  for (const [team, subject] of [
    ["payments", "vera"],
    ["research", "rob"],
  ]) {
    await pages.send("POST", "/teams", { name: team, spec: { members: [{ role: "viewer", subject }] } });
  }
  for (const [name, team] of [
    ["handbook", "payments"],
    ["empty", "payments"],
    ["secrets", "research"],
  ] as const) {
    const { body } = await pages.send("POST", "/libraries", { name, team, spec: { description: HOSTILE } });
    ids.set(name, body.id);
  }
  await sql`update teams set default_library_name = 'handbook', default_library_namespace = ''
    where name = 'payments'`.execute(pages.store.db);
  viewer = await pages.as("vera");
});
afterAll(() => pages.close());

const pathOf = (name: string) => `/libraries/${ids.get(name)}`;

async function writer(team: string): Promise<string> {
  const name = `writer-${ids.size}-${team}`;
  const { body } = await pages.send("POST", "/keys", { name, team, spec: { preset: "MCPReadWrite" } });
  return body.secret;
}

async function remember(key: string, atom: object): Promise<string> {
  const answer = await fetch(`${pages.url}/atoms`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(atom),
  });
  expect(answer.status, await answer.clone().text()).toBe(201);
  const { id }: { id?: unknown } = Object(await answer.json());
  return String(id);
}

/** The texts of the atoms that a page lists, in its order. */
function texts(page: string): string[] {
  return [...page.matchAll(/<p class="atom-text" dir="auto">([\s\S]*?)<\/p>/g)].map(([, text = ""]) => text);
}

describe("the list of libraries", () => {
  test("has those of the viewer's teams, with the team's default, and no other", async () => {
    const { status, text } = await viewer.get("/libraries");
    expect(status).toBe(200);
    expect(text).toContain("handbook");
    expect(text.match(/>Default</g)).toHaveLength(1);
    expect(text).not.toContain("secrets");
    expect((await pages.get("/libraries?team=research")).text).toContain("secrets");
    expect((await viewer.get("/libraries?team=research")).text).toContain("No library matches");
  });

  test("says to a person without any what to do", async () => {
    expect((await (await pages.as("stranger")).get("/libraries")).text).toContain("No libraries yet");
  });

  test("has pages, each library on one of them", async () => {
    await sql`insert into libraries (id, cluster, namespace, name, team_id, owner_uid, display_name, description,
        deletion_policy, state)
      select 'lib_' || translate(md5(i::text), '0189', 'wxyz'), 'c', 'ns', 'many-' || i, (select id from teams where name = 'research'),
        'u' || i, '', '', 'Retain', 'active' from generate_series(1, 120) i`.execute(pages.store.db);
    const names: string[] = [];
    let path: string | undefined = "/libraries?team=research";
    while (path !== undefined) {
      const { text } = await pages.get(path);
      names.push(...[...text.matchAll(/<th scope="row"><a[^>]*>ns\/([^<]+)</g)].map(([, name = ""]) => name));
      path = /href="\/dashboard([^"]+)"[^>]*>Next page/.exec(text)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(names).toHaveLength(120);
    expect(new Set(names).size).toBe(120);
  });
});

describe("a library's page", () => {
  let key: string;
  let hostile: string;

  beforeAll(async () => {
    key = await writer("payments");
    for (let i = 0; i < 70; i++) {
      await remember(key, { library: "handbook", content: `Rule ${i}`, tags: i % 10 === 0 ? ["tens"] : [] });
    }
    // Two that were made within a millisecond have no order.
    await sql`update atoms set created_at = created_at - (70 - substr(content, 6)::integer) * interval '1 millisecond'
      where content like 'Rule %'`.execute(pages.store.db);
    hostile = await remember(key, {
      ...{ library: "handbook", content: `\n${HOSTILE} refunds`, tags: [`"><img>`, "a&b=c"], source: HOSTILE },
    });
    const other = await writer("research");
    await remember(other, { library: "secrets", content: "Refunds are a secret" });
  });

  test("lists its atoms page by page, the newest first, each once", async () => {
    const seen: string[] = [];
    let path: string | undefined = pathOf("handbook");
    while (path !== undefined) {
      const { text } = await viewer.get(path);
      seen.push(...texts(text));
      path = /href="\/dashboard([^"]+)"[^>]*>Next page/.exec(text)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(seen).toHaveLength(71);
    expect(seen.slice(1)).toEqual(Array.from({ length: 70 }, (_, i) => `Rule ${69 - i}`));
  });

  test("lists atoms of before 1970 on its further pages too", async () => {
    const library = { name: "chronicle", team: "payments", spec: {} };
    const { id } = (await pages.send("POST", "/libraries", library)).body;
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select l.id, l.team_id, 'Year ' || n, '{}', 0, make_date(n, 1, 1), now()
      from libraries l, generate_series(1900, 1939) n where l.id = ${id}`.execute(pages.store.db);
    const { text } = await viewer.get(`/libraries/${id}`);
    const next = /href="\/dashboard([^"]+)"[^>]*>Next page/.exec(text)?.[1] ?? "";
    expect(texts((await viewer.get(next)).text)).toEqual(Array.from({ length: 10 }, (_, i) => `Year ${1909 - i}`));
  });

  test("finds atoms page by page, each once, however many and long they are", async () => {
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select l.id, l.team_id, 'lighthouse ' || n || ' ' || repeat('x', 50000), '{}', 0, to_timestamp(n), to_timestamp(n)
      from libraries l, generate_series(1, 120) n where l.id = ${ids.get("handbook")}`.execute(pages.store.db);
    const seen: string[] = [];
    let path: string | undefined = `${pathOf("handbook")}?q=lighthouse`;
    while (path !== undefined) {
      const { text } = await viewer.get(path);
      seen.push(...[...text.matchAll(/<mark>lighthouse<\/mark> (\d+)/g)].map(([, number = ""]) => number));
      path = /href="\/dashboard([^"]+)"[^>]*>Next page/.exec(text)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(seen).toHaveLength(120);
    expect(new Set(seen).size).toBe(120);
    await sql`delete from atoms where content like 'lighthouse %'`.execute(pages.store.db);
  });

  test("finds atoms by their words and by their tag", async () => {
    expect(texts((await viewer.get(`${pathOf("handbook")}?tag=tens`)).text)).toHaveLength(7);
    const found = texts((await viewer.get(`${pathOf("handbook")}?q=refund`)).text);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain("<mark>refunds</mark>");
    expect(texts((await viewer.get(`${pathOf("handbook")}?q=refund&tag=tens`)).text)).toEqual([]);
  });

  test("b65: shows what an atom holds as text: in the list, in what is found, and on its page", async () => {
    for (const path of ["", "?q=refunds", `/atoms/${hostile}`]) {
      const { status, text } = await viewer.get(`${pathOf("handbook")}${path}`);
      expect(status).toBe(200);
      expect(text).toContain("&lt;script&gt;");
      for (const harm of ["<script>a", "<img>", 'href="javascript', 'href="https://evil'])
        expect(text).not.toContain(harm);
      expect(text).toContain(`?${path.startsWith("?") ? "q=refunds&amp;" : ""}tag=a%26b%3Dc`);
    }
  });

  test("marks what another atom replaces, and what is not valid now: in the list, in what is found, and on its page", async () => {
    const old = await remember(key, { content: "The deploy port is 8080." });
    const by = await remember(key, { content: "The deploy port is 9090.", links: [{ rel: "replaces", id: old }] });
    const past = await remember(key, { content: "The deploy week was red.", validTo: "2020-01-01T00:00:00Z" });
    const coming = await remember(key, { content: "The deploy week is blue.", validFrom: "2120-01-01T00:00:00Z" });
    const marksOf = (page: string) =>
      Array.from(page.matchAll(/<li>[\s\S]*?<\/li>/g), ([item]) => [
        /atoms\/([0-9a-f-]{36})/.exec(item)?.[1],
        ...Array.from(item.matchAll(/class="badge warn">([^<]+)/g), ([, mark]) => mark),
      ]).filter(([id]) => [old, by, past, coming].some((one) => one === id));
    for (const path of [pathOf("handbook"), `${pathOf("handbook")}?q=deploy`]) {
      const marks = marksOf((await viewer.get(path)).text);
      expect(marks).toHaveLength(4);
      expect(marks).toEqual(
        expect.arrayContaining([[old, "Replaced"], [by], [past, "No longer valid"], [coming, "Not valid yet"]]),
      );
    }
    const page = (await viewer.get(`${pathOf("handbook")}/atoms/${old}`)).text;
    expect(page).toContain('<span class="badge warn">Replaced</span>');
    expect(page).toContain(`<a href="/dashboard${pathOf("handbook")}/atoms/${by}"><code>${by}</code></a>`);
  });

  test("leads from an atom to those that it links to, also in another library of the team", async () => {
    const { body } = await pages.send("POST", "/libraries", { name: "sources", team: "payments", spec: {} });
    const source = await remember(key, { library: "sources", content: "A source." });
    const id = await remember(key, { library: "handbook", content: "By it.", links: [{ rel: "cites", id: source }] });
    const { text } = await viewer.get(`${pathOf("handbook")}/atoms/${id}`);
    const path = /href="\/dashboard([^"]+)"><bdi>cites/.exec(text)?.[1] ?? "";
    expect([path, (await viewer.get(path)).text.includes("A source.")]).toEqual([
      ...[`/libraries/${body.id}/atoms/${source}`, true],
    ]);
  });

  test("shows an atom with its earlier revisions", async () => {
    const id = await remember(key, { library: "handbook", content: "first words", importance: 9 });
    await fetch(`${pages.url}/atoms`, {
      method: "PATCH",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ id, revision: 1, content: "second words" }),
    });
    const { text } = await viewer.get(`${pathOf("handbook")}/atoms/${id}`);
    expect(text).toMatch(/9 of 10/);
    expect(text).toContain("second words");
    expect(text).toMatch(/Revision 1,[\s\S]*first words/);
  });

  test("shows a text of the greatest length, and its beginning in the list", async () => {
    const id = await remember(key, { library: "handbook", content: "😀".repeat(32_768) });
    const [first = ""] = texts((await viewer.get(pathOf("handbook"))).text);
    expect(first.length).toBeLessThan(430);
    expect((await viewer.get(`${pathOf("handbook")}/atoms/${id}`)).text).toContain("😀".repeat(32_768));
  });

  test("b58: is not there for another team's people, nor is an atom of it by another library's address", async () => {
    const other = await pages.as("rob");
    for (const path of [pathOf("handbook"), `${pathOf("handbook")}/atoms/${hostile}`]) {
      expect((await other.get(path)).status).toBe(404);
    }
    expect((await other.get(`${pathOf("secrets")}/atoms/${hostile}`)).status).toBe(404);
    expect((await viewer.get(`${pathOf("empty")}/atoms/${hostile}`)).status).toBe(404);
    expect((await viewer.get(`${pathOf("handbook")}?q=secret`)).text).toContain("No atom matches");
  });

  test("b66: is gone with the next request for a member who was removed", async () => {
    await sql`insert into team_members (team_id, role, kind, value)
      select id, 'member', 'subject', 'gone' from teams where name = 'payments'`.execute(pages.store.db);
    const gone = await pages.as("gone");
    expect((await gone.get(pathOf("handbook"))).status).toBe(200);
    await sql`delete from team_members where value = 'gone'`.execute(pages.store.db);
    expect((await gone.get(pathOf("handbook"))).status).toBe(404);
  });

  test.for([
    ["?after=x", 400],
    ["?after=999999999999999_00000000-0000-0000-0000-000000000000", 400],
    ["?after=0_00000000-0000-0000-0000-000000000000", 200],
    [`?q=${"-".repeat(900)}a`, 400],
    [`?q=${"%F0%9F%98%80".repeat(400)}&tag=%00`, 200],
    ["?q=%22%27%3B&q=b", 200],
    ["/atoms/x", 404],
    ["/atoms/x?before=y", 400],
  ] as const)("answers %s with %i", async ([search, status]) => {
    expect((await viewer.get(`${pathOf("handbook")}${search}`)).status).toBe(status);
  });

  test("says of an empty library what to do", async () => {
    expect((await viewer.get(pathOf("empty"))).text).toContain("No atoms yet");
  });
});

describe("conversations on a library's page", () => {
  test("are said not to be taken where the library does not declare it", async () => {
    expect((await viewer.get(pathOf("empty"))).text).toContain("Not taken: no spec.extraction is declared");
  });

  test("have the gateway, the model, what waits, what failed and why, and the day's tokens", async () => {
    const upstreams = [{ name: "u", dialect: "openai", baseURL: "http://127.0.0.1:1", credential: "c" }];
    const spec = { upstreams };
    const gateway = (await pages.send("POST", "/gateways", { name: "reading", team: "payments", spec })).body.id;
    const key = (await pages.send("POST", "/keys", { name: "own", team: "payments", spec: { preset: "MCPReadOnly" } }))
      .body.id;
    const { body } = await pages.send("POST", "/libraries", { name: "notes", team: "payments", spec: {} });
    ids.set("notes", body.id);
    const { db } = pages.store;
    await sql`insert into library_extractions (library_id, gateway_id, model, key_id, tokens_per_day, used_on, used_tokens)
      values (${body.id}, ${gateway}, 'small-<model>', ${key}, 1000000, (now() at time zone 'UTC')::date, 12345)`.execute(
      db,
    );
    const page = async () => (await viewer.get(pathOf("notes"))).text;
    expect(await page()).not.toContain("Last failure");
    const jobs: [state: string, failure: string | null, hours: number][] = [
      ["done", null, 1],
      ["failed", "the answer of <b>today</b>", 2],
      ["failed", "of yesterday", 48],
      ["queued", null, 50],
    ];
    for (const [index, [state, failure, hours]] of jobs.entries()) {
      const at = new Date(Date.now() - hours * 3_600_000);
      const endedAt = state === "queued" ? null : at;
      await sql`insert into extraction_jobs (library_id, stored_in, digest, passages, calls, state, failure, ended_at, created_at)
        values (${body.id}, ${body.id}, ${Buffer.alloc(32, index)}::bytea, '{}', 1, ${state}, ${failure}, ${endedAt}::timestamptz,
          ${at}::timestamptz)`.execute(db);
    }
    const text = await page();
    for (const said of ["reading", "small-&lt;model&gt;", "12,345 of 1,000,000", "the answer of &lt;b&gt;today"]) {
      expect(text).toContain(said);
    }
    expect(text).toMatch(/<dt>Waiting<\/dt><dd>1<\/dd>/);
    expect(text).toMatch(/<dt>Failed in the last day<\/dt><dd>1<\/dd>/);
    expect(text).not.toContain("of yesterday");
    await sql`update library_extractions set used_on = used_on - 1 where library_id = ${body.id}`.execute(db);
    expect(await page()).toContain("0 of 1,000,000");
    await pages.send("POST", `/keys/${key}/revoke`, {});
    expect(await page()).toContain("Its key was revoked");
  });
});
