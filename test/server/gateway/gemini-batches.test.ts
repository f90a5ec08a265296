/** Batches that Gemini keeps, with two teams whose gateways have one credential (spec §4). */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OperationKind } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { NO_TOKENS } from "../../../domain/usage/tokens.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { heldBack } from "./held-back.ts";
import { type Received, startUpstream, type Upstream } from "./upstream.ts";

const SERVED: readonly OperationKind[] = ["generate", "embed", "batches", "files"];
const SCOPES = scopeSet(["gateway:generate", "gateway:embed", "gateway:files", "gateway:routes"]);
const CONTENTS = [{ role: "user", parts: [{ text: "Hello" }] }];

let upstream: Upstream;
let harness: Harness;
const { owners, database, kept } = ownersInMemory();
type Batch = Readonly<Record<string, unknown>> & { readonly name: string };
type Team = { readonly url: string; readonly key: string };
const batches = new Map<string, Batch>();
const files = new Map<string, Buffer>();
let a: Team;
let b: Team;

const random = () => randomBytes(10).toString("hex");
const usageOf = (prompt: number, answer: number) => ({ promptTokenCount: prompt, candidatesTokenCount: answer });
const resultOf = (model: string, more: object = {}) => ({
  response: {
    candidates: [{ content: { parts: [{ text: '"usageMetadata":{"promptTokenCount":9}}]}' }] }, usageMetadata: 7 }],
    usageMetadata: usageOf(10, 3),
    modelVersion: model,
    ...more,
  },
  metadata: { key: "1", usageMetadata: usageOf(9, 9) },
});
const FAILED = { error: { code: 3, message: "usageMetadata" }, metadata: { key: "2" } };

/** A batch that has ended, as Gemini describes it: with the same output in two places. */
function ended(id: string, output: object, model = "models/m"): Batch {
  return {
    name: `batches/${id}`,
    metadata: {
      ...{ "@type": "type.googleapis.com/x.GenerateContentBatch", model, displayName: "n", output },
      ...{ createTime: "2026-11-29T00:00:00Z", state: "BATCH_STATE_SUCCEEDED", name: `batches/${id}` },
    },
    done: true,
    response: { "@type": "type.googleapis.com/x.GenerateContentBatchOutput", ...output },
  };
}
const inlined = (...results: object[]) => ({ inlinedResponses: { inlinedResponses: results } });
const embedded = (...counts: (string | number)[]) => ({
  inlinedEmbedContentResponses: {
    inlinedResponses: counts.map((tokenCount) => ({ response: { tokenCount, embedding: { values: [0.1, 2] } } })),
  },
});

