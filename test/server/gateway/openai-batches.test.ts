/** Batches that OpenAI keeps, with two teams whose gateways have one credential (spec §4). */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OperationKind } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { NO_TOKENS } from "../../../domain/usage/tokens.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { startFilesUpstream } from "./files-upstream.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import type { Received } from "./upstream.ts";

const SERVED: readonly OperationKind[] = ["generate", "embed", "batches", "files"];
const SCOPES = scopeSet(["gateway:generate", "gateway:embed", "gateway:files", "gateway:routes"]);
const CHAT = "/v1/chat/completions";

let upstream: Awaited<ReturnType<typeof startFilesUpstream>>;
let harness: Harness;
const { owners, database } = ownersInMemory();
type Batch = Readonly<Record<string, unknown>> & {
  readonly id: string;
  output_file_id?: string;
  error_file_id?: string;
};
const batches = new Map<string, Batch>();
type Team = { readonly url: string; readonly key: string };
let a: Team;
let b: Team;

/** Answers as OpenAI's published description says, for every caller with the credential: a batch ends at once. */
function respond(response: ServerResponse, received: Received): void {
  const { pathname, searchParams } = new URL(received.url, upstream.url);
  const [, , collection, id = "", action] = pathname.split("/");
  const { method } = received;
  const send = (answer: object, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  if (collection === "files" && action === "content" && !upstream.files.has(id)) send({}, 404);
  else if (collection === "files" && action === "content") {
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(upstream.files.get(id)?.content);
  } else if (collection !== "batches") upstream.respond(response, received);
  else if (id === "" && method === "POST") {
    const asked: { input_file_id: string; endpoint: string } = JSON.parse(received.body.toString());
    const made = { id: `batch_${randomBytes(12).toString("hex")}`, object: "batch", status: "validating", ...asked };
    batches.set(made.id, { ...made, status: "completed", ...outputsOf(asked.input_file_id) });
    send({ ...made, output_file_id: null, error_file_id: null });
  } else if (id === "") {
    const all = [...batches.values()];
    const from = all.findIndex((batch) => batch.id === searchParams.get("after")) + 1;
    const data = all.slice(from, from + Number(searchParams.get("limit") ?? 20));
    const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    send({ object: "list", data, ...ends, has_more: from + data.length < all.length });
  } else {
    const batch = batches.get(id);
    send(batch ?? { error: { message: "No such batch" } }, batch === undefined ? 404 : 200);
  }
}

function outputsOf(input: string): { output_file_id: string; error_file_id: string } {
  const lines =
    upstream.files
      .get(input)
      ?.content.toString()
      .trim()
      .split(/\r?\n+/) ?? [];
  const results = lines.map((line) => resultOf(JSON.parse(line).body.model));
  return {
    output_file_id: upstream.keep("output", Buffer.from(results.join("\n"))).id,
    error_file_id: upstream.keep("errors", Buffer.from('{"response":{"status_code":400,"body":{}}}\n')).id,
  };
}

function resultOf(model: string): string {
  const content = '{"usage":{"prompt_tokens":9999}}\n"usage": {"completion_tokens": 9999}';
  const usage = { prompt_tokens: 12, prompt_tokens_details: { cached_tokens: 2 }, completion_tokens: 3 };
  const body = {
    object: "chat.completion",
    model,
    choices: [{ message: { content, usage: { prompt_tokens: 9 } } }],
    usage,
  };
  return JSON.stringify({ id: "batch_req_1", custom_id: "1", response: { status_code: 200, body }, error: null });
}

function teamOf(teamId: string, fields: Parameters<Harness["addGateway"]>[0] = {}, key = {}): Team {
  const upstreams = [upstreamOf(upstream.url)];
  const gateway = harness.addGateway({ teamId, upstreams, operations: SERVED, ...fields });
  return { url: `${harness.url}/g/${gateway.publicId}`, key: harness.addKey({ teamId, scopes: SCOPES, ...key }) };
}

beforeAll(async () => {
  upstream = await startFilesUpstream();
  harness = await startGateway({ owners });
});
beforeEach(() => {
  upstream.received.length = 0;
  harness.answered.length = 0;
  batches.clear();
  upstream.files.clear();
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
  return fetch(`${url}/v1/${path}`, {
    method,
    headers: {
      ...{ authorization: `Bearer ${key}`, ...headers },
      ...(json !== undefined && { "content-type": "application/json" }),
    },
    ...(json !== undefined && { body: typeof json === "string" ? json : JSON.stringify(json) }),
  });
}

const lineOf = (model: string, body: object = {}, url = CHAT) =>
  JSON.stringify({ custom_id: "1", method: "POST", url, body: { model, messages: [], ...body } });

/** Has a team upload a file; the upstream keeps the lines alone. */
async function uploaded(team: Team, ...lines: readonly (string | Buffer)[]): Promise<string> {
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new Blob(["x"]), "a.jsonl");
  const answer = await fetch(`${team.url}/v1/files`, {
    ...{ method: "POST", headers: { authorization: `Bearer ${team.key}` }, body: form },
  });
  const { id } = (await answer.json()) as { id: string };
  const content = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from("\n")]));
  upstream.files.set(id, { id, name: "a.jsonl", content });
  return id;
}

