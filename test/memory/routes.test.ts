import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { scopeSet } from "../../domain/access/scopes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import type { Store } from "../../store/database/store.ts";
import { cpuTimeOf } from "../env/cpu-time.ts";
import { type Harness, startHarness } from "../server/harness.ts";
import { withoutRequestIds } from "../server/request-ids.ts";
import { addLibrary } from "./libraries.ts";
import { openMemoryStore } from "./memory-store.ts";

const READ = { scopes: scopeSet(["memory:read"]) };
const UNKNOWN = "00000000-0000-7000-8000-000000000000";

describe("the memory over REST", () => {
  let store: Store;
  let server: Harness;
  let key: string;
  let diaryOnly: string;
  let teamB: string;
  beforeAll(async () => {
    store = await openMemoryStore();
    const mounts = ["", "/api/v1/memory"].map((at) => ({ at, routes: memoryRoutes }));
    server = await startHarness({ mounts, store });
    key = server.addKey({ teamDefaultLibraryId: "lib-handbook" });
    diaryOnly = server.addKey({ libraryIds: ["lib-diary"], mcpDefaultLibraryId: "lib-diary" });
    teamB = server.addKey({ teamId: "team-b", namespace: "b" });
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });
  beforeEach(async () => {
    await sql`delete from atoms`.execute(store.db);
  });

  /** Calls the app, with a JSON body where one is given. */
  async function call(method: string, path: string, as: string, body?: unknown) {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${as}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, json: text === "" ? undefined : JSON.parse(text) };
  }
  const save = async (fields: Record<string, unknown> = {}, as = key) => {
    const { status, json } = await call("POST", "/atoms", as, { content: "A statement.", ...fields });
    expect(status).toBe(201);
    return json;
  };

  describe("the journey of an atom", () => {
    test.each(["", "/api/v1/memory"])("is created, read, corrected, listed and deleted under %j/atoms", async (at) => {
      const input = { library: "diary", content: "Version one.", tags: ["t1"], source: "me", importance: 7.5 };
      const created = await call("POST", `${at}/atoms`, key, input);
      expect(created.status).toBe(201);
      const now = new Date(server.clock.now()).toISOString();
      const unsaid = { metadata: {}, links: [], expiresAt: null, validFrom: null, validTo: null };
      const atom = { id: created.json.id, ...input, ...unsaid, created: now, updated: now, revision: 1 };
      expect(created.json).toEqual(atom);
      expect((await call("GET", `${at}/atoms/${atom.id}`, key)).json).toEqual(atom);
      const corrected = await call("PATCH", `${at}/atoms`, key, { id: atom.id, revision: 1, content: "Version two." });
      expect(corrected.json).toEqual({ ...atom, content: "Version two.", revision: 2 });
      expect((await call("GET", `${at}/atoms?library=diary&tag=t1`, key)).json).toEqual({
        items: [corrected.json],
        nextCursor: null,
      });
      const revisions = await call("GET", `${at}/atoms/${atom.id}/revisions`, key);
      expect(revisions.json.items.map((revision: { content: string }) => revision.content)).toEqual([
        "Version two.",
        "Version one.",
      ]);
      expect(await call("DELETE", `${at}/atoms/${atom.id}`, key)).toMatchObject({ status: 204, text: "" });
      expect((await call("DELETE", `${at}/atoms/${atom.id}`, key)).status).toBe(404);
      expect((await call("GET", `${at}/atoms/${atom.id}`, key)).status).toBe(404);
    });

    test("a new atom without a library goes to the key's default, else to the team's, else it is refused", async () => {
      expect((await save({}, diaryOnly)).library).toBe("diary");
      expect((await save({}, key)).library).toBe("handbook");
      const refused = await call("POST", "/atoms", teamB, { content: "where?" });
      expect(refused.status).toBe(400);
      expect(refused.json.detail).toContain("library");
    });

    test("a library of another namespace of the team is named, and shown, with its namespace", async () => {
      expect((await save({ library: "a-prod/ops" })).library).toBe("a-prod/ops");
      expect((await save({ library: "a-dev/diary" })).library).toBe("diary");
      expect((await call("POST", "/atoms", key, { library: "ops", content: "x" })).status).toBe(404);
      const everywhere = await call("GET", "/atoms?library=*", key);
      expect(everywhere).toMatchObject({
        status: 404,
        json: { detail: expect.stringContaining('leave "library" out') },
      });
      expect((await call("GET", "/atoms?library=a-prod/ops", key)).json.items).toHaveLength(1);
    });

    test("a change of a revision that has moved on is 409, and names the present one", async () => {
      const { id } = await save();
      await call("PATCH", "/atoms", key, { id, revision: 1, content: "two" });
      const stale = await call("PATCH", "/atoms", key, { id, revision: 1, content: "three" });
      expect(stale.status).toBe(409);
      expect(stale.json).toMatchObject({ code: "conflict", detail: expect.stringContaining("revision 2") });
    });

    test("search ranks, marks what it found, and keeps to a library and a tag", async () => {
      await save({ content: "Deployments roll out on Tuesdays.", tags: ["ops"] });
      await save({ content: "A deployment is a deployment.", library: "diary" });
      const found = await call("GET", "/atoms/search?q=deployment", key);
      expect(found.json.items.map((item: { library: string }) => item.library)).toEqual(["diary", "handbook"]);
      expect(found.json.items[1]).toMatchObject({
        snippet: "Deployments roll out on Tuesdays.",
        matches: [{ from: 0, to: 11 }],
        revision: 1,
      });
      expect((await call("GET", "/atoms/search?q=deployment&library=diary", key)).json.items).toHaveLength(1);
      expect((await call("GET", "/atoms/search?q=deployment&tag=ops", key)).json.items).toHaveLength(1);
    });

    test("an atom that another one replaces comes behind it in a search, and says by which it is replaced", async () => {
      const old = await save({ content: "The deploy freeze ends on Monday." });
      const links = [{ rel: "replaces", id: old.id }];
      const by = await save({ content: "The deploy freeze goes on until Friday.", links, importance: 0 });
      const { items } = (await call("GET", "/atoms/search?q=deploy%20freeze", key)).json;
      expect(items).toMatchObject([
        { id: by.id, replacedBy: null },
        { id: old.id, replacedBy: by.id },
      ]);
      await call("DELETE", `/atoms/${by.id}`, key);
      expect((await call("GET", "/atoms/search?q=freeze", key)).json.items).toMatchObject([
        { id: old.id, replacedBy: null },
      ]);
    });

    test("a search whose exclusions leave nothing says what they hide, and one minus sign more is text", async () => {
      await call("POST", "/atoms", key, { content: "curl -v shows the headers of the harbour." });
      await call("POST", "/atoms", key, { content: "The harbour, verbose: v." });
      const search = async (q: string) => (await call("GET", `/atoms/search?q=${encodeURIComponent(q)}`, key)).json;
      expect(await search("harbour -v")).toEqual({
        ...{ items: [], nextCursor: null, semantic: false },
        note: 'Excluding "v" leaves nothing: it hides 2 atoms that would be found without. A word after "-" is excluded: to look for a minus sign as text, quote it, as in "-v".',
      });
      expect((await search("-harbour")).note).toContain('Excluding "harbour" leaves nothing: it hides 2 atoms');
      for (const [q, count] of [
        ["harbour -curl", 1],
        ["harbour --v", 2],
        ['harbour "-v"', 2],
      ] as const) {
        const found = await search(q);
        expect([q, found.items.length, found.note]).toEqual([q, count, undefined]);
      }
      expect(await search("marzipan -v")).toEqual({ items: [], nextCursor: null, semantic: false });
    });

    test("filters and an order narrow a list and a search alike, over pages, and a cursor is of the same ones", async () => {
      await save({ content: "harbour one", tags: ["a"], source: "docs/one", importance: 9 });
      await save({ content: "harbour two", tags: ["b"], source: "docs/two", importance: 8 });
      await save({ content: "harbour three", tags: ["c"], source: "mail", importance: 7 });
      const contents = async (path: string) => {
        const { json, status } = await call("GET", path, key);
        expect(status, JSON.stringify(json)).toBe(200);
        return json.items.map((item: { content: string }) => item.content.replace("harbour ", ""));
      };
      for (const path of ["/atoms?", "/atoms/search?q=harbour&"]) {
        expect(await contents(`${path}tag=a&tag=b&sort=oldest`), path).toEqual(["one", "two"]);
        expect(await contents(`${path}source=docs/&sort=newest`), path).toEqual(["two", "one"]);
        expect(await contents(`${path}importance=8&sort=importance`), path).toEqual(["one", "two"]);
        expect(await contents(`${path}since=2999-01-01T00:00:00Z`), path).toEqual([]);
        expect(await contents(`${path}until=2000-01-01T00:00:00Z`), path).toEqual([]);
        const first = await call("GET", `${path}sort=importance&limit=2`, key);
        const cursor = first.json.nextCursor;
        expect(await contents(`${path}sort=importance&limit=2&cursor=${cursor}`), path).toEqual(["three"]);
        for (const other of ["sort=newest", "sort=importance&tag=a", "sort=importance&importance=1"]) {
          expect((await call("GET", `${path}${other}&cursor=${cursor}`, key)).status, other).toBe(404);
        }
      }
      const { json } = await call("GET", "/atoms/search?q=harbour&limit=1", key);
      const elsewhere = await call("GET", `/atoms/search?q=harbours&cursor=${json.nextCursor}`, key);
      expect(elsewhere.status, "a cursor of another query").toBe(404);
    });

    test("pages follow their cursor without loss or repeat, of which the first is an empty one", async () => {
      for (let i = 0; i < 7; i++) await save({ content: `item ${i}`, tags: ["paged"] });
      const ids: string[] = [];
      let cursor = "";
      do {
        const { json } = await call("GET", `/atoms?tag=paged&limit=3&cursor=${cursor}`, key);
        ids.push(...json.items.map((item: { id: string }) => item.id));
        cursor = json.nextCursor;
      } while (cursor);
      expect(new Set(ids).size).toBe(7);
      expect(ids).toHaveLength(7);
    });

    test.each([
      ...[
        "library=",
        "tag=",
        "since=",
        "until=",
        "source=",
        "importance=",
        "sort=",
        "limit=",
        "cursor=",
        "tag=&tag=",
        "limit=&limit=",
      ],
      "library=&tag=&source=",
    ])("a parameter of a query that is empty is left out: %s", async (empty) => {
      const { id } = await save({ content: "harbour", tags: ["a"], source: "mail", importance: 1 });
      for (const path of ["/atoms?", "/atoms?tag=&tag=a&", "/atoms/search?q=harbour&"]) {
        const { status, json } = await call("GET", path + empty, key);
        expect([status, json.items?.map((item: { id: string }) => item.id)], path).toEqual([200, [id]]);
      }
    });

    test("a parameter that is empty and would say what a write may do is refused, and nothing is saved", async () => {
      const { status, json } = await call("POST", "/atoms?duplicates=", key, { content: "harbour" });
      expect([status, json.detail]).toEqual([400, expect.stringContaining("duplicates")]);
      expect((await call("GET", "/atoms", key)).json.items).toEqual([]);
    });

    test("revisions come in pages too", async () => {
      const { id } = await save();
      for (let revision = 1; revision <= 4; revision++)
        await call("PATCH", "/atoms", key, { id, revision, content: `${revision}` });
      const first = await call("GET", `/atoms/${id}/revisions?limit=3`, key);
      const second = await call("GET", `/atoms/${id}/revisions?limit=3&cursor=${first.json.nextCursor}`, key);
      const numbers = [...first.json.items, ...second.json.items].map((item: { revision: number }) => item.revision);
      expect(numbers).toEqual([5, 4, 3, 2, 1]);
      expect(second.json.nextCursor).toBeNull();
    });

    test("a key that only writes is shown of an atom that it corrects what it says, and no more", async () => {
      const writer = server.addKey({ scopes: scopeSet(["memory:write"]), teamDefaultLibraryId: "lib-handbook" });
      const other = await save();
      const links = [{ rel: "explains", id: other.id }];
      const hidden = {
        content: "Not for it.",
        tags: ["hidden"],
        source: "a diary",
        metadata: { salary: "much" },
        links,
      };
      const { id } = await save({ ...hidden, library: "diary" });
      const corrected = await call("PATCH", "/atoms", writer, { id, revision: 1, importance: 9, tags: ["seen"] });
      const updated = new Date(server.clock.now()).toISOString();
      const said = { importance: 9, tags: ["seen"] };
      expect([corrected.status, corrected.json]).toEqual([200, { id, ...said, updated, revision: 2 }]);
      const whole = await call("PATCH", "/atoms", key, { id, revision: 2, importance: 8 });
      expect(whole.json).toMatchObject({ ...hidden, tags: ["seen"], library: "diary", importance: 8, revision: 3 });
    });

    test("a read-only key reads, and is refused every write", async () => {
      const { id } = await save();
      const reader = server.addKey(READ);
      expect((await call("GET", "/atoms", reader)).status).toBe(200);
      expect((await call("POST", "/atoms", reader, { content: "x" })).status).toBe(403);
      expect((await call("PATCH", "/atoms", reader, { id, revision: 1, content: "x" })).status).toBe(403);
      expect((await call("DELETE", `/atoms/${id}`, reader)).status).toBe(403);
    });
  });

  describe("a mistake is answered with what to do", () => {
    test.each<[string, unknown, string]>([
      ["no content", { library: "diary" }, 'lacks "content"'],
      ["a number for content", { content: 5 }, '"content" must be string'],
      ["an empty content", { content: "" }, '"content"'],
      ["broken JSON", "{", "not valid JSON"],
      ["no object", [], "must be object"],
      ["nothing", "", "must be object"],
      ["a misspelt field", { content: "x", libary: "diary" }, 'unknown field "libary". Did you mean "library"?'],
      [
        "an unknown field",
        { content: "x", colour: "red" },
        "It takes library, content, tags, source, importance, metadata, links, expiresAt, validFrom, validTo.",
      ],
      ["tags that are no list", { content: "x", tags: "t" }, '"tags" must be array'],
      ["a tag that is no text", { content: "x", tags: ["a", 5] }, '"tags.1" must be string'],
      ["a tag twice", { content: "x", tags: ["a", "a"] }, "twice"],
      ["33 tags", { content: "x", tags: Array.from({ length: 33 }, (_, i) => `${i}`) }, "32"],
      ["a long tag", { content: "x", tags: ["t".repeat(65)] }, "64"],
      ["an importance beyond 10", { content: "x", importance: 11 }, "<= 10"],
      ["content of more than 65,536 characters", { content: "x".repeat(65_537) }, "65536"],
      ["a NUL in the content", { content: "a\u0000b" }, "NUL"],
      ["a NUL in a tag", { content: "x", tags: ["\u0000"] }, "NUL"],
      ["__proto__", '{"content":"x","__proto__":{"teamId":"team-b"}}', 'a member "__proto__"'],
    ])("POST /atoms with %s", async (_what, body, detail) => {
      const { status, json } = await call("POST", "/atoms", key, body);
      expect(status).toBe(400);
      expect(json).toMatchObject({ code: "invalid_request", status: 400, detail: expect.stringContaining(detail) });
      const { rows } = await sql<{ n: number }>`select count(*)::integer as n from atoms`.execute(store.db);
      expect(rows[0]?.n).toBe(0);
    });

    test.each<[string, string, string]>([
      ["/atoms?limit=0", "limit", ">= 1"],
      ["/atoms?limit=101", "limit", "<= 100"],
      ["/atoms?limit=ten", "limit", "integer"],
      ["/atoms?limit=1e9", "limit", "<= 100"],
      ["/atoms?limit=Infinity", "limit", "integer"],
      ["/atoms/search?q=x&limit=1e400", "limit", "integer"],
      ["/atoms?importance=-Infinity", "importance", "number"],
      ["/atoms/search?q=x&importance=9e999", "importance", "number"],
      ["/atoms?library=a&library=b", "library", "given once"],
      [`/atoms?tag=a&tag=${"x".repeat(65)}`, "tag.1", "64"],
      [`/atoms?${"tag=a&".repeat(33)}`, "tag", "32"],
      ["/atoms?since=yesterday", "since", "RFC 3339"],
      ["/atoms/search?q=x&until=2026-02-30T25:00:00Z", "until", "RFC 3339"],
      ["/atoms?since=2026-02-02T00:00:00Z&until=2026-02-01T00:00:00Z", '"until"', 'after "since"'],
      ["/atoms?importance=11", "importance", "<= 10"],
      ["/atoms/search?q=x&importance=much", "importance", "number"],
      ["/atoms?source=%00", "source", "NUL"],
      ["/atoms?sort=rank", "sort", "newest"],
      ["/atoms/search?q=x&sort=best", "sort", "rank"],
      ["/atoms/search?q=x&cursor=abc", "cursor", "nextCursor"],
      ["/atoms?libary=x", "libary", 'Did you mean "library"?'],
      ["/atoms?libary=", "libary", 'Did you mean "library"?'],
      ["/atoms?library=&library=b", "library", "given once"],
      ["/atoms?order=created_at;drop", "order", "unknown field"],
      ["/atoms?sort=created_at;drop", "sort", "newest"],
      ["/atoms?cursor=%00", "cursor", "nextCursor"],
      ["/atoms?cursor=abc", "cursor", "nextCursor"],
      ["/atoms?library=%00", "library", "NUL"],
      ["/atoms/search", '"q"', "lacks"],
      ["/atoms/search?q=", '"q"', "lacks"],
      ["/atoms/search?q=%00", '"q"', "NUL"],
      ["/atoms/search?q=caf%E9", "The query", "in UTF-8, percent-encoded"],
      [`/atoms/search?q=${"-".repeat(40)}`, "minus signs", "leave some out"],
    ])("GET %s", async (path, where, why) => {
      const { status, json } = await call("GET", path, key);
      expect(status).toBe(400);
      expect(json.detail).toContain(where);
      expect(json.detail).toContain(why);
    });

    test("PATCH without a change, without a revision, or of what does not change", async () => {
      const { id } = await save();
      expect((await call("PATCH", "/atoms", key, { id, revision: 1 })).json.detail).toContain("nothing would change");
      expect((await call("PATCH", "/atoms", key, { id, content: "x" })).json.detail).toContain('lacks "revision"');
      expect((await call("PATCH", "/atoms", key, { id, revision: 1, library: "diary" })).json.detail).toContain(
        "library",
      );
    });

    test("the presented value is never repeated, not even where it was sent as a field's name or a library", async () => {
      for (const [path, body] of [
        ["/atoms", { content: "x", [key]: 1 }],
        ["/atoms", { content: "x", library: key }],
      ] as const) {
        expect((await call("POST", path, key, body)).text).not.toContain(key.slice(12));
      }
      expect((await call("GET", `/atoms?library=${key}`, key)).text).not.toContain(key.slice(12));
    });
  });

  describe("what a key may not reach is not there", () => {
    test("a library that is not allowed answers byte for byte like one that does not exist", async () => {
      const rename = (text: string, name: string) => withoutRequestIds(text.replaceAll(name, "X"));
      for (const [as, there, absent] of [
        [diaryOnly, "handbook", "nosuchib"],
        [diaryOnly, "a-prod/ops", "a-prod/nop"],
        [key, "b/b-notes", "b/b-nosuc"],
      ] as const) {
        for (const [method, path, body] of [
          ["GET", (name: string) => `/atoms?library=${name}`, undefined],
          ["GET", (name: string) => `/atoms/search?q=x&library=${name}`, undefined],
          ["POST", () => "/atoms", (library: string) => ({ library, content: "x" })],
        ] as const) {
          const denied = await call(method, path(there), as, body?.(there));
          const missing = await call(method, path(absent), as, body?.(absent));
          expect(denied.status).toBe(404);
          expect(rename(denied.text, there)).toBe(rename(missing.text, absent));
        }
      }
    });

    test("b58: an atom of another team's library is 404 by id, absent from every list, search and filter", async () => {
      const theirs = await save({ library: "b-notes", content: "Secret sauce of B.", tags: ["sauce"] }, teamB);
      const hidden = await save({ content: "Secret sauce of the handbook.", tags: ["sauce"] }, key);
      for (const [as, id] of [
        [key, theirs.id],
        [diaryOnly, hidden.id],
        [diaryOnly, theirs.id],
      ] as const) {
        const nothing = withoutRequestIds(await call("GET", `/atoms/${UNKNOWN}`, as));
        for (const [method, path, body] of [
          ["GET", `/atoms/${id}`, undefined],
          ["GET", `/atoms/${id}/revisions`, undefined],
          ["DELETE", `/atoms/${id}`, undefined],
          ["PATCH", "/atoms", { id, revision: 1, content: "stolen" }],
          ["PATCH", "/atoms", { id, revision: 99, content: "stolen" }],
        ] as const) {
          const answer = await call(method, path, as, body);
          expect(withoutRequestIds(answer)).toEqual(nothing);
          expect(answer.status).toBe(404);
        }
      }
      for (const path of ["/atoms", "/atoms?tag=sauce", "/atoms/search?q=sauce", "/atoms/search?q=secret&tag=sauce"]) {
        expect((await call("GET", path, diaryOnly)).json.items, path).toEqual([]);
        expect((await call("GET", path, key)).text, path).not.toContain("Secret sauce of B.");
      }
      expect((await call("GET", `/atoms/${theirs.id}`, teamB)).json).toEqual(theirs);
      expect((await call("GET", `/atoms/${hidden.id}`, key)).json).toEqual(hidden);
    });

    test("b58: a cursor of another team, of another list or a made-up one opens nothing", async () => {
      for (let i = 0; i < 3; i++) await save({ library: "b-notes", content: `b ${i}` }, teamB);
      for (let i = 0; i < 3; i++) await save({ content: `a ${i}`, tags: ["t"] });
      const { nextCursor: stolen } = (await call("GET", "/atoms?limit=1", teamB)).json;
      expect((await call("GET", `/atoms?cursor=${stolen}`, key)).status).toBe(404);
      const { nextCursor: tagged } = (await call("GET", "/atoms?limit=1&tag=t", key)).json;
      expect((await call("GET", `/atoms?cursor=${tagged}&tag=t`, key)).status).toBe(200);
      expect((await call("GET", `/atoms?cursor=${tagged}`, key)).status).toBe(404);
      expect((await call("GET", `/atoms?cursor=${tagged}&tag=t&library=handbook`, key)).status).toBe(404);
      const [bound] = JSON.parse(Buffer.from(tagged, "base64url").toString());
      for (const [at, id] of [
        [1e300, UNKNOWN],
        [-1e15, UNKNOWN],
        [1, ""],
        [1, "x'; drop table atoms"],
      ]) {
        const forged = Buffer.from(JSON.stringify([bound, at, id])).toString("base64url");
        expect((await call("GET", `/atoms?cursor=${forged}&tag=t`, key)).status).toBe(400);
      }
    });

    test("b59: no caller sets a team, a library's id, scopes or an author by the body", async () => {
      for (const field of ["teamId", "team_id", "libraryId", "scopes", "createdBy", "id", "revision", "createdAt"]) {
        const { status, json } = await call("POST", "/atoms", key, { content: "x", [field]: "team-b" });
        expect(status, field).toBe(400);
        expect(json.detail).toContain(`"${field}"`);
      }
    });

    test("b60: the others' atoms change no rank, no order and no count of a search", async () => {
      await save({ content: "The sauce.", library: "diary" }, diaryOnly);
      const before = await call("GET", "/atoms/search?q=sauce", diaryOnly);
      for (let i = 0; i < 5; i++) await save({ library: "b-notes", content: "sauce ".repeat(9) }, teamB);
      await save({ content: "sauce sauce sauce" });
      expect(await call("GET", "/atoms/search?q=sauce", diaryOnly)).toEqual(before);
    });

    test("b61: a huge limit, filter or query is refused within its CPU budget", async () => {
      const budget = async (path: string, statuses: number[], body?: unknown) => {
        const spent = await cpuTimeOf(async () => {
          const response = await fetch(server.url + path, {
            method: body === undefined ? "GET" : "POST",
            headers: { "x-api-key": key, "content-type": "application/json" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          }).catch(() => undefined);
          // A server that has answered 413 and closed may reset the rest of the upload.
          expect(statuses).toContain(response?.status ?? 413);
          await response?.text();
        });
        expect(spent, path.slice(0, 40)).toBeLessThan(2_000);
      };
      await budget("/atoms?limit=1000000000", [400]);
      await budget(`/atoms?tag=${"x".repeat(15_000)}`, [400]);
      await budget(`/atoms?tag=${"x".repeat(5 << 20)}`, [400, 413, 414, 431]);
      await budget(`/atoms/search?q=${encodeURIComponent("(a or ".repeat(50) + "b".repeat(50))}`, [200]);
      await budget(`/atoms/search?q=${"a+or+".repeat(1_000)}b`, [400]);
      await budget(`/atoms/search?q=${encodeURIComponent(`${"(a+)+".repeat(100)}$`)}`, [200]);
      await budget("/atoms", [400], { content: "x", tags: Array.from({ length: 100_000 }, () => "t") });
      await budget("/atoms", [413], { content: "x".repeat(5 << 20) });
    });

    test("b62: a key that is revoked between two pages gets 401 for the next", async () => {
      for (let i = 0; i < 3; i++) await save();
      const passing = server.addKey();
      const { nextCursor } = (await call("GET", "/atoms?limit=1", passing)).json;
      expect((await call("GET", `/atoms?limit=1&cursor=${nextCursor}`, passing)).status).toBe(200);
      server.changeKey(passing, { state: "revoked" });
      expect((await call("GET", `/atoms?limit=1&cursor=${nextCursor}`, passing)).status).toBe(401);
    });

    test.each([
      [
        "removed and made again",
        async (store: Store) => {
          await sql`delete from libraries where id = 'lib-brief'`.execute(store.db);
          await addLibrary(store, {
            id: "lib-brief-2",
            team: "team-a",
            namespace: "a-dev",
            name: "brief",
            ownerUid: "uid-2",
          });
        },
      ],
      [
        "retained and taken up again",
        async (store: Store) => {
          await sql`update libraries set owner_uid = 'uid-2' where id = 'lib-brief'`.execute(store.db);
        },
      ],
    ])("b62: a cursor into a library that was %s is 404", async (_what, replace) => {
      await addLibrary(store, { id: "lib-brief", team: "team-a", namespace: "a-dev", name: "brief" });
      for (let i = 0; i < 3; i++) await save({ library: "brief" });
      const { nextCursor } = (await call("GET", "/atoms?library=brief&limit=1", key)).json;
      expect((await call("GET", `/atoms?library=brief&cursor=${nextCursor}`, key)).status).toBe(200);
      await replace(store);
      expect((await call("GET", `/atoms?library=brief&cursor=${nextCursor}`, key)).status).toBe(404);
      expect((await call("GET", "/atoms?library=brief", key)).status).toBe(200);
      await sql`delete from libraries where name = 'brief'`.execute(store.db);
    });

    test("b63: what looks like SQL is text in every place that takes text", async () => {
      const atom = await save({ content: "Still here." });
      const evil = "x'; drop table atoms; --";
      const quoted = encodeURIComponent(evil);
      for (const path of [
        `/atoms?tag=${quoted}`,
        `/atoms/search?q=${quoted}`,
        `/atoms/search?q=${encodeURIComponent("a' | !b:* & (")}`,
      ]) {
        expect((await call("GET", path, key)).json.items, path).toEqual([]);
      }
      expect((await call("GET", `/atoms?library=${quoted}`, key)).status).toBe(404);
      expect((await call("GET", `/atoms?cursor=${quoted}`, key)).status).toBe(400);
      expect((await call("GET", `/atoms?sort=${quoted}`, key)).status).toBe(400);
      expect((await call("GET", `/atoms/${quoted}`, key)).status).toBe(404);
      expect((await call("GET", "/atoms", `inf_${evil}`)).status).toBe(401);
      const kept = await save({ content: evil, tags: [evil], source: evil });
      expect((await call("GET", `/atoms/${kept.id}`, key)).json).toMatchObject({
        content: evil,
        tags: [evil],
        source: evil,
      });
      expect((await call("GET", `/atoms/${atom.id}`, key)).json.content).toBe("Still here.");
    });
  });
});