/** Answers as Gemini's published description says, for every caller with the credential: a batch ends at once. */
function respond(response: ServerResponse, { method, url, body }: Received): void {
  const { pathname, searchParams } = new URL(url, upstream.url);
  const send = (answer: object, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  const download = /^(?:\/download)?\/v1beta\/files\/([^:]+):download$/.exec(pathname)?.[1];
  const [, model, action] = /^\/v1beta\/models\/([^:]+):(\w+)$/.exec(pathname) ?? [];
  const [, id = "", verb] = /^\/v1beta\/batches\/([^:]+)(?::(\w+))?$/.exec(pathname) ?? [];
  if (download !== undefined) {
    const content = files.get(download);
    if (content === undefined) send({ error: { code: 403, message: "no such file" } }, 403);
    else response.end(searchParams.get("alt") === "media" ? content : "no media");
  } else if (action !== undefined) {
    const made = random();
    const { batch } = JSON.parse(body.toString());
    const isFile = (batch.inputConfig ?? batch.input_config).requests === undefined;
    const output = isFile ? { responsesFile: `files/batch-${made}` } : inlined(resultOf("m"), FAILED);
    files.set(`batch-${made}`, Buffer.from(`${JSON.stringify({ key: "1", ...resultOf("m") })}\n`));
    batches.set(made, ended(made, action === "batchGenerateContent" ? output : embedded("5", 7), `models/${model}`));
    send({ name: `batches/${made}`, metadata: { state: "BATCH_STATE_PENDING", ...batch } });
  } else if (pathname === "/v1beta/batches") {
    const all = [...batches.values()];
    const from = Number(searchParams.get("pageToken") ?? 0);
    const operations = all.slice(from, from + Number(searchParams.get("pageSize") ?? 10));
    const end = from + operations.length;
    send({ ...(operations.length > 0 && { operations }), ...(end < all.length && { nextPageToken: String(end) }) });
  } else if (id !== "") {
    const batch = batches.get(id);
    if (batch === undefined) send({ error: { code: 404, message: "no such batch" } }, 404);
    else if (method === "GET") send(batch);
    else {
      if (verb === undefined) batches.delete(id);
      send({});
    }
  } else send({ candidates: [{ content: { parts: [{ text: "Hi" }] } }] });
}

function teamOf(teamId: string, fields: Parameters<Harness["addGateway"]>[0] = {}, key = {}): Team {
  const upstreams = [upstreamOf(upstream.url, "gemini")];
  const gateway = harness.addGateway({ teamId, upstreams, operations: SERVED, ...fields });
  return { url: `${harness.url}/g/${gateway.publicId}`, key: harness.addKey({ teamId, scopes: SCOPES, ...key }) };
}

beforeAll(async () => {
  upstream = await startUpstream();
  harness = await startGateway({ owners });
});
beforeEach(() => {
  upstream.received.length = 0;
  harness.answered.length = 0;
  batches.clear();
  files.clear();
  upstream.answerWith(respond);
  database.isAway = false;
  a = teamOf("team-a");
  b = teamOf("team-b");
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

function ask({ url, key }: Team, method: string, path: string, json?: object | string, headers = {}) {
  return fetch(`${url}/${path.startsWith("download") ? path : `v1beta/${path}`}`, {
    method,
    headers: {
      ...{ "x-goog-api-key": key, ...headers },
      ...(json !== undefined && { "content-type": "application/json" }),
    },
    ...(json !== undefined && { body: typeof json === "string" ? json : JSON.stringify(json) }),
  });
}

const CREATE = "models/m:batchGenerateContent";
const EMBED = "models/m:asyncBatchEmbedContent";
const batchOf = (inputConfig: object, more: object = {}) => ({ batch: { displayName: "n", inputConfig, ...more } });
const requestsOf = (...requests: object[]) => ({
  requests: { requests: requests.map((request) => ({ request, metadata: { key: "1", fileUri: "files/any" } })) },
});
const HELLO = { contents: CONTENTS };
const BODY = batchOf(requestsOf(HELLO));
const lineOf = (request: object) => JSON.stringify({ key: "1", request });

async function begun(team: Team, body: object = BODY, path = CREATE): Promise<string> {
  const answer = await ask(team, "POST", path, body);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as Batch).name.slice("batches/".length);
}

/** Has a team upload a file of the lines. */
async function uploaded(team: Team, ...lines: readonly (string | Buffer)[]): Promise<string> {
  const id = random();
  upstream.answerWith((response) => {
    const next = `${upstream.url}/upload/v1beta/files?upload_id=${id}&upload_protocol=resumable`;
    const name = `files/${id}`;
    response.writeHead(200, { "content-type": "application/json", "X-Goog-Upload-URL": next }).end("{}");
    upstream.answerWith((last) => last.writeHead(200).end(JSON.stringify({ file: { name } })));
  });
  const headers = { "x-goog-api-key": team.key, "x-goog-upload-protocol": "resumable" };
  const start = { ...headers, "x-goog-upload-command": "start", "content-type": "application/json" };
  const first = await fetch(`${team.url}/upload/v1beta/files`, { method: "POST", headers: start, body: "{}" });
  const end = { "x-goog-api-key": team.key, "x-goog-upload-command": "upload, finalize" };
  await fetch(first.headers.get("x-goog-upload-url") ?? "", { method: "POST", headers: end, body: "x" });
  upstream.answerWith(respond);
  files.set(id, Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from("\n")])));
  return id;
}

const shown = async (answer: Response) => [
  answer.status,
  answer.headers.get("x-keyplane-error-source"),
  await answer.text(),
];
const reached = () => upstream.received.map(({ method, url }) => `${method} ${url}`);
const usages = () => harness.answered.map(({ usage: { model, tokens } }) => [model, tokens.input, tokens.output]);

test("b408: a batch and its file are its team's, and another team's are the 404 of unknown ones", async () => {
  const id = await begun(a, batchOf({ fileName: `files/${await uploaded(a, lineOf(HELLO))}` }));
  const output = `batch-${id}`;
  expect(await (await ask(a, "GET", `batches/${id}`)).text()).toContain(`files/${output}`);
  upstream.received.length = 0;
  const calls = (batch: string, file: string) =>
    [
      ["GET", `batches/${batch}`],
      ["POST", `batches/${batch}:cancel`],
      ["GET", `files/${file}`],
      ["GET", `files/${file}:download`],
      ["GET", `download/v1beta/files/${file}:download?alt=media`],
      ["DELETE", `files/${file}`],
      ["DELETE", `batches/${batch}`],
    ] as const;
  const unknown = calls("unknown", "unknown");
  for (const [at, [method, path]] of calls(id, output).entries()) {
    const foreign = await shown(await ask(b, method, path));
    expect(foreign).toEqual([404, "keyplane", expect.stringContaining("not found")]);
    expect(await shown(await ask(b, method, unknown[at]?.[1] ?? ""))).toEqual(foreign);
  }
  expect(upstream.received).toHaveLength(0);
  for (const [method, path] of calls(id, output))
    expect([path, (await ask(a, method, path)).status]).toEqual([path, 200]);
  expect(upstream.received[0]?.headers["x-goog-api-key"]).toBe(PROVIDER_KEY);
  expect((await ask(a, "GET", `batches/${id}`)).status).toBe(404);
});

