/** Files that upstreams keep, with two teams whose gateways have one credential (spec §4). */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OperationKind } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { pause } from "../../../runtime/deadline.ts";
import { STRICT } from "../../../server/http/connections/listener.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { isDisconnected, openCaller, statusesOf } from "../http/sockets.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { startFilesUpstream } from "./files-upstream.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";

const SERVED: readonly OperationKind[] = ["generate", "files"];
const SCOPES = scopeSet(["gateway:generate", "gateway:files"]);
const VERSION = { "anthropic-version": "2023-06-01" };

let upstream: Awaited<ReturnType<typeof startFilesUpstream>>;
let harness: Harness;
const { owners, database, kept } = ownersInMemory();
type Team = { readonly url: string; readonly key: string };
let a: Team;
let b: Team;

function teamOf(teamId: string, fields: Parameters<Harness["addGateway"]>[0] = {}, key = {}): Team {
  const upstreams = [upstreamOf(upstream.url), upstreamOf(upstream.url, "anthropic")];
  const gateway = harness.addGateway({ teamId, upstreams, operations: SERVED, ...fields });
  return { url: `${harness.url}/g/${gateway.publicId}`, key: harness.addKey({ teamId, scopes: SCOPES, ...key }) };
}

beforeAll(async () => {
  upstream = await startFilesUpstream();
  harness = await startGateway({ owners, calls: { kept: 16 << 20 } });
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.files.clear();
  upstream.answerWith(upstream.respond);
  database.isAway = false;
  a = teamOf("team-a");
  b = teamOf("team-b");
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

type Sent = { readonly json?: object | string; readonly form?: FormData; readonly headers?: Record<string, string> };

function ask({ url, key }: Team, method: string, path: string, { json, form, headers }: Sent = {}) {
  return fetch(`${url}/v1/${path}`, {
    method,
    headers: {
      ...{ authorization: `Bearer ${key}`, ...headers },
      ...(json !== undefined && { "content-type": "application/json" }),
    },
    ...(json !== undefined && { body: typeof json === "string" ? json : JSON.stringify(json) }),
    ...(form !== undefined && { body: form }),
  });
}

function formOf(fields: Readonly<Record<string, string>>, content = "Hello"): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([content]), "a.txt");
  return form;
}

async function idFrom(answer: Response): Promise<string> {
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { id: string }).id;
}

const upload = async (team: Team, headers: Record<string, string> = {}) =>
  idFrom(await ask(team, "POST", "files", { form: formOf({ purpose: "user_data" }), headers }));

/** Status, source and text of an answer. */
async function shown(answer: Response) {
  return [answer.status, answer.headers.get("x-keyplane-error-source"), await answer.text()];
}

test.each([
  ["OpenAI's", {}],
  ["Anthropic's", VERSION],
])("b375: a file of %s format is its team's, and another team's is the 404 of an unknown one", async (_, headers) => {
  const id = await upload(a, headers);
  for (const [method, path] of [
    ["GET", "files/ID"],
    ["GET", "files/ID/content"],
    ["DELETE", "files/ID"],
  ] as const) {
    upstream.received.length = 0;
    const foreign = await shown(await ask(b, method, path.replace("ID", id), { headers }));
    const unknown = await shown(await ask(b, method, path.replace("ID", "file_unknown"), { headers }));
    expect(foreign).toEqual([404, "keyplane", expect.stringContaining("File not found")]);
    expect(unknown).toEqual(foreign);
    expect(upstream.received).toHaveLength(0);
    const own = await ask(a, method, path.replace("ID", id), { headers });
    expect([own.status, upstream.received.length]).toEqual([200, 1]);
    expect(await own.text()).toContain(path.endsWith("content") ? "Hello" : id);
  }
  upstream.received.length = 0;
  expect(await shown(await ask(a, "GET", `files/${id}`, { headers }))).toMatchObject([
    404,
    "keyplane",
    expect.anything(),
  ]);
  expect(upstream.received).toHaveLength(0);
});

test("a deletion that the upstream refuses leaves the file its team's", async () => {
  const id = await upload(a);
  upstream.answerWith((response) => response.writeHead(409).end("{}"));
  expect((await ask(a, "DELETE", `files/${id}`)).status).toBe(409);
  upstream.answerWith(upstream.respond);
  expect((await ask(a, "GET", `files/${id}`)).status).toBe(200);
});