const bodyOf = (input_file_id: string, endpoint = CHAT) => ({ input_file_id, endpoint, completion_window: "24h" });

async function begun(team: Team, ...lines: readonly string[]): Promise<Batch> {
  const input = await uploaded(team, ...lines);
  const answer = await ask(team, "POST", "batches", bodyOf(input));
  expect(answer.status).toBe(200);
  return (await answer.json()) as Batch;
}

const ended = async (team: Team, id: string) => (await (await ask(team, "GET", `batches/${id}`)).json()) as Batch;
const shown = async (answer: Response) => [
  answer.status,
  answer.headers.get("x-keyplane-error-source"),
  await answer.text(),
];
/** Calls that have reached the upstream, without uploads. */
const reached = () => upstream.received.map(({ method, url }) => `${method} ${url.split("?")[0]}`);

test("b410: a batch and its files are its team's, and another team's are the 404 of unknown ones", async () => {
  const { id } = await begun(a, lineOf("m"));
  const { output_file_id: output = "", error_file_id: errors = "" } = await ended(a, id);
  upstream.received.length = 0;
  const calls = (batch: string, ...files: string[]) => [
    ["GET", `batches/${batch}`] as const,
    ["POST", `batches/${batch}/cancel`] as const,
    ...files.flatMap(
      (file) =>
        [
          ["GET", `files/${file}`],
          ["GET", `files/${file}/content`],
          ["DELETE", `files/${file}`],
        ] as const,
    ),
  ];
  const unknown = calls("batch_unknown", "file_unknown", "file_unknown");
  for (const [at, [method, path]] of calls(id, output, errors).entries()) {
    const foreign = await shown(await ask(b, method, path));
    expect(foreign).toEqual([404, "keyplane", expect.stringContaining("not found")]);
    expect(await shown(await ask(b, method, unknown[at]?.[1] ?? ""))).toEqual(foreign);
  }
  expect(upstream.received).toHaveLength(0);
  for (const [method, path] of calls(id, output, errors)) expect((await ask(a, method, path)).status).toBe(200);
  expect(upstream.received[0]?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
  expect((await ask(a, "GET", `files/${output}`)).status).toBe(404);
});

/** Begins a batch at an upstream that answers with one that has ended. */
async function begunAs(id: string): Promise<Response> {
  const input = String(batches.get(id)?.input_file_id);
  upstream.answerWith((response, received) => {
    if (received.method === "GET") respond(response, received);
    else response.end(JSON.stringify(batches.get(id)));
  });
  return ask(a, "POST", "batches", bodyOf(input));
}

test.each<readonly [string, (id: string) => Promise<Response>]>([
  ["a description", (id) => ask(a, "GET", `batches/${id}`)],
  ["a cancellation", (id) => ask(a, "POST", `batches/${id}/cancel`)],
  ["a list", () => ask(a, "GET", "batches")],
  ["the answer that begins another", async (id) => begunAs(id)],
])("b410: the files that %s names are the team's before it leaves", async (_, call) => {
  const { id } = await begun(a, lineOf("m"));
  const output = batches.get(id)?.output_file_id ?? "";
  expect((await ask(a, "GET", `files/${output}`)).status).toBe(404);
  database.isAway = true;
  expect(await shown(await call(id))).toEqual([503, "keyplane", expect.not.stringContaining(output)]);
  database.isAway = false;
  expect(await (await call(id)).text()).toContain(output);
  expect((await ask(a, "GET", `files/${output}`)).status).toBe(200);
  expect(await (await ask(a, "GET", "files")).json()).toMatchObject({ data: [{}, { id: output }, {}] });
  expect(await (await ask(b, "GET", "files")).json()).toMatchObject({ data: [] });
});

test("b410: a list shows the team's own batches alone, through pages of others'", async () => {
  for (let at = 0; at < 250; at++) batches.set(`other${at}`, { id: `other${at}`, output_file_id: `theirs${at}` });
  const own = [await begun(a, lineOf("m")), await begun(a, lineOf("m")), await begun(a, lineOf("m"))].map(
    ({ id }) => id,
  );
  const list = async (team: Team, query: string) =>
    (await (await ask(team, "GET", `batches${query}`)).json()) as { data: Batch[]; has_more: boolean };
  const first = await list(a, "?limit=2");
  expect([first.data.map(({ id }) => id), first.has_more]).toEqual([own.slice(0, 2), true]);
  expect((await list(a, `?limit=2&after=${own[1]}`)).data.map(({ id }) => id)).toEqual(own.slice(2));
  expect((await ask(b, "GET", `batches?after=${own[1]}`)).status).toBe(404);
  expect(await list(b, "")).toMatchObject({ data: [], has_more: false });
  expect((await ask(a, "GET", "files/theirs1")).status).toBe(404);
});

test("b410: a batch is begun with a file of the team's alone, and with the one that its body names", async () => {
  const [mine, theirs] = [await uploaded(a, lineOf("m")), await uploaded(b, lineOf("m"))];
  const { output_file_id: output = "" } = await ended(a, (await begun(a, lineOf("m"))).id);
  upstream.received.length = 0;
  for (const [status, body] of [
    [404, bodyOf(theirs)],
    [404, bodyOf("file_unknown")],
    [404, bodyOf(output)],
    [404, `{"endpoint":"${CHAT}","input_file_id":"${mine}","Input_File_Id":"${theirs}"}`],
    [400, `{"endpoint":"${CHAT}","input_file_id":"${mine}","endpoint":"/v1/embeddings"}`],
    [400, `{"endpoint":"${CHAT}","input_file_id":"${mine}","Endpoint":"/v1/embeddings"}`],
    [400, { ...bodyOf(mine), model: "m" }],
    [400, { ...bodyOf(mine), extra_body: { model: "m" } }],
    [400, { ...bodyOf(mine), requests: [{ body: { model: "other" } }] }],
    [400, { ...bodyOf(mine), input_blob: "https://example.com" }],
    [400, { ...bodyOf(mine), output_folder: { url: "https://example.com" } }],
    [400, { ...bodyOf(mine), extra_query: {} }],
    [400, { endpoint: CHAT, completion_window: "24h", metadata: {}, nested: { input_file_id: mine } }],
    [400, `{"endpoint":"${CHAT}","Input_File_Id":"${mine}"}`],
    [400, `{"input_file_id":"${mine}","endpoint":{${'"a":1,'.repeat(100)}"b":1}}`],
    [400, { endpoint: CHAT }],
    [400, { input_file_id: mine }],
    [400, bodyOf(mine, "/v1/images/edits")],
    [400, "[]"],
  ] as const) {
    expect([body, (await ask(a, "POST", "batches", body)).status]).toEqual([body, status]);
  }
  expect((await ask(a, "POST", "batches?model=m", bodyOf(mine))).status).toBe(400);
  expect(reached()).toEqual([]);
  expect((await ask(a, "POST", "batches", { ...bodyOf(mine), metadata: { file_id: theirs } })).status).toBe(200);
  expect(reached()).toEqual([`GET /v1/files/${mine}/content`, "POST /v1/batches"]);
});

const FILE_OF_B = (id: string) => ({
  messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }],
});
test.each<readonly [string, number, string, (theirs: string) => readonly (string | Buffer)[]]>([
  ["another team's file", 404, CHAT, (id) => [lineOf("m"), lineOf("m", FILE_OF_B(id))]],
  ["another team's file, escaped", 404, CHAT, (id) => [lineOf("m", FILE_OF_B(id)).replace("file_id", "\\u0066ile_id")]],
  [
    "another team's response",
    404,
    "/v1/responses",
    () => [lineOf("m", { previous_response_id: "resp_1" }, "/v1/responses")],
  ],
  [
    "another team's conversation",
    404,
    "/v1/responses",
    () => [lineOf("m", { conversation: "conv_1" }, "/v1/responses")],
  ],
  ["another path", 400, CHAT, () => [lineOf("m"), lineOf("m", {}, "/v1/responses")]],
  ["another method", 400, CHAT, () => [lineOf("m").replace("POST", "DELETE")]],
  ["a body twice", 400, CHAT, (id) => [lineOf("m").replace("{", `{"body":${JSON.stringify(FILE_OF_B(id))},`)]],
  ["a Body beside", 400, CHAT, (id) => [lineOf("m").replace("{", `{"Body":${JSON.stringify(FILE_OF_B(id))},`)]],
  ["another member", 400, CHAT, () => [lineOf("m").replace("{", '{"extra_body":{},')]],
  ["no body", 400, CHAT, () => [`{"custom_id":"1","method":"POST","url":"${CHAT}"}`]],
  ["a body that is a text", 400, CHAT, () => [`{"method":"POST","url":"${CHAT}","body":"{}"}`]],
  ["no JSON", 400, CHAT, () => [lineOf("m"), "{"]],
  ["no JSON in one byte", 400, CHAT, () => ["1"]],
  ["a list", 400, CHAT, () => [`[${lineOf("m")}]`]],
  ["two requests", 400, CHAT, () => [`${lineOf("m")}${lineOf("m")}`]],
  ["a request behind a return", 400, CHAT, () => [`${lineOf("m")}\r${lineOf("m")}`]],
  ["a separator of lines in a text", 400, CHAT, () => [lineOf("m", { x: "\u2028" })]],
  ["a next line in a text", 400, CHAT, () => [lineOf("m", { x: "\u0085" })]],
  ["a control character in a text", 400, CHAT, () => [lineOf("m", { x: "Y" }).replace("Y", "\f")]],
  ["no UTF-8", 400, CHAT, () => [Buffer.from([0x22, 0xff, 0x22])]],
  ["a long line", 400, CHAT, () => [lineOf("m", { x: "x".repeat(4 << 20) })]],
  ["nothing", 400, CHAT, () => [""]],
])("b411: no batch begins whose file has %s", async (_, status, endpoint, lines) => {
  const theirs = await uploaded(b, lineOf("m"));
  const input = await uploaded(a, ...lines(theirs));
  upstream.received.length = 0;
  const answer = await shown(await ask(a, "POST", "batches", bodyOf(input, endpoint)));
  expect([...answer, ...reached()]).toEqual([
    ...[status, "keyplane", expect.any(String), `GET /v1/files/${input}/content`],
  ]);
});