test.each<readonly [string, (id: string) => Promise<Response>]>([
  ["a description", (id) => ask(a, "GET", `batches/${id}`)],
  ["a list", () => ask(a, "GET", "batches")],
  [
    "the answer to a cancellation",
    (id) => {
      upstream.answerWith((response) => response.end(JSON.stringify(batches.get(id))));
      return ask(a, "POST", `batches/${id}:cancel`);
    },
  ],
  [
    "the answer that begins another",
    (id) => {
      upstream.answerWith((response) => response.end(JSON.stringify(batches.get(id))));
      return ask(a, "POST", CREATE, BODY);
    },
  ],
])("b408: the file that %s names is the team's before it leaves, and no body may name it", async (_, call) => {
  const id = await begun(a, batchOf({ file_name: `files/${await uploaded(a, lineOf(HELLO))}` }));
  const output = `batch-${id}`;
  expect((await ask(a, "GET", `files/${output}:download`)).status).toBe(404);
  database.isAway = true;
  expect(await shown(await call(id))).toEqual([503, "keyplane", expect.not.stringContaining(output)]);
  database.isAway = false;
  expect(await (await call(id)).text()).toContain(output);
  upstream.answerWith(respond);
  expect(await (await ask(a, "GET", `files/${output}:download`)).text()).toContain("candidates");
  const named = { contents: [{ parts: [{ fileData: { fileUri: `files/${output}` } }] }] };
  expect((await ask(a, "POST", "models/m:generateContent", named)).status).toBe(404);
  expect((await ask(a, "POST", CREATE, batchOf({ fileName: `files/${output}` }))).status).toBe(404);
  expect((await ask(a, "POST", CREATE, batchOf(requestsOf(named)))).status).toBe(404);
});

test("b408, b414: what an upstream says of a batch that it deletes shows no results, and no file of no team", async () => {
  const id = await begun(a);
  const output = { ...inlined(resultOf("m")), responsesFile: `files/batch-${id}` };
  upstream.answerWith((response) => response.end(JSON.stringify(ended(id, output))));
  const answer = await (await ask(a, "DELETE", `batches/${id}`)).text();
  expect(answer).not.toContain("candidates");
  expect(answer).toContain(`files/batch-${id}`);
  upstream.answerWith(respond);
  expect((await ask(a, "GET", `files/batch-${id}:download`)).status).toBe(200);
});

test("b408: a request's own member of the name fileName is no file of the batch", async () => {
  const schema = { type: "OBJECT", properties: { fileName: { type: "STRING" } }, example: { fileName: "a.pdf" } };
  const request = { ...HELLO, generationConfig: { responseSchema: schema } };
  expect((await ask(a, "POST", CREATE, batchOf(requestsOf(request)))).status).toBe(200);
  const input = await uploaded(a, lineOf(request));
  expect((await ask(a, "POST", CREATE, batchOf({ fileName: `files/${input}` }))).status).toBe(200);
});

test("b408: a batch's file leaves in no description while it cannot be recorded whose it is", async () => {
  const id = await begun(a, batchOf({ fileName: `files/${await uploaded(a, lineOf(HELLO))}` }));
  upstream.answerWith((response, received) => {
    database.isAway = true;
    respond(response, received);
  });
  const refused = [503, "keyplane", expect.not.stringContaining(`batch-${id}`)];
  expect(await shown(await ask(a, "GET", `batches/${id}`))).toEqual(refused);
});

test("b408: a list shows the team's own batches alone, through pages of others', and no results", async () => {
  for (let at = 0; at < 250; at++) batches.set(`other${at}`, ended(`other${at}`, inlined(resultOf("theirs"))));
  const own = [await begun(a), await begun(a), await begun(a)];
  const list = async (team: Team, query: string) =>
    (await (await ask(team, "GET", `batches${query}`)).json()) as { operations?: Batch[]; nextPageToken?: string };
  const first = await list(a, "?pageSize=2&fields=operations&filter=x");
  expect(first.operations?.map(({ name }) => name)).toEqual(own.slice(0, 2).map((id) => `batches/${id}`));
  expect(JSON.stringify(first)).not.toMatch(/candidates|usageMetadata|other/);
  expect(first.operations?.[0]).toMatchObject({ done: true, metadata: { state: "BATCH_STATE_SUCCEEDED" } });
  const rest = await list(a, `?pageSize=2&pageToken=${first.nextPageToken}`);
  expect([rest.operations?.map(({ name }) => name), rest.nextPageToken]).toEqual([[`batches/${own[2]}`], undefined]);
  expect((await ask(b, "GET", `batches?pageToken=${first.nextPageToken}`)).status).toBe(400);
  expect((await ask(a, "GET", "batches?pageToken=2")).status).toBe(400);
  expect(await list(b, "")).toEqual({});
  expect(harness.answered).toHaveLength(0);
  expect(upstream.received.some(({ url }) => url.includes("fields"))).toBe(false);
});