test("b375: files of two upstreams are not asked of one together, and a list shows those of its own upstream", async () => {
  const other = await startFilesUpstream();
  const id = await upload(a);
  const there = teamOf("team-a", { upstreams: [upstreamOf(other.url)] });
  const far = await upload(there);
  const both = teamOf(
    "team-a",
    {
      upstreams: [upstreamOf(upstream.url), upstreamOf(other.url, "openai", { name: "other" })],
      routes: [routeOf("m", { fallbacks: [{ upstream: "other", upstreamModel: "m" }] })],
    },
    { scopes: scopeSet(["gateway:generate", "gateway:files", "gateway:routes"]) },
  );
  const named = (...ids: string[]) => ({ json: { ...CHAT, messages: ids.map((file_id) => ({ file_id })) } });
  other.received.length = 0;
  upstream.received.length = 0;
  expect((await ask(both, "POST", "chat/completions", named(far))).status).toBe(200);
  expect([upstream.received.length, other.received.length]).toEqual([0, 1]);
  expect((await ask(both, "POST", "chat/completions", named(id, far))).status).toBe(404);
  expect([upstream.received.length, other.received.length]).toEqual([0, 1]);
  // The upstream has a file of the id that the team's file has elsewhere.
  upstream.answerWith((response) => response.end(JSON.stringify({ data: [{ id: far }, { id }], has_more: false })));
  expect(await (await ask(both, "GET", "files")).json()).toMatchObject({ data: [{ id }] });
  await other.close();
});

test.each([
  ["in another coding", { "content-encoding": "gzip" }, '{"id":"file_new"}'],
  ["beyond 4 MiB", {}, `{"id":"file_new","x":"${"y".repeat(4 << 20)}"}`],
  ["no JSON", {}, "file_new"],
])("b376: an answer that cannot be read for what was made goes nowhere: %s", async (_, headers, body) => {
  upstream.answerWith((response) => response.writeHead(200, headers).end(body));
  const answer = await ask(a, "POST", "files", { form: formOf({ purpose: "user_data" }) });
  expect([answer.status, await answer.text()]).toEqual([502, expect.not.stringContaining("file_new")]);
});

test("the id of one format is no id of the other", async () => {
  const id = await upload(a);
  expect((await ask(a, "GET", `files/${id}`, { headers: VERSION })).status).toBe(404);
});

test("an upload passes as it is, with the upstream's credential and Anthropic's beta header", async () => {
  const headers = { ...VERSION, "anthropic-beta": "files-api-2025-04-14" };
  await upload(a, headers);
  const [received] = upstream.received;
  expect(received?.headers).toMatchObject({ "anthropic-beta": headers["anthropic-beta"], "x-api-key": PROVIDER_KEY });
  expect(received?.headers.authorization).toBeUndefined();
  expect(received?.body.toString()).toContain('name="purpose"');
});

test("a content of a file cannot act on the gateway's origin", async () => {
  const id = await upload(a);
  const { headers } = await ask(a, "GET", `files/${id}/content`);
  expect(headers.get("content-security-policy")).toContain("sandbox");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test("calls of files take the scope gateway:files and a gateway that names files", async () => {
  const id = await upload(a);
  const unscoped = { ...a, key: harness.addKey({ scopes: scopeSet(["gateway:generate"]) }) };
  const unserved = teamOf("team-a", { operations: ["generate"] });
  upstream.received.length = 0;
  for (const [method, path] of [
    ["GET", "files"],
    ["GET", `files/${id}`],
    ["POST", "uploads"],
  ] as const) {
    expect((await ask(unscoped, method, path)).status).toBe(403);
    const refused = await ask(unserved, method, path);
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining("have files added")]);
  }
  expect(upstream.received).toHaveLength(0);
});

test.each([
  ["PUT", "files"],
  ["POST", "files/x"],
  ["POST", "files/x/content"],
  ["GET", "uploads"],
  ["GET", "uploads/x"],
  ["GET", "files/x%2Fcontent"],
  ["GET", "files/.."],
])("%s v1/%s is no operation", async (method, path) => {
  expect((await ask(a, method, path)).status).toBe(404);
  expect(upstream.received).toHaveLength(0);
});

test("b376: no id of a file leaves before its owner is recorded, and none while that cannot be", async () => {
  database.isAway = true;
  const answer = await ask(a, "POST", "files", { form: formOf({ purpose: "user_data" }) });
  expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringContaining("file_")]);
});