test("b411: a line names the number at which a file is refused, and files of the team's own pass in lines", async () => {
  const mine = await uploaded(a, "{}");
  const bad = await uploaded(a, lineOf("m"), "", "{}");
  expect(await (await ask(a, "POST", "batches", bodyOf(bad))).text()).toContain("Line 3 of the batch's file");
  const good = await uploaded(a, `${lineOf("m", FILE_OF_B(mine))}\r`, "", lineOf("n", { x: "x".repeat(200_000) }));
  expect((await ask(a, "POST", "batches", bodyOf(good))).status).toBe(200);
  expect((await ask(a, "POST", "batches", bodyOf(good), { range: "bytes=0-1", "if-range": '"x"' })).status).toBe(200);
  for (const { headers } of upstream.received) expect(headers.range).toBeUndefined();
});

test.each<readonly [string, readonly string[], number]>([
  ["its model", [lineOf("fine"), lineOf("fine")], 200],
  ["another", [lineOf("other")], 403],
  ["another behind its own", [lineOf("fine"), lineOf("other")], 400],
  ["none", [lineOf("fine").replace('"model":"fine",', "")], 403],
  ["none behind its own", [lineOf("fine"), lineOf("fine").replace('"model":"fine",', "")], 400],
  ["one in another spelling", [lineOf("fine"), lineOf("fine", { Model: "other" })], 400],
  ["one twice", [lineOf("fine").replace('{"model"', '{"model":"other","model"')], 400],
  ["others beside", [lineOf("fine", { fallbacks: ["other"] })], 400],
])(
  "b411: a key that is restricted to a model has no other asked by a batch: %s is answered so",
  async (_, lines, status) => {
    const key = harness.addKey({ teamId: "team-a", scopes: SCOPES, allowedModels: ["fine"] });
    const input = await uploaded(a, ...lines);
    upstream.received.length = 0;
    const answer = await ask({ url: a.url, key }, "POST", "batches", bodyOf(input));
    expect([answer.status, reached().includes("POST /v1/batches")]).toEqual([status, status === 200]);
  },
);