test.each<readonly [number, string, (theirs: string, mine: string) => object | string]>([
  [404, "another team's file", (theirs) => batchOf({ fileName: `files/${theirs}` })],
  [
    404,
    "another team's file in snake case",
    (theirs) => ({ batch: { input_config: { file_name: `files/${theirs}` } } }),
  ],
  [404, "an unknown file", () => batchOf({ fileName: "files/unknown" })],
  [
    404,
    "another team's file in a request",
    (theirs) => batchOf(requestsOf({ contents: [{ parts: [{ fileData: { fileUri: `files/${theirs}` } }] }] })),
  ],
  [
    404,
    "another team's file in a request in snake case",
    (theirs) => batchOf(requestsOf({ contents: [{ parts: [{ file_data: { file_uri: `files/${theirs}` } }] }] })),
  ],
  [404, "another team's cached content", () => batchOf(requestsOf({ ...HELLO, cachedContent: "cachedContents/x" }))],
  [
    404,
    "another team's file in metadata of another spelling",
    (theirs) =>
      JSON.stringify(
        batchOf({ requests: { requests: [{ request: HELLO, Metadata: { fileUri: `files/${theirs}` } }] } }),
      ),
  ],
  [400, "a file in a bucket", () => batchOf({ fileName: "gs://bucket/file" })],
  [400, "a file elsewhere", () => batchOf({ fileName: "https://example.com/files/x" })],
  [400, "a file by its address", (_, mine) => batchOf({ fileName: `${upstream.url}/v1beta/files/${mine}x` })],
  [400, "its own file by its address", (_, mine) => batchOf({ fileName: `${upstream.url}/v1beta/files/${mine}` })],
  [400, "no name of a file", () => batchOf({ fileName: 7 })],
  [
    400,
    "two files",
    (theirs, mine) => `{"batch":{"inputConfig":{"fileName":"files/${mine}","fileName":"files/${theirs}"}}}`,
  ],
  [
    400,
    "a file twice",
    (_, mine) => `{"batch":{"inputConfig":{"fileName":"files/${mine}","file_name":"files/${mine}"}}}`,
  ],
  [
    400,
    "a batch twice",
    (_, mine) => `{"batch":{"inputConfig":{"fileName":"files/${mine}"}},"Batch":{"displayName":"n"}}`,
  ],
  [400, "a file and requests", (_, mine) => batchOf({ fileName: `files/${mine}`, ...requestsOf(HELLO) })],
  [400, "no requests", () => batchOf({})],
  [400, "no batch", () => ({})],
  [400, "a list", () => "[]"],
  [400, "a batch that is a text", () => ({ batch: JSON.stringify(BODY.batch) })],
  [400, "a request that is a text", () => batchOf({ requests: { requests: [{ request: "{}" }] } })],
  [400, "a request twice", () => '{"batch":{"inputConfig":{"requests":{"requests":[{"request":{},"request":{}}]}}}}'],
  [400, "a list in a list", () => batchOf({ requests: { requests: [[{ request: HELLO }]] } })],
  [400, "a list of lists", () => batchOf({ requests: [{ requests: [{ request: HELLO }] }] })],
  [400, "a name of its own", () => batchOf(requestsOf(HELLO), { name: "batches/mine" })],
  [400, "an output", () => batchOf(requestsOf(HELLO), { output: { responsesFile: "files/x" } })],
  [400, "a webhook", () => batchOf(requestsOf(HELLO), { webhookConfig: { uri: "https://example.com" } })],
  [400, "another source", () => batchOf({ ...requestsOf(HELLO), gcsSource: {} })],
  [400, "a member beside the batch", () => ({ ...BODY, extra_body: {} })],
  [400, "a member beside a request", () => batchOf({ requests: { requests: [{ request: HELLO, model: "x" }] } })],
])("b408: no batch begins, with %i, whose body has %s", async (status, _, bodyOf) => {
  const [theirs, mine] = [await uploaded(b, lineOf(HELLO)), await uploaded(a, lineOf(HELLO))];
  upstream.received.length = 0;
  const answer = await shown(await ask(a, "POST", CREATE, bodyOf(theirs, mine)));
  expect(answer).toEqual([status, "keyplane", expect.any(String)]);
  expect(reached()).toEqual([]);
});

test.each<readonly [string, number, (theirs: string) => readonly (string | Buffer)[]]>([
  [
    "another team's file",
    404,
    (id) => [lineOf(HELLO), lineOf({ contents: [{ parts: [{ fileData: { fileUri: `files/${id}` } }] }] })],
  ],
  [
    "another team's file, in snake case and escaped",
    404,
    (id) => [lineOf({ contents: [{ file_uri: `files/${id}` }] }).replace("file_uri", "file\\u005furi")],
  ],
  ["another team's cached content", 404, () => [lineOf({ ...HELLO, cached_content: "cachedContents/x" })]],
  ["another member", 400, () => [JSON.stringify({ key: "1", request: HELLO, output: {} })]],
  ["a request twice", 400, () => [`{"request":{},"request":{}}`]],
  ["no request", 400, () => [`{"key":"1"}`]],
  ["a request that is a text", 400, () => [`{"key":"1","request":"{}"}`]],
  ["no JSON", 400, () => [lineOf(HELLO), "{"]],
  ["two requests in a line", 400, () => [`${lineOf(HELLO)}\r${lineOf(HELLO)}`]],
  ["nothing", 400, () => [""]],
])("b409: no batch begins whose file has %s", async (_, status, lines) => {
  const theirs = await uploaded(b, lineOf(HELLO));
  const input = await uploaded(a, ...lines(theirs));
  upstream.received.length = 0;
  const answer = await shown(await ask(a, "POST", CREATE, batchOf({ fileName: `files/${input}` })));
  expect(answer).toEqual([status, "keyplane", expect.any(String)]);
  expect(reached()).toEqual([`GET /v1beta/files/${input}:download?alt=media`]);
});