test("an owner is known until a day beyond the end that the answer states, and else for ever", async () => {
  kept.clear();
  await upload(a);
  await ask(a, "POST", "uploads", { json: { bytes: 1, filename: "f", mime_type: "x", purpose: "user_data" } });
  const lasts = [...kept.values()].map(({ lastsMs }) => lastsMs);
  expect(lasts[0]).toBe(null);
  // The harness' clock stands elsewhere than the upstream's.
  expect(lasts[1]).toBeGreaterThan(0);
});

const CHAT = { model: "m", messages: [] };
const NAMED: readonly (readonly [string, string, (id: string) => object | string])[] = [
  [
    "chat",
    "chat/completions",
    (id) => ({ ...CHAT, messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }] }),
  ],
  ["chat's extra_body", "chat/completions", (id) => ({ ...CHAT, extra_body: { a: [{ file: { file_id: id } }] } })],
  ["chat, escaped", "chat/completions", (id) => `{"model":"m","messages":[{"\\u0066ile_id":"${id}"}]}`],
  ["chat, with an escape within", "chat/completions", (id) => `{"messages":[{"fil\\te\\u200b_id":"${id}"}]}`],
  ["chat, its id escaped", "chat/completions", (id) => `{"messages":[{"file_id":"${id.replace("f", "\\u0066")}"}]}`],
  ["chat, in another case", "chat/completions", (id) => `{"messages":[{"FileID":"${id}"}]}`],
  ["chat, with a ligature", "chat/completions", (id) => `{"messages":[{"\ufb01le_id":"${id}"}]}`],
  ["chat, with a dotless i", "chat/completions", (id) => `{"messages":[{"f\u0131le_id":"${id}"}]}`],
  ["chat, spaced out", "chat/completions", (id) => `{"messages":[{"f____ile_id":"${id}"}]}`],
  ["chat, doubled", "chat/completions", (id) => `{"messages":[{"file_id":"","file_id":"${id}"}]}`],
  ["chat, doubled first", "chat/completions", (id) => `{"messages":[{"file_id":"${id}","file_id":null}]}`],
  ["an object with the id", "chat/completions", (id) => ({ messages: [{ file_id: { id } }] })],
  ["a long chat", "chat/completions", (id) => ({ messages: ["x".repeat(100_000), { file_id: id }] })],
  [
    "input_file",
    "responses",
    (id) => ({ model: "m", input: [{ role: "user", content: [{ type: "input_file", file_id: id }] }] }),
  ],
  [
    "input_image",
    "responses",
    (id) => ({
      input: [{ type: "message", role: "user", id: "msg_1", content: [{ type: "input_image", file_id: id }] }],
    }),
  ],
  [
    "a tool's output",
    "responses",
    (id) => ({ input: [{ type: "function_call_output", call_id: "c", output: [{ file_id: id }] }] }),
  ],
  ["code interpreter", "responses", (id) => ({ input: "x", tools: [{ container: { type: "auto", file_ids: [id] } }] })],
  [
    "a prompt's variable",
    "responses",
    (id) => ({ prompt: { id: "p", variables: { parameters: { type: "input_file", file_id: id } } } }),
  ],
  [
    "a screenshot",
    "responses",
    (id) => ({ input: [{ type: "computer_call_output", output: { type: "computer_screenshot", file_id: id } }] }),
  ],
  [
    "provider options",
    "responses",
    (id) => ({ input: "x", providerOptions: { openai: { input: [{ content: [{ file_id: id }] }] } } }),
  ],
];
const NAMED_ANTHROPIC: typeof NAMED = [
  [
    "document",
    "messages",
    (id) => ({ messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: id } }] }] }),
  ],
  ["container_upload", "messages", (id) => ({ messages: [{ content: [{ type: "container_upload", file_id: id }] }] })],
  [
    "an image in a result",
    "messages",
    (id) => ({
      messages: [{ content: [{ type: "tool_result", content: [{ type: "image", source: { file_id: id } }] }] }],
    }),
  ],
  [
    "a count of tokens",
    "messages/count_tokens",
    (id) => ({ messages: [{ content: [{ type: "document", source: { file_id: id } }] }] }),
  ],
  ...["messages", "messages/count_tokens"].map(
    (path) =>
      [
        "a fetched document",
        path,
        (id: string) => ({
          messages: [
            { content: [{ type: "web_fetch_tool_result", content: { content: { source: { file_id: id } } } }] },
          ],
        }),
      ] as const,
  ),
  [
    "an input in another spelling",
    "messages",
    (id) => ({ messages: [{ content: [{ Input: { source: { file_id: id } } }] }] }),
  ],
];