test("b411: a batch asks a route's model where it has the same name at the upstream that has the file", async () => {
  const other = await startFilesUpstream();
  const routed = teamOf("team-a", {
    upstreams: [upstreamOf(upstream.url), upstreamOf(other.url, "openai", { name: "other" })],
    routes: [
      routeOf("same", { upstreamModel: "same" }),
      routeOf("renamed", { upstreamModel: "real" }),
      routeOf("far", { upstream: "other", upstreamModel: "far" }),
      routeOf("limited", { upstreamModel: "limited", rateLimit: { requestsPerMinute: 100 } }),
    ],
    routesOnly: true,
  });
  const statusOf = async (model: string, team = routed) =>
    (await ask(team, "POST", "batches", bodyOf(await uploaded(a, lineOf(model))))).status;
  expect(await statusOf("same")).toBe(200);
  expect(await statusOf("renamed")).toBe(400);
  expect(await statusOf("far")).toBe(400);
  expect(await statusOf("limited")).toBe(403);
  expect(await statusOf("real")).toBe(404);
  const unscoped = harness.addKey({ teamId: "team-a", scopes: scopeSet(["gateway:generate", "gateway:files"]) });
  expect(await statusOf("same", { ...routed, key: unscoped })).toBe(403);
  await other.close();
});