test("b409: a file is read whole before its batch begins, and not begun where the upstream does not show it", async () => {
  const mine = await uploaded(a, "x");
  const line = lineOf({ contents: [{ parts: [{ fileData: { fileUri: `files/${mine}` } }] }] });
  const input = await uploaded(a, `${line}\r`, "", lineOf(HELLO));
  const body = batchOf({ fileName: `files/${input}` });
  upstream.received.length = 0;
  expect((await ask(a, "POST", `${CREATE}?fields=name&alt=json`, body, { range: "bytes=0-1" })).status).toBe(200);
  expect(reached()).toEqual([`GET /v1beta/files/${input}:download?alt=media`, `POST /v1beta/${CREATE}`]);
  expect(upstream.received[0]?.headers.range).toBeUndefined();
  files.delete(input);
  upstream.received.length = 0;
  const refused = [400, "keyplane", expect.stringContaining("send the requests in the body")];
  expect(await shown(await ask(a, "POST", CREATE, body))).toEqual(refused);
  expect(upstream.received).toHaveLength(1);
});

test.each<readonly [string, number, object]>([
  ["none", 200, HELLO],
  ["the path's", 200, { ...HELLO, model: "fine" }],
  ["the path's, in its long form", 200, { ...HELLO, model: "models/fine" }],
  ["another", 400, { ...HELLO, model: "models/other" }],
  ["another, with the prefix of the path's twice", 400, { ...HELLO, model: "models/models/fine" }],
  ["the path's in another spelling", 400, { ...HELLO, Model: "fine" }],
  ["others beside", 400, { ...HELLO, fallbacks: ["other"] }],
  ["a way to choose one", 400, { ...HELLO, generationConfig: { routing_config: {} } }],
])(
  "b409: a key that is limited to a model has no other asked: a request that names %s is %i",
  async (_, status, request) => {
    const key = harness.addKey({ teamId: "team-a", scopes: SCOPES, allowedModels: ["fine"] });
    const path = "models/fine:batchGenerateContent";
    const input = await uploaded(a, lineOf(HELLO), lineOf(request));
    for (const body of [batchOf(requestsOf(HELLO, request)), batchOf({ fileName: `files/${input}` })]) {
      upstream.received.length = 0;
      expect((await ask({ url: a.url, key }, "POST", path, body)).status).toBe(status);
      expect(reached().includes(`POST /v1beta/${path}`)).toBe(status === 200);
    }
    const other = { batch: { ...BODY.batch, model: "models/other" } };
    expect((await ask({ url: a.url, key }, "POST", path, other)).status).toBe(400);
    expect((await ask({ url: a.url, key }, "POST", CREATE, BODY)).status).toBe(403);
  },
);

test("b409: a batch goes where its path's route leads, and what its lines name agrees with it", async () => {
  const routed = teamOf("team-a", {
    routes: [
      routeOf("same", { upstream: "gemini", upstreamModel: "same" }),
      routeOf("renamed", { upstream: "gemini", upstreamModel: "real" }),
      routeOf("limited", { upstream: "gemini", rateLimit: { requestsPerMinute: 100 } }),
    ],
    routesOnly: true,
  });
  const statusOf = async (model: string, body: object) =>
    (await ask(routed, "POST", `models/${model}:batchGenerateContent`, body)).status;
  const fileOf = async (request: object) => batchOf({ fileName: `files/${await uploaded(a, lineOf(request))}` });
  const named = { ...HELLO, model: "models/renamed" };
  expect(await statusOf("renamed", batchOf(requestsOf(named, HELLO)))).toBe(200);
  const sent = upstream.received.at(-1);
  expect(sent?.url).toBe("/v1beta/models/real:batchGenerateContent");
  expect(sent?.body.toString()).toContain('"model":"models/real"');
  expect(sent?.body.toString()).not.toContain("renamed");
  expect(await statusOf("renamed", await fileOf(HELLO))).toBe(200);
  expect(await statusOf("renamed", await fileOf(named))).toBe(400);
  expect(await statusOf("renamed", await fileOf({ ...HELLO, model: "real" }))).toBe(200);
  expect(await statusOf("same", await fileOf({ ...HELLO, model: "models/same" }))).toBe(200);
  expect(await statusOf("limited", BODY)).toBe(403);
  expect(await statusOf("real", BODY)).toBe(404);
  const unscoped = { ...routed, key: harness.addKey({ teamId: "team-a", scopes: scopeSet(["gateway:generate"]) }) };
  expect((await ask(unscoped, "POST", "models/same:batchGenerateContent", BODY)).status).toBe(403);
});

test("b409: calls of batches take gateway:generate and the kind batches, and what their requests ask", async () => {
  const withKey = (scopes: Parameters<typeof scopeSet>[0]) => ({
    ...a,
    key: harness.addKey({ teamId: "team-a", scopes: scopeSet(scopes) }),
  });
  const embed = batchOf(requestsOf({ content: CONTENTS[0] ?? {} }));
  upstream.received.length = 0;
  for (const [team, path, body, status] of [
    [withKey(["gateway:generate"]), EMBED, embed, 403],
    [withKey(["gateway:embed"]), EMBED, embed, 403],
    [withKey(["gateway:embed"]), CREATE, BODY, 403],
    [teamOf("team-a", { operations: ["generate", "batches"] }), EMBED, embed, 404],
    [teamOf("team-a", { operations: ["embed", "batches"] }), CREATE, BODY, 404],
    [teamOf("team-a", { operations: ["generate", "embed"] }), CREATE, BODY, 404],
  ] as const)
    expect([path, (await ask(team, "POST", path, body)).status]).toEqual([path, status]);
  for (const path of ["batches", "batches/x"])
    expect((await ask(withKey(["gateway:embed"]), "GET", path)).status).toBe(403);
  expect(upstream.received).toHaveLength(0);
  expect((await ask(withKey(["gateway:generate", "gateway:embed"]), "POST", EMBED, embed)).status).toBe(200);
  expect((await fetch(`${a.url}/v1/${CREATE}`, { method: "POST", headers: { "x-goog-api-key": a.key } })).status).toBe(
    404,
  );
});