test.each([
  ...NAMED.map((each) => [...each, {}] as const),
  ...NAMED_ANTHROPIC.map((each) => [...each, VERSION] as const),
])("b375: %s (v1/%s) names a file of its own team alone", async (_, path, bodyOf, headers) => {
  const id = await upload(a, headers);
  // Every gateway that serves `generate` is held to it.
  const theirs = teamOf("team-b", { operations: ["generate"] });
  upstream.received.length = 0;
  const foreign = await shown(await ask(theirs, "POST", path, { json: bodyOf(id), headers }));
  const unknown = await shown(await ask(theirs, "POST", path, { json: bodyOf("file_unknown"), headers }));
  expect(foreign).toEqual([404, "keyplane", expect.stringContaining("File not found")]);
  expect(unknown).toEqual(foreign);
  expect(upstream.received).toHaveLength(0);
  const body = bodyOf(id);
  upstream.answerWith((response) => response.end('{"id":"resp_1","output":[]}'));
  const own = await ask(teamOf("team-a", { operations: ["generate"] }), "POST", path, { json: body, headers });
  expect(own.status).toBe(200);
  expect(upstream.received[0]?.body.toString()).toBe(typeof body === "string" ? body : JSON.stringify(body));
});

test.each([
  [
    "chat/completions",
    { ...CHAT, tools: [{ type: "function", function: { parameters: { properties: { file_id: { id: "x" } } } } }] },
  ],
  ["chat/completions", { ...CHAT, metadata: { file_id: "mine" } }],
  [
    "responses",
    { input: [{ type: "message", role: "assistant", content: [{ annotations: [{ file_id: "cfile_1" }] }] }] },
  ],
  ["responses", { input: [{ type: "file_search_call", results: [{ file_id: "file_x" }] }] }],
  ["responses", { input: [{ type: "file_search_call", id: "fs_1", queries: [], results: [{ file_id: "file_x" }] }] }],
  ["messages", { messages: [{ content: [{ type: "tool_use", input: { file_id: "of their own" } }] }] }],
  [
    "messages",
    { messages: [{ content: [{ type: "code_execution_tool_result", content: { content: [{ file_id: "f" }] } }] }] },
  ],
])("what a caller's own tools and citations say names no file: v1/%s %j", async (path, json) => {
  upstream.answerWith((response) => response.end('{"id":"resp_1","output":[]}'));
  expect((await ask(a, "POST", path, { json })).status).toBe(200);
});

const CITED = { type: "char_location", cited_text: "x", document_index: 0, file_id: "file_deleted" };

test.each(["messages", "messages/count_tokens"])(
  "b487: a conversation goes on that repeats what an answer has cited of a file that is deleted by now: v1/%s",
  async (path) => {
    const repeated = { role: "assistant", content: [{ type: "text", text: "It says x.", citations: [CITED] }] };
    const json = { model: "m", max_tokens: 1, messages: [{ role: "user", content: "?" }, repeated] };
    upstream.received.length = 0;
    expect((await ask(a, "POST", path, { json, headers: VERSION })).status).toBe(200);
    expect(upstream.received[0]?.body.toString()).toBe(JSON.stringify(json));
    // A document that names the file is looked up beside it.
    const document = {
      type: "document",
      source: { type: "file", file_id: "file_deleted" },
      citations: { enabled: true },
    };
    const named = { ...json, messages: [{ role: "user", content: [document] }, repeated] };
    expect((await ask(a, "POST", path, { json: named, headers: VERSION })).status).toBe(404);
  },
);

test.each([
  [{ "content-encoding": "gzip" }, 415],
  [{ "content-type": "application/json; charset=utf-16" }, 400],
  [{ "content-type": "application/x-protobuf" }, 415],
])("b375: a body that cannot be looked through goes nowhere: %j", async (headers, status) => {
  const answer = await fetch(`${a.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${a.key}`, "content-type": "application/json", ...headers },
    body: '{"model":"m"}',
  });
  expect([answer.status, upstream.received.length]).toEqual([status, 0]);
});