test.each<readonly [string, number, (response: ServerResponse) => unknown]>([
  ["in part", 502, (response) => response.writeHead(206).end(`${lineOf("m")}\n`)],
  ["in a coding", 502, (response) => response.writeHead(200, { "content-encoding": "gzip" }).end("x")],
  [
    "cut",
    502,
    (response) =>
      response.writeHead(200, { "content-length": "9999" }).write(`${lineOf("m")}\n`, () => response.destroy()),
  ],
  ["with an error", 404, (response) => response.writeHead(404).end("{}")],
])("b411: no batch begins whose file the upstream answers %s", async (_, status, answer) => {
  const input = await uploaded(a, lineOf("m"));
  upstream.received.length = 0;
  upstream.answerWith(answer);
  expect((await ask(a, "POST", "batches", bodyOf(input))).status).toBe(status);
  expect(reached()).toEqual([`GET /v1/files/${input}/content`]);
});

test("b411: callers that leave while their files are read begin no batch, and leave room for others", async () => {
  const input = await uploaded(a, lineOf("m"));
  const held: ServerResponse[] = [];
  upstream.answerWith((response) => {
    response.writeHead(200).write(`${lineOf("m")}\n`);
    held.push(response);
  });
  for (let at = 0; at < 3; at++) {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${a.key}`, "content-type": "application/json" };
    const body = JSON.stringify(bodyOf(input));
    const call = fetch(`${a.url}/v1/batches`, { method: "POST", headers, body, signal: leaving.signal });
    await until("the file is being read", () => held.length === at + 1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    await until("the upstream's call has ended", () => held[at]?.closed === true);
  }
  expect(reached()).not.toContain("POST /v1/batches");
  upstream.answerWith(respond);
  expect((await ask(a, "POST", "batches", bodyOf(input))).status).toBe(200);
});

test.each<readonly [string, Parameters<Harness["changeKey"]>[1]]>([
  ["other models", { allowedModels: ["fine"] }],
  ["another scope", { scopes: scopeSet(["gateway:files", "gateway:embed"]) }],
  ["a limit of tokens", { tokenLimit: { tokensPerMinute: 9, scope: "Replica" } }],
])("b411: a key that is narrowed to %s while the file is read begins no batch", async (_, fields) => {
  const key = harness.addKey({ teamId: "team-a", scopes: SCOPES });
  const input = await uploaded(a, lineOf("other"));
  upstream.received.length = 0;
  upstream.answerWith((response, received) => {
    if (received.url.endsWith("/content")) harness.changeKey(key, fields);
    respond(response, received);
  });
  expect((await ask({ url: a.url, key }, "POST", "batches", bodyOf(input))).status).toBeGreaterThanOrEqual(400);
  expect(reached()).toEqual([`GET /v1/files/${input}/content`]);
});

test("b486: a batch whose upstream gets another credential while its file is read is not begun with the one of before", async () => {
  const of = { gatewayId: "gw_rotating", publicId: "rotating" };
  const team = teamOf("team-a", of);
  const input = await uploaded(team, lineOf("m"));
  upstream.received.length = 0;
  const credential = "sk-rotated-canary-0123456789";
  upstream.answerWith((response, received) => {
    if (received.url.endsWith("/content")) {
      const upstreams = [upstreamOf(upstream.url, "openai", { credential })];
      harness.addGateway({ teamId: "team-a", operations: SERVED, ...of, upstreams });
    }
    respond(response, received);
  });
  const refused = await shown(await ask(team, "POST", "batches", bodyOf(input)));
  expect(refused).toEqual([503, "keyplane", expect.stringContaining("try again")]);
  expect(reached()).toEqual([`GET /v1/files/${input}/content`]);
  // As SDKs do by themselves.
  expect((await ask(team, "POST", "batches", bodyOf(input))).status).toBe(200);
  expect(upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${credential}`);
});