test.each<readonly [string, object]>([
  ["of tokens", { tokenLimit: { tokensPerMinute: 1_000_000, scope: "Replica" } }],
  [
    "of a budget",
    {
      budgets: {
        owner: "team-a c/ns/key",
        items: [{ tokens: 1_000_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }],
      },
    },
  ],
])("b409: a key with a limit %s begins no batch", async (_, key) => {
  const limited = { ...a, key: harness.addKey({ teamId: "team-a", scopes: SCOPES, ...key }) };
  const input = await uploaded(a, lineOf(HELLO));
  upstream.received.length = 0;
  for (const body of [BODY, batchOf({ fileName: `files/${input}` })])
    expect((await ask(limited, "POST", CREATE, body)).status).toBe(403);
  expect(reached()).not.toContain(`POST /v1beta/${CREATE}`);
});

test("b409: a key that is narrowed while the file is read begins no batch", async () => {
  for (const fields of [{ allowedModels: ["fine"] }, { scopes: scopeSet(["gateway:files"]) }]) {
    const key = harness.addKey({ teamId: "team-a", scopes: SCOPES });
    const input = await uploaded(a, lineOf(HELLO));
    upstream.received.length = 0;
    upstream.answerWith((response, received) => {
      if (received.url.includes(":download")) harness.changeKey(key, fields);
      respond(response, received);
    });
    const answer = await ask({ url: a.url, key }, "POST", CREATE, batchOf({ fileName: `files/${input}` }));
    expect([answer.status, upstream.received.length]).toEqual([403, 1]);
  }
});

test("b409: a key that comes to lack the scope of what a file's requests ask begins no batch", async () => {
  const key = harness.addKey({ teamId: "team-a", scopes: SCOPES });
  const input = await uploaded(a, lineOf({ content: CONTENTS[0] ?? {} }));
  upstream.received.length = 0;
  upstream.answerWith((response, received) => {
    if (received.url.includes(":download"))
      harness.changeKey(key, { scopes: scopeSet(["gateway:generate", "gateway:files", "gateway:routes"]) });
    respond(response, received);
  });
  const answer = await ask({ url: a.url, key }, "POST", EMBED, batchOf({ fileName: `files/${input}` }));
  expect(await shown(answer)).toEqual([403, "keyplane", expect.stringContaining("gateway:embed")]);
  expect(upstream.received).toHaveLength(1);
});

const MEANWHILE: readonly (readonly [string, Parameters<Harness["changeKey"]>[1]])[] = [
  ["a model", { allowedModels: ["m"] }],
  ["a limit of tokens", { tokenLimit: { tokensPerMinute: 1_000_000, scope: "Replica" } }],
  [
    "a budget",
    {
      budgets: {
        owner: "team-a c/ns/key",
        items: [{ tokens: 1_000_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }],
      },
    },
  ],
];

test.each(MEANWHILE)("b409: a key that is held to %s while the requests come begins no batch", async (_, fields) => {
  const other = { ...HELLO, model: "models/other" };
  const inFile = harness.addKey({ teamId: "team-a", scopes: SCOPES });
  const input = await uploaded(a, lineOf(other));
  upstream.received.length = 0;
  upstream.answerWith((response, received) => {
    if (received.url.includes(":download")) harness.changeKey(inFile, fields);
    respond(response, received);
  });
  const answer = await ask({ url: a.url, key: inFile }, "POST", CREATE, batchOf({ fileName: `files/${input}` }));
  expect([403, 503]).toContain(answer.status);
  expect(reached()).toEqual([`GET /v1beta/files/${input}:download?alt=media`]);
  const inBody = harness.addKey({ teamId: "team-a", scopes: SCOPES });
  upstream.received.length = 0;
  const url = `${a.url}/v1beta/${CREATE}`;
  const [status] = await heldBack(url, { "x-goog-api-key": inBody }, batchOf(requestsOf(other)), async () => {
    await ask(a, "GET", "batches/unknown");
    harness.changeKey(inBody, fields);
  });
  expect([403, 503]).toContain(status);
  expect(reached()).toEqual([]);
});

test("b414: results in a batch count once by model, whichever keys of the team read them, and in whole bytes", async () => {
  const id = await begun(a);
  const text = JSON.stringify(ended(id, inlined(resultOf("m"), FAILED, resultOf("n"), resultOf("m"))), null, 2);
  upstream.answerWith((response) => response.end(text));
  const other = { ...a, key: harness.addKey({ teamId: "team-a", scopes: SCOPES }) };
  const read = (team: Team) =>
    ask(team, "GET", `batches/${id}?fields=name&name=batches/other&alt=media`, undefined, { range: "bytes=0-10" });
  upstream.received.length = 0;
  for (const answer of await Promise.all([a, other, a].map(read))) expect(await answer.text()).toBe(text);
  expect(await (await read(a)).text()).toBe(text);
  expect(usages()).toEqual([
    ["m", 20, 6],
    ["n", 10, 3],
  ]);
  expect(new Set(reached())).toEqual(new Set([`GET /v1beta/batches/${id}`]));
});