test.each(
  ["application/json", "multipart/form-data; boundary=x, application/json", "multipart/form-data;"].flatMap((type) =>
    [true, false].map((chunked) => [type, chunked] as const),
  ),
)("b375: what an operation of forms is sent as JSON goes nowhere: %s (chunked: %s)", async (type, chunked) => {
  const body = Buffer.from(JSON.stringify({ model: "m", prompt: "x", images: [{ file_id: await upload(a) }] }));
  const theirs = teamOf("team-b", { operations: ["images"] });
  upstream.received.length = 0;
  const answer = await fetch(`${theirs.url}/v1/images/edits`, {
    method: "POST",
    headers: { authorization: `Bearer ${theirs.key}`, "content-type": type },
    ...{ body: chunked ? new Blob([body]).stream() : body, duplex: "half" },
  });
  expect([answer.status, upstream.received.length]).toEqual([415, 0]);
});

const FORMS: readonly OperationKind[] = ["images", "audio"];
const formWith = (name: string, value: string, content?: string) => formOf({ model: "m", [name]: value }, content);

test.each([
  ["audio/transcriptions", "file_id"],
  ["audio/translations", "FileID"],
  ["audio/transcriptions", "file[id]"],
  ["images/edits", "image[0][file_id]"],
  ["images/edits", "image.file-id"],
  ["images/edits", "mask[file_id]"],
  ["images/edits", "file_ids[]"],
  ["images/variations", "search[0].vector_store_ids[0]"],
])("b375: a form of v1/%s that names a file of any team's in its part %s goes nowhere", async (path, name) => {
  const id = await upload(a);
  upstream.received.length = 0;
  for (const [team, key] of [["team-a"], ["team-b"], ["team-b", { allowedModels: ["m"] }]] as const) {
    const answer = await ask(teamOf(team, { operations: FORMS }, key), "POST", path, { form: formWith(name, id) });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("send the file itself")]);
  }
  expect(upstream.received).toHaveLength(0);
});

test("b375: a form that is too large to be looked through goes nowhere from a gateway that serves files", async () => {
  const large = formWith("file_id", await upload(a), "x".repeat(33 << 20));
  upstream.received.length = 0;
  const theirs = teamOf("team-b", { operations: [...FORMS, "files"] });
  expect((await ask(theirs, "POST", "audio/transcriptions", { form: large })).status).toBe(413);
  expect(upstream.received).toHaveLength(0);
});

test("a form that has a file of its own, and names none, passes", async () => {
  const theirs = teamOf("team-b", { operations: [...FORMS, "files"] });
  const form = formWith("known_speaker_names[]", "file_id");
  expect((await ask(theirs, "POST", "audio/transcriptions", { form })).status).toBe(200);
});

test.each([
  ["model=m&%66ile%5fid=file_x", 415],
  ['{"model":"m","messages":[{"role":"user","content":"a%40b.c"}]}', 200],
])("b375: what curl sends without another content type is JSON or goes nowhere: %s", async (body, status) => {
  const answer = await fetch(`${a.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${a.key}`, "content-type": "application/x-www-form-urlencoded" },
    body,
  });
  expect([answer.status, upstream.received.length]).toEqual([status, status === 200 ? 1 : 0]);
});

test("b375: a body in UTF-16 that names a file goes nowhere", async () => {
  const answer = await fetch(`${a.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${a.key}`, "content-type": "application/json" },
    body: Buffer.from('{"messages":[{"file_id":"file_x"}]}', "utf16le"),
  });
  expect([answer.status, upstream.received.length]).toEqual([400, 0]);
});

test("b377: a list shows the team's own files, through pages of others', and no id or cursor of theirs", async () => {
  const own: string[] = [];
  const foreign: string[] = [];
  for (let at = 0; at < 2_500; at++) foreign.push(upstream.keep(`other ${at}`, Buffer.from("x")).id);
  own.push(await upload(a));
  for (let at = 0; at < 1_200; at++) foreign.push(upstream.keep(`other ${at}`, Buffer.from("x")).id);
  for (let at = 0; at < 4; at++) own.push(await upload(a));
  const first = await ask(a, "GET", "files?limit=3");
  const text = await first.text();
  expect(JSON.parse(text)).toMatchObject({
    ...{ data: own.slice(0, 3).map((id) => ({ id })), first_id: own[0], last_id: own[2], has_more: true },
  });
  for (const id of foreign) if (text.includes(id)) expect.fail("another team's id is shown");
  const rest = await (await ask(a, "GET", `files?limit=3&after=${own[2]}`)).json();
  expect(rest).toMatchObject({ data: own.slice(3).map((id) => ({ id })), has_more: false });
  const refused = await shown(await ask(a, "GET", `files?after=${foreign[0]}`));
  expect(refused).toEqual([404, "keyplane", expect.stringContaining("File not found")]);
  expect(await shown(await ask(a, "GET", "files?after=file_unknown"))).toEqual(refused);
  expect(await (await ask(b, "GET", "files")).json()).toEqual({
    ...{ object: "list", data: [], first_id: null, last_id: null, has_more: false },
  });
});

