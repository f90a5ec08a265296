import { request as httpRequest } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SCOPES, scopeSet } from "../../../domain/access/scopes.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { cpuTimeOf, leastOfFive } from "../../env/cpu-time.ts";
import { examples } from "../../env/nightly.ts";
import { until } from "../../env/until.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { openMemoryStore } from "../memory-store.ts";
import { ERAS, envelope } from "./messages.ts";

const PATH = "/api/v1/memory/mcp";
const TYPES = { accept: "application/json, text/event-stream", "content-type": "application/json" };
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

let store: Store;
let server: Harness;
let key: string;
let reader: string;
beforeAll(async () => {
  store = await openMemoryStore();
  server = await startHarness({ mounts: [{ at: "", routes: mcpRoutes }], store });
  key = server.addKey({ teamDefaultLibraryId: "lib-handbook" });
  reader = server.addKey({ scopes: scopeSet(["memory:read"]), teamDefaultLibraryId: "lib-handbook" });
});
afterAll(async () => {
  await server.close();
  await store.close();
});
beforeEach(async () => {
  await sql`delete from atoms`.execute(store.db);
});

/** Sends any headers, Host and Origin too, and any body. */
function send(options: {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const { method = "POST", headers = {}, body } = options;
    const request = httpRequest(server.url + PATH, { method, headers, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

const bearer = (as: string) => ({ authorization: `Bearer ${as}` });

/** Posts a message as a client would, and reads the answer from JSON or from the stream. */
async function rpc(message: unknown, as = key, headers: Record<string, string> = {}) {
  const body = typeof message === "string" ? message : JSON.stringify(message);
  const answer = await send({ headers: { ...TYPES, ...bearer(as), ...headers }, body });
  const data = answer.text.startsWith("{") ? answer.text : /^data: (.*)$/m.exec(answer.text)?.[1];
  return { ...answer, json: data === undefined ? undefined : JSON.parse(data) };
}

const toolCall = (name: unknown, args: unknown = {}, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

test("b83: a call with more arguments than any tool takes is 400, before they are checked one by one", async () => {
  const args = Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [`a${i}`, 1]));
  const answer = await rpc(toolCall("memory_search", args));
  expect([answer.status, answer.json.error.message]).toEqual([
    400,
    "The body has more than 10000 members and elements.",
  ]);
});

test("b94: a call that names its tool or an argument twice is 400", async () => {
  for (const body of [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_list","name":"memory_save_atom"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_list","arguments":{"library":"a","library":"b"}}}',
  ]) {
    const answer = await rpc(body);
    expect([answer.status, answer.json.error.code]).toEqual([400, -32_600]);
  }
});

test("A message is counted once, by its tool's scope, and where it calls none by any of the memory's; a refused one is not", async () => {
  const before = server.counted.length;
  await rpc(LIST);
  await rpc(toolCall("memory_list"));
  await rpc(toolCall("memory_save_atom", { content: "x" }), reader);
  await rpc("5");
  expect(server.counted.slice(before)).toEqual(["mcp.connect", "mcp.memory_list"]);
});

/** Calls a tool until the memory has had time for it: how long a call may wait for that is no matter of who gets the answer. */
async function patiently(call: unknown, as: string) {
  for (;;) {
    const { json } = await rpc(call, as);
    const [content] = json.result.content;
    if (!json.result.isError || !/^The (memory has more to do|database took too long)/.test(content.text)) return json;
  }
}

async function atomCount(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from atoms`.execute(store.db);
  return rows[0]?.n ?? -1;
}

describe("the order of checks: 401, 403, 406, 415, 400", () => {
  test.each<[string, Parameters<typeof send>[0] & { as?: "good" | "gateway" }, number]>([
    [
      "no key comes before everything that is wrong with the message",
      { headers: { accept: "text/html" }, body: "{" },
      401,
    ],
    ["a key without a memory scope", { as: "gateway", headers: { accept: "text/html" }, body: "{" }, 403],
    [
      "one type missing from Accept",
      { as: "good", headers: { accept: "application/json", "content-type": "text/plain" } },
      406,
    ],
    ["the other type missing", { as: "good", headers: { ...TYPES, accept: "text/event-stream" }, body: "{}" }, 406],
    ["types that only look alike", { as: "good", headers: { ...TYPES, accept: "*/json, xtext/event-stream" } }, 406],
    ["no Accept at all", { as: "good", headers: { "content-type": "application/json" }, body: "{}" }, 406],
    ["a body of another type", { as: "good", headers: { ...TYPES, "content-type": "text/plain" }, body: "{" }, 415],
    ["a body of no type", { as: "good", headers: { accept: TYPES.accept }, body: "{" }, 415],
    ["broken JSON", { as: "good", headers: TYPES, body: "{" }, 400],
    ["no message", { as: "good", headers: TYPES, body: "5" }, 400],
    ["an empty body", { as: "good", headers: TYPES, body: "" }, 400],
    ["what is no JSON-RPC", { as: "good", headers: TYPES, body: '{"hello":"world"}' }, 400],
  ])("%s", async (_what, { as, headers = {}, ...rest }, status) => {
    const keys = { good: key, gateway: server.addKey({ scopes: scopeSet(["gateway:generate"]) }) };
    const answer = await send({ ...rest, headers: { ...headers, ...(as === undefined ? {} : bearer(keys[as])) } });
    expect(answer.status).toBe(status);
    if (status > 403)
      expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: "2.0", error: { message: expect.any(String) } });
  });

  test("every method but POST is 405 for who has a key, and 401 for who has none", async () => {
    for (const method of ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"]) {
      expect(await send({ method, headers: { ...TYPES, ...bearer(key) } })).toMatchObject({
        status: 405,
        headers: { allow: "POST" },
      });
      expect((await send({ method, headers: TYPES })).status).toBe(401);
    }
    const body = { method: "PUT", headers: { ...bearer(key), "content-type": "text/plain" }, body: "x" };
    expect(await send(body)).toMatchObject({ status: 405, headers: { allow: "POST" } });
  });

  test("a stale index is 503 before all of them", async () => {
    server.setCurrent(false);
    expect((await rpc(LIST)).status).toBe(503);
    server.setCurrent(true);
  });
});

test("a list with a cursor that it did not give is an error of its params, in both eras", async () => {
  for (const era of ERAS) {
    const isModern = era === "2026-07-28";
    const _meta = isModern ? envelope(era) : {};
    const headers = { "mcp-protocol-version": era, ...(isModern ? { "mcp-method": "tools/list" } : {}) };
    const list = (cursor: unknown) => rpc({ ...LIST, params: { cursor, _meta } }, key, headers);
    for (const cursor of [5, "x", {}]) {
      expect((await list(cursor)).json).toMatchObject({
        ...{ id: 1, error: { code: -32_602, message: expect.stringContaining('"cursor"') } },
      });
    }
    for (const none of [undefined, null, ""]) expect((await list(none)).json.result.tools).not.toEqual([]);
  }
});

test("a null in place of params, or of one of them, is as good as left out", async () => {
  expect((await rpc({ ...LIST, params: null })).json.result.tools).not.toEqual([]);
  expect((await rpc(toolCall("memory_list", null))).json.result.structuredContent).toMatchObject({ items: [] });
  expect((await rpc({ jsonrpc: "2.0", method: "notifications/initialized", params: null })).status).toBe(202);
  expect((await rpc(toolCall(null))).json.error.message).toContain('The "name" of a call must be a string');
});

test("the types of Accept and Content-Type are read in any case", async () => {
  const headers = { accept: "APPLICATION/JSON, Text/Event-Stream", "content-type": "Application/JSON" };
  for (const era of ERAS) {
    const isModern = era === "2026-07-28";
    const ofEra = { "mcp-protocol-version": era, ...(isModern ? { "mcp-method": "tools/list" } : {}) };
    const params = isModern ? { _meta: envelope(era) } : {};
    expect((await rpc({ ...LIST, params }, key, { ...headers, ...ofEra })).status).toBe(200);
  }
});

test.each(["garbage", "2099-01-01", "1999-01-01"])(
  "the protocol version %j is refused with those that are served, each of which is",
  async (version) => {
    const { status, json } = await rpc(LIST, key, { "mcp-protocol-version": version });
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringMatching(/^This MCP-Protocol-Version is not served: send one of 2026-07-28, 2025-11-25, .*\.$/),
    ]);
    const served: string[] = json.error.message.match(/\d{4}-\d\d-\d\d/g);
    for (const [i, one] of served.entries()) {
      const modern = { params: { _meta: envelope(one as "2026-07-28") } };
      const headers = { "mcp-protocol-version": one, ...(i === 0 ? { "mcp-method": "tools/list" } : {}) };
      expect([one, (await rpc({ ...LIST, ...(i === 0 ? modern : {}) }, key, headers)).status]).toEqual([one, 200]);
    }
  },
);

test.each<[string, unknown]>([
  ["protocolVersion", undefined],
  ["protocolVersion", {}],
  ["protocolVersion", { protocolVersion: 5, capabilities: {}, clientInfo: { name: "c", version: "1" } }],
  ["capabilities", { protocolVersion: "2025-11-25", clientInfo: { name: "c", version: "1" } }],
  [
    "capabilities.roots",
    { protocolVersion: "2025-11-25", capabilities: { roots: 5 }, clientInfo: { name: "c", version: "1" } },
  ],
  [
    "capabilities.experimental",
    {
      ...{ protocolVersion: "2025-11-25", clientInfo: { name: "c", version: "1" } },
      capabilities: { experimental: { "what a client made up": 5 } },
    },
  ],
  ["clientInfo", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: "c" }],
  ["clientInfo.version", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c" } }],
])("an initialize with a bad %s is an error of its params, which names it", async (field, params) => {
  const { status, json } = await rpc({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const message = expect.stringContaining(`The "${field}" of initialize is not valid: `);
  expect([status, json]).toEqual([200, { jsonrpc: "2.0", id: 1, error: { code: -32_602, message } }]);
  expect(json.error.message).not.toContain("made up");
});

test("a call without params learns what is missing, as one without a name is", async () => {
  const { params: _left, ...bare } = toolCall("memory_list");
  for (const message of [bare, { ...bare, params: {} }]) {
    expect((await rpc(message)).json).toMatchObject({
      ...{ id: 1, error: { code: -32_602, message: expect.stringMatching(/^The "name" .*tools\/list/) } },
    });
  }
});

test("a notification is answered with nothing, whatever is wrong with it", async () => {
  for (const message of [toolCall(5), toolCall("memory_list", 5), { ...LIST, params: { cursor: "x" } }]) {
    const { id: _left, ...notification } = message;
    expect(await rpc(notification)).toMatchObject({ status: 202, text: "" });
  }
});

describe("tools", () => {
  test("no library named and no default is a tool error of a save that says how to set one", async () => {
    const bare = server.addKey({ teamId: "team-b", namespace: "b" });
    for (const args of [{ content: "where?" }, { content: "where?", library: "*" }]) {
      const { status, json } = await rpc(toolCall("memory_save_atom", args), bare);
      expect(status).toBe(200);
      expect(json.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("b-notes") }] });
    }
    const { json } = await rpc(toolCall("memory_save_atom", { content: "where?" }), bare);
    expect(json.result.content[0].text).toContain("mcpDefaultLibraryRef");
    expect(json.result.content[0].text).toContain('"library"');
  });

  test("a default that the key may not reach is none", async () => {
    const restricted = server.addKey({ libraryIds: ["lib-diary"], teamDefaultLibraryId: "lib-handbook" });
    expect((await rpc(toolCall("memory_save_atom", { content: "where?" }), restricted)).json.result.isError).toBe(true);
  });

  test("a tool that reads says so to a key that may reach no library", async () => {
    const none = server.addKey({ libraryIds: [] });
    for (const args of [{}, { library: "*" }]) {
      const { result } = (await rpc(toolCall("memory_list", args), none)).json;
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("This key may reach none.") }],
      });
    }
  });

  test("a library that is not allowed fails exactly like one that does not exist", async () => {
    await rpc(toolCall("memory_save_atom", { content: "secret sauce", library: "handbook" }));
    const restricted = server.addKey({ libraryIds: ["lib-diary"], mcpDefaultLibraryId: "lib-diary" });
    for (const name of ["memory_search", "memory_recall", "memory_list", "memory_wake_up", "memory_save_atom"]) {
      const args = name.endsWith("atom")
        ? { content: "sauce" }
        : name === "memory_list" || name === "memory_wake_up"
          ? {}
          : { query: "sauce" };
      const denied = await rpc(toolCall(name, { ...args, library: "handbook" }), restricted);
      const absent = await rpc(toolCall(name, { ...args, library: "nosuchib" }), restricted);
      expect(denied.json.result.isError).toBe(true);
      expect(denied.text.replaceAll("handbook", "X")).toBe(absent.text.replaceAll("nosuchib", "X"));
    }
  });

  test("another team's atom is not corrected, nor recalled by its id", async () => {
    const { json } = await rpc(toolCall("memory_save_atom", { content: "ours" }));
    const { id } = json.result.structuredContent.atom;
    const theirs = server.addKey({ teamId: "team-b", namespace: "b" });
    expect((await rpc(toolCall("memory_correct_atom", { id, content: "stolen" }), theirs)).json.result.isError).toBe(
      true,
    );
    const recalled = await rpc(toolCall("memory_recall", { ids: [id] }), theirs);
    expect(recalled.json.result.structuredContent).toEqual({
      items: [],
      ...{ missing: [id], note: "There are no atoms of these ids for this key." },
    });
  });

  test.each<[string, string, unknown, string]>([
    ["a missing argument", "memory_search", {}, 'lacks "query"'],
    ["a misspelt one", "memory_save_atom", { content: "x", libary: "diary" }, 'Did you mean "library"?'],
    ["one of another type", "memory_list", { limit: "many" }, "must be integer"],
    ["neither topic nor ids", "memory_recall", {}, '"query"'],
    ["a correction of nothing", "memory_correct_atom", { id: "x" }, "content, tags, source"],
    ["an atom that is not there", "memory_correct_atom", { id: "x", content: "y" }, "no atom"],
    ["a made-up cursor", "memory_list", { cursor: "abc" }, "cursor"],
  ])("%s is a result that a model can mend", async (_what, name, args, text) => {
    const { status, json } = await rpc(toolCall(name, args));
    expect(status).toBe(200);
    expect(json.result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringContaining(text) }],
    });
  });

  test("a made-up cursor behind the last revision that may be is a result that a model can mend", async () => {
    const { json } = await rpc(toolCall("memory_save_atom", { content: "one" }));
    const { id } = json.result.structuredContent.atom;
    await rpc(toolCall("memory_correct_atom", { id, content: "two" }));
    const page = (await rpc(toolCall("memory_history", { id, limit: 1 }))).json.result.structuredContent;
    const [bound] = JSON.parse(Buffer.from(page.nextCursor, "base64url").toString());
    const cursor = Buffer.from(JSON.stringify([bound, 2_147_483_647, "", 1])).toString("base64url");
    const { text } = await rpc(toolCall("memory_history", { id, cursor }));
    expect(text).toContain("The cursor is not of this list");
  });

  test("a correction of a stale revision says which one is present", async () => {
    const { json } = await rpc(toolCall("memory_save_atom", { content: "one" }));
    const { id } = json.result.structuredContent.atom;
    await rpc(toolCall("memory_correct_atom", { id, content: "two" }));
    const stale = await rpc(toolCall("memory_correct_atom", { id, revision: 1, content: "three" }));
    expect(stale.json.result.content[0].text).toContain("revision 2");
  });

  test("a failure of ours is shown as one, without its text, and is in the log", async () => {
    await sql`alter table atoms rename to atoms_away`.execute(store.db);
    const { json } = await rpc(toolCall("memory_list"));
    await sql`alter table atoms_away rename to atoms`.execute(store.db);
    expect(json.result).toMatchObject({ isError: true });
    expect(JSON.stringify(json)).not.toContain("relation");
    expect(server.lines.some((line) => line.includes("a memory tool failed"))).toBe(true);
  });

  test("c62: a full disk of the database is named as one, and is in the log", async () => {
    await sql`create function refuse_for_room() returns trigger language plpgsql
      as 'begin raise exception using errcode = ''53100''; end'`.execute(store.db);
    await sql`create trigger full_disk before insert on atoms for each row execute function refuse_for_room()`.execute(
      store.db,
    );
    const before = server.lines.length;
    const { json } = await rpc(toolCall("memory_save_atom", { content: "one" }));
    await sql`drop trigger full_disk on atoms`.execute(store.db);
    expect(json.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("disk is full") }] });
    expect(server.lines.slice(before)).toEqual([expect.stringContaining("53100")]);
  });

  test("every version from 2024-11-05 on may initialize, and an unknown one is offered ours", async () => {
    for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
      const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "c", version: "1" } };
      const { json, headers } = await rpc({ jsonrpc: "2.0", id: 0, method: "initialize", params });
      expect(json.result).toMatchObject({
        protocolVersion: version,
        serverInfo: { name: "keyplane-memory" },
        capabilities: { tools: {} },
      });
      expect(headers).not.toHaveProperty("mcp-session-id");
    }
    const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    expect((await rpc({ jsonrpc: "2.0", id: 0, method: "initialize", params })).json.result.protocolVersion).toBe(
      "2025-11-25",
    );
    expect((await rpc(LIST, key, { "mcp-protocol-version": "1999-01-01" })).status).toBe(400);
    expect((await rpc({ jsonrpc: "2.0", method: "notifications/initialized" })).status).toBe(202);
  });
});

describe("abuse", () => {
  test("b48: many clients with the same JSON-RPC id and two keys each get their own answer", async () => {
    const others = server.addKey({ teamId: "team-b", namespace: "b", mcpDefaultLibraryId: "lib-b-notes" });
    for (const as of [key, others]) {
      await patiently(toolCall("memory_save_atom", { content: "mine", tags: [as === key ? "a" : "b"] }), as);
    }
    const callAs = async (i: number) => {
      const mine = i % 2 === 0;
      // The tool's own echo of what was asked distinguishes the calls of one key.
      const call = toolCall("memory_recall", { ids: [`asked-by-${i}`] }, 0);
      const list = toolCall("memory_list", {}, 0);
      const json = await patiently(i % 4 < 2 ? call : list, mine ? key : others);
      expect(json.id).toBe(0);
      const { items = [], missing } = json.result.structuredContent;
      if (i % 4 < 2) expect(missing).toEqual([`asked-by-${i}`]);
      // What was saved too late for its answer is there twice.
      else expect(items).not.toHaveLength(0);
      const own = { tags: [mine ? "a" : "b"] };
      for (const item of items) expect(item).toMatchObject(own);
    };
    // Thirty at any time: clients and server share this process, and a call waits two seconds for the memory at most.
    let next = 0;
    const client = async () => {
      while (next < examples(60)) await callAs(next++);
    };
    // All have ended, also where one fails: what goes on beside the next tests breaks those as well.
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, client));
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  });

  test("b49: a session id authenticates nothing, and is never given", async () => {
    const session = { "mcp-session-id": "of-another-client" };
    for (const method of ["POST", "GET", "DELETE"]) {
      expect((await send({ method, headers: { ...TYPES, ...session } })).status).toBe(401);
    }
    const bare = server.addKey({ teamId: "team-b", namespace: "b", mcpDefaultLibraryId: "lib-b-notes" });
    await rpc(toolCall("memory_save_atom", { content: "of team a" }), key, session);
    const answer = await rpc(toolCall("memory_list"), bare, session);
    expect(answer.json.result.structuredContent.items).toEqual([]);
    expect(answer.headers).not.toHaveProperty("mcp-session-id");
  });

  test("b50: a key that is revoked while its answer streams has the stream cut, and 401 after", async (context) => {
    for (const version of ["2025-11-25", "2026-07-28"]) {
      const passing = server.addKey({ teamDefaultLibraryId: "lib-handbook" });
      const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      // What the tool reads is locked, so that its answer stays out.
      const holding = store.db.transaction().execute(async (tx) => {
        await sql`lock table atoms in access exclusive mode`.execute(tx);
        locked.resolve();
        await release.promise;
      });
      await locked.promise;
      context.onTestFinished(() => release.resolve());
      const message = {
        ...toolCall("memory_list", {}, 7),
        params: {
          name: "memory_list",
          arguments: {},
          ...(version === "2026-07-28" ? { _meta: envelope(version) } : {}),
        },
      };
      const modern = { "mcp-method": "tools/call", "mcp-name": "memory_list" };
      const ask = () => {
        const answer = rpc(message, passing, {
          "mcp-protocol-version": version,
          ...(version === "2026-07-28" ? modern : {}),
        });
        const asked = { answer, isOver: false };
        answer.finally(() => {
          asked.isOver = true;
        });
        return asked;
      };
      let asked = ask();
      await until("the answer's stream to be tracked", () => {
        // The memory gives up after two seconds: on a busy machine that may be before this looks.
        if (asked.isOver) asked = ask();
        return server.streams.size === 1;
      });
      server.changeKey(passing, { state: "revoked" });
      const cut = await asked.answer;
      expect(cut.text).not.toContain('"result"');
      if (cut.status === 200) expect(cut.json).toMatchObject({ id: 7, error: { code: -32_001 } });
      else expect(cut.status).toBe(401);
      expect(server.streams.size).toBe(0);
      release.resolve();
      await holding;
      expect((await rpc(LIST, passing)).status).toBe(401);
    }
  });

  test("a stream that has ended is tracked no more", async () => {
    await rpc(toolCall("memory_list"));
    await until("no stream to be tracked", () => server.streams.size === 0);
  });

  test("b51: Last-Event-ID replays nothing", async () => {
    const replay = { "last-event-id": "_GET_stream_1" };
    expect((await send({ method: "GET", headers: { ...TYPES, ...replay, ...bearer(key) } })).status).toBe(405);
    const { json } = await rpc(LIST, key, replay);
    expect(json.result.tools).toHaveLength(9);
  });

  test("b52: the tool that is authorised is the tool that runs, whatever else the message says", async () => {
    const save = '"arguments":{"content":"planted"}';
    for (const [body, status] of [
      [
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","Name":"memory_save_atom",${save}}}`,
        200,
      ],
      [
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"memory_save_atom","name":"memory_search",${save}}}`,
        200,
      ],
      [
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","name":"memory_save_atom",${save}}}`,
        400,
      ],
      [
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","n\\u0061me":"memory_save_atom",${save}}}`,
        400,
      ],
      [
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_save_atom"},"Params":{"name":"memory_search"}}`,
        403,
      ],
      [
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","__proto__":{"name":"memory_save_atom"},${save}}}`,
        400,
      ],
      [`{"jsonrpc":"2.0","id":1,"method":"tools/call","__proto__":{"params":{"name":"memory_save_atom"}}}`, 400],
      [
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"constructor":{"prototype":{"name":"x"}},"name":"memory_search",${save}}}`,
        400,
      ],
      [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["memory_save_atom"],${save}}}`, 200],
      [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"constructor",${save}}}`, 200],
      [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"MEMORY_SAVE_ATOM",${save}}}`, 200],
    ] as const) {
      const answer = await rpc(body, reader);
      expect(answer.status, body).toBe(status);
      if (status === 200) expect(answer.json.error ?? answer.json.result.isError, body).toBeTruthy();
    }
    expect(await atomCount()).toBe(0);
  });

  test("b53: a batch is 400 and runs nothing; a body of 10 MB is 413", async () => {
    const batch = await rpc([toolCall("memory_save_atom", { content: "x" }), LIST]);
    expect(batch.status).toBe(400);
    expect(batch.json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32_600 } });
    expect((await rpc([])).status).toBe(400);
    const big = await rpc(toolCall("memory_save_atom", { content: "x".repeat(10 << 20) })).catch(() => ({
      status: 413,
    }));
    expect(big.status).toBe(413);
    expect(await atomCount()).toBe(0);
  });

  test("b54: another's Host or Origin is 403 before anything else, with and without a key", async () => {
    const port = server.port;
    for (const method of ["POST", "GET", "DELETE"]) {
      for (const auth of [{}, bearer(key), bearer("inf_bad")]) {
        for (const foreign of [
          { host: "attacker.test" },
          { host: `attacker.test:${port}` },
          { host: "localhost:1" },
          { host: `localhost.attacker.test:${port}` },
          { host: `user@localhost:${port}` },
          { origin: "http://attacker.test" },
          { origin: `http://localhost.attacker.test:${port}` },
          { origin: "http://localhost:1" },
          { origin: "null" },
          { origin: "" },
          { host: "attacker.test", "x-forwarded-host": `localhost:${port}` },
        ]) {
          const body = method === "POST" ? { body: "{" } : {};
          const answer = await send({ method, headers: { ...auth, ...foreign }, ...body });
          expect(answer.status, JSON.stringify({ method, foreign })).toBe(403);
          expect(JSON.parse(answer.text).code).toBe("forbidden_origin");
        }
      }
    }
    for (const own of [
      { host: `localhost:${port}` },
      { host: `127.0.0.1:${port}` },
      { host: `[::1]:${port}` },
      { host: `LOCALHOST:${port}`, origin: `http://localhost:${port}` },
      { origin: `http://127.0.0.1:${port}` },
    ]) {
      expect((await rpc(LIST, key, own)).status, JSON.stringify(own)).toBe(200);
    }
  });

  test("b54: a public URL's host is served, its pages may ask, and no other's", async () => {
    const publicUrl = new URL("https://keys.example.com");
    const publicly = await startHarness({ mounts: [{ at: "", routes: mcpRoutes }], store, config: { publicUrl } });
    const own = publicly.addKey();
    const ask = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const request = httpRequest(publicly.url + PATH, {
          method: "POST",
          headers: { ...TYPES, ...bearer(own), ...headers },
        });
        request.on("response", (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        request.on("error", reject);
        request.end(JSON.stringify(LIST));
      });
    expect(await ask({ host: "keys.example.com" })).toBe(200);
    expect(await ask({ host: "keys.example.com:443", origin: "https://keys.example.com" })).toBe(200);
    expect(await ask({ host: "keys.example.com", origin: "http://keys.example.com" })).toBe(403);
    expect(await ask({ host: "keys.example.com:8443" })).toBe(403);
    expect(await ask({ host: "keys.example.com.attacker.test" })).toBe(403);
    await publicly.close();
  });

  test("b55: a nested URI template of 100 KB is 400 at once", async () => {
    const uri = `${"{".repeat(50_000)}a${"}".repeat(50_000)}`;
    for (const method of ["resources/read", "resources/subscribe", "completion/complete"]) {
      const params = { uri, ref: { type: "ref/resource", uri } };
      const spent = await leastOfFive(100, () =>
        cpuTimeOf(async () => expect((await rpc({ jsonrpc: "2.0", id: 1, method, params })).status).toBe(400)),
      );
      // The client's work is in this figure too.
      expect(spent).toBeLessThan(100);
    }
  });

  test("b56: another's token is 401, and our key is passed to nothing behind the endpoint", async () => {
    for (const token of [
      "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
      "sk-proj-0123456789abcdef",
      "ghp_0123456789",
      key.slice(0, 12),
    ]) {
      expect((await rpc(LIST, token)).status, token).toBe(401);
    }
    const canary = key.slice(12);
    const saved = await rpc(toolCall("memory_save_atom", { content: "x" }));
    expect(saved.text).not.toContain(canary);
    const { rows } = await sql<{ row: string }>`select to_json(a)::text as row from atoms a`.execute(store.db);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(canary);
    expect(server.lines.join()).not.toContain(canary);
  });

  test("b57: write tools are absent from a read-only key's list, and calling one by name is 403", async () => {
    const listed = (await rpc(LIST, reader)).json.result.tools.map((tool: { name: string }) => tool.name);
    expect(listed.sort()).toEqual([
      ...["memory_history", "memory_libraries", "memory_list"],
      ...["memory_recall", "memory_search", "memory_wake_up"],
    ]);
    const saved = (await rpc(toolCall("memory_save_atom", { content: "seen" }))).json.result.structuredContent.atom;
    for (const [name, args] of [
      ["memory_save_atom", { content: "x" }],
      ["memory_correct_atom", { id: saved.id, revision: 1, content: "x" }],
      ["memory_correct_atom", "not even an object"],
      ["memory_forget_atom", { id: saved.id }],
    ] as const) {
      for (const id of [0, "a-text", 42]) {
        const answer = await rpc(toolCall(name, args, id), reader);
        expect(answer.status).toBe(403);
        expect(answer.headers["www-authenticate"]).toBe('Bearer error="insufficient_scope", scope="memory:write"');
        expect(answer.json).toMatchObject({
          jsonrpc: "2.0",
          id,
          error: { message: expect.stringContaining("memory:write") },
        });
      }
    }
    expect(await atomCount()).toBe(1);
    expect(server.refused.at(-1)).toMatchObject({ cause: "scope_missing", teamId: "team-a" });
  });

  test("b57: a write-only key sees and calls the write tools alone", async () => {
    const writer = server.addKey({ scopes: scopeSet(["memory:write"]), teamDefaultLibraryId: "lib-handbook" });
    const listed = (await rpc(LIST, writer)).json.result.tools.map((tool: { name: string }) => tool.name);
    expect(listed).toEqual(["memory_save_atom", "memory_correct_atom", "memory_forget_atom"]);
    const read = await rpc(toolCall("memory_list"), writer);
    expect(read.status).toBe(403);
    expect(read.headers["www-authenticate"]).toContain('scope="memory:read"');
  });

  test("a key that only writes is shown of an atom that it corrects what it says, and no more", async () => {
    const writer = server.addKey({ scopes: scopeSet(["memory:write"]) });
    const secrets = { content: "Not for it.", tags: ["hidden"], source: "a diary", metadata: { salary: "much" } };
    const { id } = (await rpc(toolCall("memory_save_atom", secrets))).json.result.structuredContent.atom;
    const corrected = await rpc(toolCall("memory_correct_atom", { id, importance: 9, tags: ["seen"] }), writer);
    expect(corrected.json.result.structuredContent.atom).toEqual({
      ...{ id, importance: 9, tags: ["seen"] },
      ...{ revision: 2, updated: expect.any(String) },
    });
    const { updated } = corrected.json.result.structuredContent.atom;
    expect(corrected.json.result.content[0].text).toBe(
      `Corrected.\n\n(id ${id}; revision 2; tags seen; importance 9; updated ${updated})`,
    );
    const whole = await rpc(toolCall("memory_correct_atom", { id, importance: 8 }));
    expect(whole.json.result.structuredContent.atom).toMatchObject({ ...secrets, tags: ["seen"], library: "handbook" });
  });

  test("every scope but memory's own opens nothing here", async () => {
    for (const scope of SCOPES.filter((name) => !name.startsWith("memory:"))) {
      expect((await rpc(LIST, server.addKey({ scopes: scopeSet([scope]) }))).status, scope).toBe(403);
    }
  });
});