test("b414: results that a proxy writes in snake case leave in no list, and count; a text of results leaves nowhere", async () => {
  const id = await begun(a);
  const { usageMetadata, modelVersion, ...answer } = resultOf("m").response;
  const response = { ...answer, usage_metadata: { prompt_token_count: 10 }, model_version: modelVersion };
  expect(usageMetadata).toBeDefined();
  batches.set(id, ended(id, { inlined_responses: { inlined_responses: [{ response }] } }));
  expect(await (await ask(a, "GET", "batches")).text()).not.toContain("candidates");
  expect(await (await ask(a, "GET", `batches/${id}`)).text()).toContain("candidates");
  expect(usages()).toEqual([["m", 10, 0]]);
  const text = JSON.stringify([resultOf("m")]);
  const second = await begun(a);
  batches.set(second, ended(second, { inlinedResponses: text }));
  for (const path of ["batches", `batches/${second}`]) expect((await ask(a, "GET", path)).status).toBe(502);
});

test("b414: what was embedded counts under the batch's model", async () => {
  const id = await begun(a, batchOf(requestsOf({ content: CONTENTS[0] ?? {} })), EMBED);
  expect(await (await ask(a, "GET", `batches/${id}`)).text()).toContain("embedding");
  expect(harness.answered.map(({ usage }) => usage)).toEqual([
    { tokens: { ...NO_TOKENS, input: 12 }, model: "m", ending: "reported", isDoubtful: false },
  ]);
});

test("b414: no result leaves unless it is charged: not of a batch that goes on, nor while the database is away", async () => {
  const id = await begun(a);
  const { done: _, ...running } = ended(id, inlined(resultOf("m")));
  batches.set(id, running as Batch);
  expect(await (await ask(a, "GET", `batches/${id}`)).text()).not.toContain("candidates");
  expect(harness.answered).toHaveLength(0);
  batches.set(id, ended(id, inlined(resultOf("m"))));
  database.isAway = true;
  expect((await ask(a, "GET", `batches/${id}`)).status).toBe(503);
  database.isAway = false;
  upstream.answerWith((response, received) => {
    database.isAway = true;
    respond(response, received);
  });
  expect(await shown(await ask(a, "GET", `batches/${id}`))).toEqual([
    503,
    "keyplane",
    expect.not.stringContaining("Hi"),
  ]);
  database.isAway = false;
  for (const answer of [
    (response: ServerResponse) => response.writeHead(206).end(JSON.stringify(batches.get(id))),
    (response: ServerResponse) => response.writeHead(200, { "content-encoding": "gzip" }).end("x"),
    (response: ServerResponse) => response.end(JSON.stringify(batches.get(id)).slice(0, -1)),
    (response: ServerResponse) => response.end(`{"done":true,${'"a":['.repeat(20)}`),
  ]) {
    upstream.answerWith(answer);
    expect((await ask(a, "GET", `batches/${id}`)).status).toBe(502);
  }
  expect(harness.answered).toHaveLength(0);
  upstream.answerWith(respond);
  expect(await (await ask(a, "GET", `batches/${id}`)).text()).toContain("candidates");
  expect(usages()).toEqual([["m", 10, 3]]);
});

test("b414: a batch of many results is read to its end and charged, and passes once more; until it ends it is shown without", async () => {
  const id = await begun(a);
  const long = resultOf("m", { text: `"\\${"x".repeat(350_000)}` });
  const results = Array.from({ length: 12 }, () => long);
  batches.set(id, ended(id, inlined(...results)));
  upstream.received.length = 0;
  const whole = JSON.stringify(batches.get(id));
  expect(whole.length).toBeGreaterThan(8 << 20);
  const other = { ...a, key: harness.addKey({ teamId: "team-a", scopes: SCOPES }) };
  const answers = await Promise.all([a, other].map((team) => ask(team, "GET", `batches/${id}`)));
  for (const answer of answers) expect((await answer.text()) === whole).toBe(true);
  expect(usages()).toEqual([["m", 120, 36]]);
  const second = await begun(a);
  batches.set(second, { ...ended(second, inlined(...results)), done: false });
  const answer = await (await ask(a, "GET", `batches/${second}`)).text();
  expect(answer.length).toBeLessThan(2_000);
  expect(JSON.parse(answer)).toMatchObject({ done: false, metadata: { output: { inlinedResponses: {} } } });
  expect((await (await ask(a, "GET", "batches")).text()).length).toBeLessThan(4_000);
  expect(usages()).toHaveLength(1);
});

test("b414: a caller that leaves a long batch has it charged to none, or once", async () => {
  const id = await begun(a);
  batches.set(id, ended(id, inlined(resultOf("m"))));
  const held: ServerResponse[] = [];
  upstream.answerWith((response) => {
    response.writeHead(200).write('{"done":true,"response":{"inlinedResponses":{');
    held.push(response);
  });
  const leaving = new AbortController();
  const headers = { "x-goog-api-key": a.key };
  const call = fetch(`${a.url}/v1beta/batches/${id}`, { headers, signal: leaving.signal });
  await until("the batch is being read", () => held.length === 1);
  leaving.abort();
  await expect(call).rejects.toThrow();
  await until("the upstream's call has ended", () => held[0]?.closed === true);
  expect(harness.answered).toHaveLength(0);
  upstream.answerWith(respond);
  expect((await ask(a, "GET", `batches/${id}`)).status).toBe(200);
  expect(usages()).toHaveLength(1);
});