test("b377: a page of Anthropic's list is sealed, and is no page of another team's list", async () => {
  const foreign = upstream.keep("other", Buffer.from("x")).id;
  const own = [await upload(a, VERSION), await upload(a, VERSION), await upload(a, VERSION)];
  const answer = await ask(a, "GET", "files?limit=2", { headers: VERSION });
  const { data, next_page: page } = (await answer.json()) as { data: { id: string }[]; next_page: string };
  expect(data.map(({ id }) => id)).toEqual(own.slice(0, 2));
  for (const id of [foreign, ...own]) {
    expect(Buffer.from(page, "base64url").toString("latin1")).not.toContain(id);
    expect(page).not.toContain(Buffer.from(id).toString("base64url"));
  }
  const next = await ask(a, "GET", `files?limit=2&page=${page}`, { headers: VERSION });
  expect(await next.json()).toMatchObject({ data: [{ id: own[2] }], next_page: null });
  for (const [team, cursor] of [
    [b, page],
    [a, Buffer.from(foreign).toString("base64url")],
  ] as const) {
    expect((await ask(team, "GET", `files?page=${cursor}`, { headers: VERSION })).status).toBe(400);
  }
  const ids = `files?ids[]=${foreign}&ids[]=${own[1]}`;
  expect(await (await ask(a, "GET", ids, { headers: VERSION })).json()).toMatchObject({ data: [{ id: own[1] }] });
});

test.each(["ids", "ids[]"])("the files that a list of Anthropic's names by `%s` are on one page", async (name) => {
  const own: string[] = [];
  for (let at = 0; at < 25; at++) own.push(await upload(a, VERSION));
  const query = own.map((id) => `${name}=${id}`).join("&");
  const answer = await ask(a, "GET", `files?${query}`, { headers: VERSION });
  expect(await answer.json()).toMatchObject({ data: own.map((id) => ({ id })), next_page: null });
});

test("a list of Anthropic's whose `ids` is empty, as its SDK sends null, is one of all files", async () => {
  await ask(a, "GET", "files?ids=", { headers: VERSION });
  expect(upstream.received.map(({ url }) => url)).toEqual([expect.stringMatching(/files\?limit=1000$/)]);
});

test("b377: where none of the pages that are gone through has a file of the team's, the list says so", async () => {
  upstream.answerWith((response) =>
    response.end(JSON.stringify({ data: [{ id: "file_other" }], has_more: true, object: "list" })),
  );
  expect(await shown(await ask(a, "GET", "files"))).toEqual([
    502,
    "keyplane",
    expect.stringContaining("name one by its id"),
  ]);
  expect(upstream.received.length).toBe(100);
  // A page needs no connection of its own.
  expect(new Set(upstream.received.map(({ connection }) => connection)).size).toBeLessThan(5);
});

test("b377: a page with more files than were asked for is refused", async () => {
  const data = Array.from({ length: 1_001 }, (_, at) => ({ id: `file_${at}` }));
  const questions = database.questions;
  upstream.answerWith((response) => response.end(JSON.stringify({ data, has_more: true })));
  expect((await ask(a, "GET", "files")).status).toBe(502);
  expect([upstream.received.length, database.questions - questions]).toEqual([1, 0]);
});

/** An object of as many bytes as are read at most, and of more than a million values beside its members. */
const costly = (members: object): string => {
  const text = JSON.stringify({ ...members, junk: [0] });
  return text.replace("[0]", `[${"{},".repeat(1_390_000)}0]`);
};

test("b43: an answer of a million values is refused before it is parsed: to a list, and to what makes a file", async () => {
  upstream.answerWith((response) => response.end(costly({ id: "file_x", data: [], has_more: false })));
  const list = await ask(a, "GET", "files");
  const made = await ask(a, "POST", "files", { form: formOf({ purpose: "user_data" }) });
  for (const answer of [list, made]) {
    expect(await shown(answer)).toEqual([502, "keyplane", expect.stringContaining("not the JSON")]);
  }
});