test("b411: a batch asks what its key may call, at a gateway that serves it", async () => {
  const input = await uploaded(a, lineOf("m", {}, "/v1/embeddings"));
  const unscoped = { ...a, key: harness.addKey({ teamId: "team-a", scopes: scopeSet(["gateway:generate"]) }) };
  const unserved = teamOf("team-a", { operations: ["generate", "batches"] });
  upstream.received.length = 0;
  const refused = [unscoped, unserved].map((team) => ask(team, "POST", "batches", bodyOf(input, "/v1/embeddings")));
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([403, 404]);
  expect(reached()).toEqual([]);
  expect((await ask(a, "POST", "batches", bodyOf(input, "/v1/embeddings"))).status).toBe(200);
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
])("b411: a key with a limit %s begins no batch", async (_, key) => {
  const limited = { ...a, key: harness.addKey({ teamId: "team-a", scopes: SCOPES, ...key }) };
  const input = await uploaded(a, lineOf("m"));
  upstream.received.length = 0;
  expect((await ask(limited, "POST", "batches", bodyOf(input))).status).toBe(403);
  expect(reached()).not.toContain("POST /v1/batches");
});

test("b412: what a batch has used counts once by model, whichever key of the team reads its output, and however often", async () => {
  const { id } = await begun(a, lineOf("m"), lineOf("n"), lineOf("m"));
  const { output_file_id: output, error_file_id: errors } = await ended(a, id);
  expect(harness.answered).toHaveLength(0);
  const other = { ...a, key: harness.addKey({ teamId: "team-a", scopes: SCOPES }) };
  const read = (team: Team) => ask(team, "GET", `files/${output}/content`, undefined, { range: "bytes=0-10" });
  for (const answer of await Promise.all([a, other, a].map(read))) {
    expect((await answer.text()).split("\n")).toHaveLength(3);
  }
  await (await ask(a, "GET", `files/${errors}/content`)).text();
  expect(harness.answered.map(({ usage }) => usage)).toEqual([
    { tokens: { ...NO_TOKENS, input: 20, cached: 4, output: 6 }, model: "m", ending: "reported", isDoubtful: false },
    { tokens: { ...NO_TOKENS, input: 10, cached: 2, output: 3 }, model: "n", ending: "reported", isDoubtful: false },
  ]);
});