test("b414: what a batch's file reports counts once, by either path, and a file that no batch has made is no result", async () => {
  const id = await begun(a, batchOf({ fileName: `files/${await uploaded(a, lineOf(HELLO))}` }));
  await ask(a, "GET", `batches/${id}`);
  expect(harness.answered).toHaveLength(0);
  const lines = [resultOf("m"), FAILED, { response: { embedding: { values: [1, 2, 3] }, tokenCount: "4" } }];
  files.set(`batch-${id}`, Buffer.from(lines.map((line) => JSON.stringify({ key: "1", ...line })).join("\n")));
  upstream.received.length = 0;
  const read = (path: string) =>
    ask(a, "GET", `${path}files/batch-${id}:download?alt=media&fields=x`, undefined, { range: "bytes=0-9" });
  for (const answer of await Promise.all(["", "download/v1beta/", ""].map(read)))
    expect((await answer.text()).split("\n")).toHaveLength(3);
  expect(usages()).toEqual([
    ["m", 10, 3],
    [undefined, 4, 0],
  ]);
  expect(new Set(reached())).toEqual(
    new Set(["", "/download"].map((path) => `GET ${path}/v1beta/files/batch-${id}:download?alt=media`)),
  );
  const mine = await uploaded(a, JSON.stringify(resultOf("m")));
  await (await ask(a, "GET", `files/${mine}:download`)).text();
  expect(harness.answered).toHaveLength(2);
});

test("b414: of a batch's file that is not read as lines of JSON nothing leaves, and it is not charged", async () => {
  const id = await begun(a, batchOf({ fileName: `files/${await uploaded(a, lineOf(HELLO))}` }));
  await ask(a, "GET", `batches/${id}`);
  const lines = [resultOf("m"), FAILED].map((line) => JSON.stringify({ key: "1", ...line })).join("\n");
  for (const other of [
    Buffer.from(lines).toString("base64"),
    JSON.stringify({ key: "1", ...resultOf("m") }, null, 2),
    `[${lines.replace("\n", ",")}]`,
    "x",
  ]) {
    files.set(`batch-${id}`, Buffer.from(other));
    const answer = await shown(await ask(a, "GET", `files/batch-${id}:download`));
    expect(answer).toEqual([502, "keyplane", expect.not.stringContaining("key")]);
  }
  expect(harness.answered).toHaveLength(0);
  files.set(`batch-${id}`, Buffer.from(`\n ${lines.replace("\n", "\r\n\r\n")}\n`));
  expect(await (await ask(a, "GET", `files/batch-${id}:download`)).text()).toContain("candidates");
  expect(usages()).toEqual([["m", 10, 3]]);
});

test("Google's SDK begins batches from requests and from a file, lists, describes, cancels and deletes them", async () => {
  const options = { baseUrl: a.url, apiVersion: "v1beta" };
  const sdk = new GoogleGenAI({ apiKey: a.key, httpOptions: options });
  const made = await sdk.batches.create({
    model: "m",
    src: [
      { contents: "Hello", metadata: { key: "1" }, config: { temperature: 0.5, systemInstruction: "Be brief" } },
      { model: "m", contents: "Hello" },
    ],
    config: { displayName: "nightly" },
  });
  expect(made).toMatchObject({ name: expect.stringMatching(/^batches\//), state: "JOB_STATE_PENDING" });
  const name = made.name ?? "";
  const ofFile = await sdk.batches.create({ model: "m", src: `files/${await uploaded(a, lineOf(HELLO))}` });
  const ofTexts = await sdk.batches.createEmbeddings({
    model: "m",
    src: { inlinedRequests: { contents: ["Hello", "World"], config: { outputDimensionality: 8 } } },
  });
  const read = await sdk.batches.get({ name });
  expect(read).toMatchObject({ state: "JOB_STATE_SUCCEEDED", dest: { inlinedResponses: [{ response: {} }, {}] } });
  const file = (await sdk.batches.get({ name: ofFile.name ?? "" })).dest?.fileName ?? "";
  expect(file).toMatch(/^files\/batch-/);
  const vectors = (await sdk.batches.get({ name: ofTexts.name ?? "" })).dest?.inlinedEmbedContentResponses;
  expect(vectors?.[0]?.response).toMatchObject({ tokenCount: "5", embedding: { values: [0.1, 2] } });
  const listed = [];
  for await (const batch of await sdk.batches.list({ config: { pageSize: 1 } })) listed.push(batch.name);
  expect(listed).toEqual([name, ofFile.name, ofTexts.name]);
  await sdk.batches.cancel({ name });
  await sdk.batches.delete({ name });
  await expect(sdk.batches.get({ name })).rejects.toThrow("not found");
  const theirs = new GoogleGenAI({ apiKey: b.key, httpOptions: { ...options, baseUrl: b.url } });
  await expect(theirs.batches.get({ name: ofFile.name ?? "" })).rejects.toThrow("not found");
  expect(kept.size).toBeGreaterThan(0);
});