test("a page of a thousand files is shown, however much they say of themselves", async () => {
  const own = await upload(a);
  const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`name ${at}`, "x".repeat(64)]));
  const said = { object: "file", bytes: 1, created_at: 1, expires_at: 1, filename: "f", purpose: "p", status: "s" };
  const data = Array.from({ length: 1_000 }, (_, at) => ({ id: at === 0 ? own : `file_${at}`, ...said, metadata }));
  upstream.answerWith((response) => response.end(JSON.stringify({ object: "list", data, has_more: false })));
  expect(await (await ask(a, "GET", "files")).json()).toMatchObject({ data: [{ id: own, metadata }] });
});

/** A list of a hundred pages with a file of 256 KiB each: all of them are larger than a server's memory for bodies here. */
function listOf(id: string): void {
  let pages = 0;
  const data = [{ id, filename: "x".repeat(256 << 10) }];
  upstream.answerWith((response) => response.end(JSON.stringify({ object: "list", data, has_more: ++pages < 100 })));
}

test("b377: a list that goes through all of an upstream's pages holds one of them at a time", async () => {
  listOf("file_other");
  const answer = await ask(a, "GET", "files");
  expect([answer.status, upstream.received.length]).toEqual([200, 100]);
});

test("b377: a list is refused if the files that it shows are more than the server has memory for", async () => {
  const own = await upload(a);
  listOf(own);
  expect((await ask(a, "GET", "files")).status).toBe(503);
});

test("b377: a key that is revoked while a list is gone through ends it before the next page", async () => {
  let pages = 0;
  upstream.answerWith((response) => {
    if (++pages === 2) harness.changeKey(a.key, { state: "revoked" });
    setImmediate(() => response.end(JSON.stringify({ data: [{ id: `file_${pages}` }], has_more: true })));
  });
  const answer = await ask(a, "GET", "files");
  expect(answer.status).toBe(401);
  expect(pages).toBe(2);
});

test.each(["limit=0", "limit=x", "limit=-1"])("a list with %s is 400", async (query) => {
  expect((await ask(a, "GET", `files?${query}`)).status).toBe(400);
  expect(upstream.received).toHaveLength(0);
});

test("b375: an upload in parts is its team's, and so are its parts and the file that is made of them", async () => {
  const begin = async (team: Team) =>
    idFrom(
      await ask(team, "POST", "uploads", { json: { bytes: 5, filename: "f", mime_type: "x", purpose: "user_data" } }),
    );
  const add = (team: Team, id: string) => ask(team, "POST", `uploads/${id}/parts`, { form: formOf({}) });
  const theirs = await begin(b);
  const part = await idFrom(await add(b, theirs));
  const mine = await begin(a);
  upstream.received.length = 0;
  for (const answer of [
    await add(a, theirs),
    await ask(a, "POST", `uploads/${theirs}/complete`, { json: { part_ids: [part] } }),
    await ask(a, "POST", `uploads/${theirs}/cancel`),
    await ask(a, "POST", `uploads/${mine}/complete`, { json: { part_ids: [part] } }),
  ]) {
    expect(await shown(answer)).toEqual([404, "keyplane", expect.stringMatching(/(?:Upload|Part) not found/)]);
  }
  expect(upstream.received).toHaveLength(0);
  const done = await ask(b, "POST", `uploads/${theirs}/complete`, { json: { part_ids: [part] } });
  const { file } = (await done.json()) as { file: { id: string } };
  expect((await ask(b, "GET", `files/${file.id}`)).status).toBe(200);
  expect((await ask(a, "GET", `files/${file.id}`)).status).toBe(404);
});

test("b378: a key that is revoked ends an upload in its midst, and the upstream never has all of it", async () => {
  let body: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      body = controller;
    },
  });
  let isCut = false;
  const headed = Promise.withResolvers<void>();
  upstream.onHead((request) => {
    request.on("close", () => {
      isCut = !request.complete;
    });
    headed.resolve();
  });
  const answer = fetch(`${a.url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${a.key}`, "content-type": "multipart/form-data; boundary=x" },
    body: stream,
    duplex: "half",
  } as RequestInit);
  body?.enqueue(Buffer.alloc(200_000));
  await headed.promise;
  harness.changeKey(a.key, { state: "revoked" });
  body?.enqueue(Buffer.alloc(1_000));
  expect((await answer).status).toBe(401);
  await until("the upstream sees the upload end", () => isCut);
});