test("b412: no body names the output of a batch, in whose place the model would read what is not charged", async () => {
  const { output_file_id: output = "" } = await ended(a, (await begun(a, lineOf("m"))).id);
  expect((await ask(a, "POST", "chat/completions", { model: "m", ...FILE_OF_B(output) })).status).toBe(404);
  expect((await ask(a, "POST", "batches", bodyOf(await uploaded(a, lineOf("m", FILE_OF_B(output)))))).status).toBe(404);
});

test("b412: a file that no batch has made is no result, whatever it says", async () => {
  const id = await uploaded(a, resultOf("m"));
  upstream.received.length = 0;
  expect(await (await ask(a, "GET", `files/${id}/content`)).text()).toContain("batch_req_1");
  expect([upstream.received.length, harness.answered.length]).toEqual([1, 0]);
});

test("b410: calls of batches take the scope gateway:generate and a gateway that names batches", async () => {
  const unscoped = { ...a, key: harness.addKey({ scopes: scopeSet(["gateway:files"]) }) };
  const unserved = teamOf("team-a", { operations: ["generate", "files"] });
  for (const [method, path, json] of [
    ["POST", "batches", {}],
    ["GET", "batches"],
    ["GET", "batches/x"],
    ["POST", "batches/x/cancel"],
  ] as const) {
    expect((await ask(unscoped, method, path, json)).status).toBe(403);
    const refused = await ask(unserved, method, path, json);
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining("have batches added")]);
  }
  expect(upstream.received).toHaveLength(0);
});

test("OpenAI's SDK uploads a file, begins, lists, describes and cancels batches, and reads what they have made", async () => {
  const sdk = new OpenAI({ apiKey: a.key, baseURL: `${a.url}/v1`, maxRetries: 0 });
  for (let at = 0; at < 30; at++) batches.set(`other${at}`, { id: `other${at}` });
  const file = await sdk.files.create({ purpose: "batch", file: await toFile(Buffer.from("x"), "a.jsonl") });
  upstream.files.set(file.id, { id: file.id, name: "a", content: Buffer.from(lineOf("m")) });
  const asked = { input_file_id: file.id, endpoint: CHAT, completion_window: "24h", metadata: { of: "a" } } as const;
  const made = [
    await sdk.batches.create({ ...asked, output_expires_after: { anchor: "created_at", seconds: 3_600 } }),
    await sdk.batches.create(asked),
  ];
  const listed = [];
  for await (const { id } of sdk.batches.list({ limit: 1 })) listed.push(id);
  expect(listed).toEqual(made.map(({ id }) => id));
  expect((await sdk.batches.cancel(made[1]?.id ?? "")).object).toBe("batch");
  const { output_file_id: output = "" } = await sdk.batches.retrieve(made[0]?.id ?? "");
  expect(await (await sdk.files.content(output)).text()).toBe(resultOf("m"));
  const theirs = new OpenAI({ apiKey: b.key, baseURL: `${b.url}/v1`, maxRetries: 0 });
  await expect(theirs.batches.retrieve(made[0]?.id ?? "")).rejects.toThrow("404");
  await expect(theirs.files.content(output)).rejects.toThrow("404");
});