/** Has listeners that are made in `body` give a whole request a second, where they give it a time at all. */
async function withBriefRequests<T>(body: () => Promise<T>): Promise<T> {
  const { headersTimeout, requestTimeout } = STRICT;
  Object.assign(STRICT, { headersTimeout: 500, requestTimeout: 1_000, connectionsCheckingInterval: 50 });
  try {
    return await body();
  } finally {
    Object.assign(STRICT, { headersTimeout, requestTimeout, connectionsCheckingInterval: undefined });
  }
}

test("b475: an upload that comes at its pace takes as long as it takes, and a head does not", async () => {
  const here = await withBriefRequests(() => startGateway({ owners }));
  const { publicId } = here.addGateway({ upstreams: [upstreamOf(upstream.url)], operations: SERVED });
  const key = here.addKey({ scopes: SCOPES });
  const head = openCaller(here.port);
  head.socket.write(`POST /g/${publicId}/v1/files HTTP/1.1\r\nHost: x\r\n`);
  async function* pieces() {
    for (let piece = 0; piece < 20; piece++) {
      yield Buffer.alloc(1_024, "a");
      await pause(100);
    }
  }
  const answer = await fetch(`${here.url}/g/${publicId}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "multipart/form-data; boundary=x" },
    body: pieces(),
    duplex: "half",
  } as unknown as RequestInit);
  expect([answer.status, upstream.received.at(-1)?.body.length]).toEqual([200, 20 * 1_024]);
  await isDisconnected(head);
  expect(statusesOf(head)).toEqual([400]);
  await here.close();
});

test("OpenAI's SDK uploads, lists, reads, names and deletes files, and uploads in parts", async () => {
  const openai = new OpenAI({ baseURL: `${a.url}/v1`, apiKey: a.key, maxRetries: 0 });
  for (let at = 0; at < 30; at++) upstream.keep("other", Buffer.from("x"));
  const made = [];
  for (let at = 0; at < 5; at++) {
    made.push(await openai.files.create({ file: await toFile(Buffer.from(`${at}`), "a.txt"), purpose: "user_data" }));
  }
  const listed = [];
  for await (const file of openai.files.list({ limit: 2 })) listed.push(file.id);
  expect(listed).toEqual(made.map(({ id }) => id));
  const [first] = made;
  expect((await openai.files.retrieve(first?.id ?? "")).filename).toBe("a.txt");
  expect(await (await openai.files.content(first?.id ?? "")).text()).toContain("0");
  expect((await openai.files.delete(first?.id ?? "")).deleted).toBe(true);
  const begun = await openai.uploads.create({ bytes: 1, filename: "f", mime_type: "x", purpose: "user_data" });
  const part = await openai.uploads.parts.create(begun.id, { data: await toFile(Buffer.from("p"), "p") });
  const done = await openai.uploads.complete(begun.id, { part_ids: [part.id] });
  expect((await openai.files.retrieve(done.file?.id ?? "")).id).toBe(done.file?.id);
  const other = await openai.uploads.create({ bytes: 1, filename: "f", mime_type: "x", purpose: "user_data" });
  expect((await openai.uploads.cancel(other.id)).status).toBe("cancelled");
  const theirs = new OpenAI({ baseURL: `${b.url}/v1`, apiKey: b.key, maxRetries: 0 });
  await expect(theirs.files.retrieve(made[1]?.id ?? "")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  for await (const file of theirs.files.list()) expect.fail(file.id);
});

test("Anthropic's SDK uploads, lists, reads and deletes files", async () => {
  const anthropic = new Anthropic({ baseURL: a.url, apiKey: a.key, maxRetries: 0 });
  for (let at = 0; at < 30; at++) upstream.keep("other", Buffer.from("x"));
  const made = [];
  for (let at = 0; at < 5; at++) {
    made.push(await anthropic.beta.files.upload({ file: await toFile(Buffer.from(`${at}`), "a.txt") }));
  }
  const listed = [];
  for await (const file of anthropic.beta.files.list({ limit: 2 })) listed.push(file.id);
  expect(listed).toEqual(made.map(({ id }) => id));
  const [first] = made;
  expect((await anthropic.beta.files.retrieveMetadata(first?.id ?? "")).filename).toBe("a.txt");
  expect(await (await anthropic.beta.files.download(first?.id ?? "")).text()).toContain("0");
  await anthropic.beta.files.delete(first?.id ?? "");
  const theirs = new Anthropic({ baseURL: b.url, apiKey: b.key, maxRetries: 0 });
  await expect(theirs.beta.files.delete(made[1]?.id ?? "")).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  for await (const file of theirs.beta.files.list()) expect.fail(file.id);
});
