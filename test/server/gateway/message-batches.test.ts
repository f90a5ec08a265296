/** Batches that Anthropic keeps, with two teams whose gateways have one credential (spec §4). */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
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

const SERVED: readonly OperationKind[] = ["generate", "batches", "files"];
const SCOPES = scopeSet(["gateway:generate", "gateway:files", "gateway:routes"]);

let upstream: Upstream;
let harness: Harness;
const { owners, database, kept } = ownersInMemory();
type Request = { readonly custom_id: string; readonly params: { readonly model: string } };
const batches = new Map<string, { readonly requests: readonly Request[]; status: string }>();
type Team = { readonly url: string; readonly key: string };
let a: Team;
let b: Team;

/** Answers as Anthropic's published description says, for every caller with the credential. */
function respond(response: ServerResponse, { method, url, body }: Received): void {
  const { pathname, searchParams } = new URL(url, upstream.url);
  const send = (answer: object, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  const shown = (id: string) => ({
    ...{ id, type: "message_batch", processing_status: batches.get(id)?.status ?? "ended" },
    ...{ created_at: "2026-11-29T00:00:00Z", expires_at: new Date(harness.clock.now() + 86_400_000).toISOString() },
    results_url: batches.get(id)?.status === "ended" ? `${upstream.url}/v1/messages/batches/${id}/results` : null,
  });
  const [, , , , id = "", action] = pathname.split("/");
  const batch = batches.get(id);
  if (id === "" && method === "POST") {
    const made = `msgbatch_${randomBytes(12).toString("hex")}`;
    batches.set(made, { ...JSON.parse(body.toString()), status: "ended" });
    send(shown(made));
  } else if (id === "") {
    const all = [...batches.keys()];
    const from = all.indexOf(searchParams.get("after_id") ?? "") + 1;
    const page = all.slice(from, from + Number(searchParams.get("limit") ?? 20));
    const ends = { first_id: page[0] ?? null, last_id: page.at(-1) ?? null };
    send({ data: page.map(shown), ...ends, has_more: from + page.length < all.length });
  } else if (batch === undefined) send({ type: "error", error: { type: "not_found_error" } }, 404);
  else if (action === "results") {
    response.writeHead(200, { "content-type": "application/x-jsonl" });
    for (const { custom_id, params } of batch.requests) response.write(`${resultOf(custom_id, params.model)}\n`);
    response.end();
  } else if (method === "DELETE") {
    batches.delete(id);
    send({ id, type: "message_batch_deleted" });
  } else {
    if (action === "cancel") batch.status = "canceling";
    send(shown(id));
  }
}

function resultOf(custom_id: string, model: string): string {
  if (custom_id.startsWith("bad")) {
    return JSON.stringify({ custom_id, result: { type: "errored", error: { type: "error" } } });
  }
  const text = '{"usage":{"input_tokens":9999}}\n"usage": {"output_tokens": 9999}';
  const message = { id: "msg_1", model, content: [{ type: "text", text, usage: { input_tokens: 9_999 } }] };
  const usage = { input_tokens: 10, cache_read_input_tokens: 2, output_tokens: 3 };
  return JSON.stringify({ custom_id, result: { type: "succeeded", message: { ...message, usage } } });
}

function teamOf(teamId: string, fields: Parameters<Harness["addGateway"]>[0] = {}, key = {}): Team {
  const upstreams = [upstreamOf(upstream.url, "anthropic")];
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
  upstream.answerWith(respond);
  database.isAway = false;
  a = teamOf("team-a");
  b = teamOf("team-b");
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

function ask({ url, key }: Team, method: string, path = "", json?: object | string, signal?: AbortSignal) {
  return fetch(path.startsWith("http") ? path : `${url}/v1/messages/batches${path}`, {
    method,
    headers: { "x-api-key": key, ...(json !== undefined && { "content-type": "application/json" }) },
    ...(json !== undefined && { body: typeof json === "string" ? json : JSON.stringify(json) }),
    ...(signal && { signal }),
  });
}

const MESSAGES = [{ role: "user" as const, content: "Hello" }];
const requestsOf = (...models: readonly string[]) => ({
  requests: models.map((model, at) => ({ custom_id: `r${at}`, params: { model, max_tokens: 9, messages: MESSAGES } })),
});
type Batch = { readonly id: string; readonly results_url: string | null };
async function made(team: Team, body: object = requestsOf("m")): Promise<Batch> {
  const answer = await ask(team, "POST", "", body);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Batch;
}

const shown = async (answer: Response) => [
  answer.status,
  answer.headers.get("x-keyplane-error-source"),
  await answer.text(),
];
const CALLS = [
  ["GET", ""],
  ["GET", "/results"],
  ["POST", "/cancel"],
  ["DELETE", ""],
] as const;

test("b403: a batch is its team's, and another team's is the 404 of an unknown one", async () => {
  const { id } = await made(a);
  upstream.received.length = 0;
  for (const [method, path] of CALLS) {
    const foreign = await shown(await ask(b, method, `/${id}${path}`));
    expect(foreign).toEqual([404, "keyplane", expect.stringContaining("Batch not found")]);
    expect(await shown(await ask(b, method, `/msgbatch_unknown${path}`))).toEqual(foreign);
  }
  expect(upstream.received).toHaveLength(0);
  for (const [method, path] of CALLS) expect((await ask(a, method, `/${id}${path}`)).status).toBe(200);
  expect(upstream.received[0]?.headers["x-api-key"]).toBe(PROVIDER_KEY);
  expect((await ask(a, "GET", `/${id}`)).status).toBe(404);
});

test("b403: results are at the gateway, in every answer that names them", async () => {
  const batch = await made(a);
  expect(batch.results_url).toBe(`${a.url}/v1/messages/batches/${batch.id}/results`);
  const list = await ask(a, "GET");
  const answers = [await ask(a, "GET", `/${batch.id}`), await ask(a, "POST", `/${batch.id}/cancel`)];
  expect(await list.text()).not.toContain(upstream.url);
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  expect(texts.join()).not.toContain(upstream.url);
  expect(texts[0]).toContain(batch.results_url);
  const ended = { id: batch.id, results_url: `${upstream.url}/v1/messages/batches/${batch.id}/results` };
  upstream.answerWith((response) => response.end(JSON.stringify(ended)));
  const cancelled = await ask(a, "POST", `/${batch.id}/cancel`);
  expect(await cancelled.json()).toEqual({ id: batch.id, results_url: batch.results_url });
  upstream.answerWith((response) => response.end(JSON.stringify({ results_url: `${upstream.url}/x` })));
  expect(await (await ask(a, "GET", `/${batch.id}`)).json()).toEqual({ results_url: null });
  expect(await (await ask(a, "POST", "", requestsOf("m"))).json()).toEqual({ results_url: null });
});

test("b403: a list shows the team's own batches alone, through pages of others'", async () => {
  for (let at = 0; at < 1_100; at++) batches.set(`other${at}`, { requests: [], status: "ended" });
  const own = [await made(a), await made(a), await made(a)].map(({ id }) => id);
  const first = (await (await ask(a, "GET", "?limit=2")).json()) as { data: Batch[]; has_more: boolean };
  expect([first.data.map(({ id }) => id), first.has_more]).toEqual([own.slice(0, 2), true]);
  const next = (await (await ask(a, "GET", `?limit=2&after_id=${own[1]}`)).json()) as { data: Batch[] };
  expect(next.data.map(({ id }) => id)).toEqual(own.slice(2));
  expect((await ask(b, "GET", `?after_id=${own[1]}`)).status).toBe(404);
  expect((await ask(a, "GET", "?before_id=other3")).status).toBe(400);
  expect(await (await ask(b, "GET")).json()).toMatchObject({ data: [], has_more: false });
});

test.each<readonly [string, object]>([
  ["file_id", { file_id: "file_of_another_team" }],
  ["in another spelling", { FileId: "file_of_another_team" }],
])("b403: a request of a batch names no other team's file: %s", async (_, source) => {
  const content = [{ type: "document", source }];
  const params = { model: "m", max_tokens: 9, messages: [{ role: "user", content }] };
  const answer = await ask(a, "POST", "", { requests: [requestsOf("m").requests[0], { custom_id: "x", params }] });
  expect([answer.status, upstream.received.length]).toEqual([404, 0]);
  const called = { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: source }] };
  expect((await ask(a, "POST", "", { requests: [{ params: { ...params, messages: [called] } }] })).status).toBe(200);
});

test.each<readonly [string, string, number]>([
  ["its model", JSON.stringify(requestsOf("fine", "fine")), 200],
  ["another", JSON.stringify(requestsOf("other")), 403],
  ["another behind its own", JSON.stringify(requestsOf("fine", "other")), 400],
  ["none", '{"requests":[{"custom_id":"1","params":{}}]}', 403],
  ["one in another spelling", '{"requests":[{"params":{"model":"fine"}},{"params":{"Model":"other"}}]}', 400],
  ["requests twice", '{"requests":[{"params":{"model":"fine"}}],"requests":[{"params":{"model":"other"}}]}', 400],
  ["params twice", '{"requests":[{"params":{"model":"fine"},"params":{"model":"other"}}]}', 400],
  ["params in another spelling", '{"requests":[{"params":{"model":"fine"},"Params":{"model":"other"}}]}', 400],
  ["others beside", '{"requests":[{"params":{"model":"fine","fallbacks":["other"]}}]}', 400],
  ["one beside the requests", '{"model":"other","requests":[{"params":{"model":"fine"}}]}', 400],
  ["one beside params", '{"requests":[{"params":{"model":"fine"},"model":"other"}]}', 400],
  ["others beside params", '{"requests":[{"params":{"model":"fine"},"models":["other"]}]}', 400],
  ["an extra body in a request", '{"requests":[{"params":{"model":"fine"},"extra_body":{"model":"other"}}]}', 400],
  ["a list in the list", '{"requests":[{"params":{"model":"fine"}},[{"params":{"model":"other"}}]]}', 400],
  ["params in a list", '{"requests":[{"params":{"model":"fine"}},{"params":[[{"model":"other"}]]}]}', 400],
  ["params as a text", '{"requests":[{"params":{"model":"fine"}},{"params":"{\\"model\\":\\"other\\"}"}]}', 400],
  ["a request as a text", '{"requests":[{"params":{"model":"fine"}},"{}"]}', 400],
  ["requests as a text", '{"requests":"[]"}', 400],
  ["an extra body", '{"requests":[{"params":{"model":"fine"}}],"extra_body":{"model":"other"}}', 400],
])(
  "b404: a key that is restricted to a model has no other asked by a batch: %s is answered so",
  async (_, body, status) => {
    const { url } = a;
    const key = harness.addKey({ teamId: "team-a", scopes: SCOPES, allowedModels: ["fine"] });
    const answer = await ask({ url, key }, "POST", "", body);
    expect([answer.status, upstream.received.length]).toEqual([status, status === 200 ? 1 : 0]);
  },
);

test("a route's model is written into each request, and other batches pass as they are", async () => {
  const routed = teamOf("team-a", { routes: [routeOf("fast", { upstream: "anthropic", upstreamModel: "real" })] });
  await made(routed, requestsOf("fast", "fast"));
  expect(JSON.parse(upstream.received[0]?.body.toString() ?? "")).toEqual(requestsOf("real", "real"));
  const body = '{ "requests": [{"params":{"model":"m"}},{"params":{"model":"n"}}] }';
  expect((await ask(a, "POST", "", body)).status).toBe(200);
  expect(upstream.received[1]?.body.toString()).toBe(body);
  expect((await ask(routed, "POST", "", requestsOf("fast", "m"))).status).toBe(400);
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
])("b404: a key with a limit %s begins no batch, and may read what others of its team have begun", async (_, key) => {
  const limited = { ...a, key: harness.addKey({ teamId: "team-a", scopes: SCOPES, ...key }) };
  const { id } = await made(a);
  upstream.received.length = 0;
  const answer = await shown(await ask(limited, "POST", "", requestsOf("m")));
  expect(answer).toEqual([403, "keyplane", expect.stringContaining("send its requests one by one")]);
  expect(upstream.received).toHaveLength(0);
  expect((await ask(limited, "GET", `/${id}/results`)).status).toBe(200);
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

test.each(MEANWHILE)("b404: a key that is held to %s while the requests come begins no batch", async (_, fields) => {
  const key = harness.addKey({ teamId: "team-a", scopes: SCOPES });
  const headers = { "x-api-key": key };
  const [status] = await heldBack(`${a.url}/v1/messages/batches`, headers, requestsOf("other"), async () => {
    await ask(a, "GET", "/unknown");
    harness.changeKey(key, fields);
  });
  expect([403, 503]).toContain(status);
  expect(upstream.received).toEqual([]);
});

test("b404: a call that names a route with a limit of tokens begins no batch", async () => {
  const rateLimit = { tokensPerMinute: 1_000_000 };
  const routed = teamOf("team-a", { routes: [routeOf("fast", { upstream: "anthropic", rateLimit })] });
  expect((await ask(routed, "POST", "", requestsOf("fast"))).status).toBe(403);
  expect(upstream.received).toHaveLength(0);
});

const FIVE = {
  requests: ["m", "n", "m", "bad", "m"].map((model, at) => ({ custom_id: `${model}${at}`, params: { model } })),
};
const USED = { ...NO_TOKENS, input: 10, cached: 2, output: 3 };
const THRICE = { ...NO_TOKENS, input: 30, cached: 6, output: 9 };

test("b404: what a batch has used counts once by model, whichever key of the team reads it, and however often", async () => {
  const { id, results_url: url } = await made(a, FIVE);
  expect(harness.answered).toHaveLength(0);
  const other = { ...a, key: harness.addKey({ teamId: "team-a", scopes: SCOPES }) };
  const texts = await Promise.all([
    ...[a, other, a].map(async (team) => (await ask(team, "GET", url ?? "")).text()),
    (await ask(other, "GET", `/${id}/results`)).text(),
  ]);
  for (const text of texts) expect(text.trim().split("\n")).toHaveLength(5);
  // The first reads them, the others wait for it.
  expect(upstream.received).toHaveLength(1 + 1 + 4);
  expect(harness.answered.map(({ usage }) => usage)).toEqual([
    { tokens: THRICE, model: "m", ending: "reported", isDoubtful: false },
    { tokens: USED, model: "n", ending: "reported", isDoubtful: false },
  ]);
  upstream.received.length = 0;
  await (await ask(a, "GET", url ?? "")).text();
  expect(upstream.received).toHaveLength(1);
});

test("b404: a client that leaves amid the results has seen none that is not charged", async () => {
  const { results_url: url } = await made(a, FIVE);
  const lines = FIVE.requests.map(({ custom_id, params }) => `${resultOf(custom_id, params.model)}\n`);
  const held: ServerResponse[] = [];
  upstream.answerWith((response) => {
    response.writeHead(200, { "content-type": "application/x-jsonl" }).write(lines.slice(0, 4).join(""));
    held.push(response);
  });
  const leaving = new AbortController();
  const call = ask(a, "GET", url ?? "", undefined, leaving.signal);
  await until("the results are on their way", () => held.length === 1);
  leaving.abort();
  await expect(call).rejects.toThrow();
  await until("the upstream's call has ended", () => held[0]?.closed === true);
  expect(harness.answered).toHaveLength(0);
  // One that breaks off is no end: nothing of it leaves either.
  upstream.answerWith((response) => {
    response.writeHead(200, { "content-type": "application/x-jsonl" }).write(lines[0]);
    setImmediate(() => response.destroy());
  });
  expect((await shown(await ask(a, "GET", url ?? "")))[0]).toBe(502);
  expect(harness.answered).toHaveLength(0);
  upstream.answerWith(respond);
  expect((await ask(a, "GET", url ?? "")).status).toBe(200);
  expect(harness.answered).toHaveLength(2);
});

test("b404: a client that asks for a part of the results is charged for all of them, and a part alone does not leave", async () => {
  const { results_url: url } = await made(a, FIVE);
  const asked = { "x-api-key": a.key, "if-range": '"x"', "request-range": "bytes=0-0", If_Range: '"x"' };
  const read = () => fetch(url ?? "", { headers: { ...asked, range: "bytes=0-10" } });
  upstream.received.length = 0;
  upstream.answerWith((response) => response.writeHead(206, { "content-range": "bytes 0-1/9999" }).end("{}"));
  expect((await shown(await read())).slice(0, 2)).toEqual([502, "keyplane"]);
  expect(harness.answered).toHaveLength(0);
  upstream.answerWith(respond);
  expect([(await read()).status, harness.answered.length]).toEqual([200, 2]);
  for (const { headers } of upstream.received) expect(Object.keys(headers).join()).not.toMatch(/range/i);
  await (await read()).text();
  expect(upstream.received.at(-1)?.headers.range).toBe("bytes=0-10");
});

test("b404: while it cannot be written that they are charged, no results leave, of charged ones neither", async () => {
  const [first, second] = [await made(a), await made(a)];
  await (await ask(a, "GET", second.results_url ?? "")).text();
  await ask(a, "GET", `/${first.id}`);
  await ask(a, "GET", `/${second.id}`);
  harness.answered.length = 0;
  database.isAway = true;
  upstream.received.length = 0;
  for (const { results_url: url } of [first, second]) {
    const answer = await shown(await ask(a, "GET", url ?? ""));
    expect(answer).toEqual([503, "keyplane", expect.stringContaining("what the batch has used")]);
  }
  expect(upstream.received).toHaveLength(0);
  expect(harness.answered).toHaveLength(0);
});

test("b404: a model's name that holds the credential does not reach the usage", async () => {
  const { results_url: url } = await made(a, requestsOf(`x${PROVIDER_KEY}`));
  const text = await (await ask(a, "GET", url ?? "")).text();
  expect(text).not.toContain(PROVIDER_KEY);
  expect(harness.answered).toMatchObject([{ usage: { model: undefined, tokens: { input: 10 } } }]);
});

test("b403: while it cannot be written whose a batch is, its id does not leave", async () => {
  database.isAway = true;
  expect(await shown(await ask(a, "POST", "", requestsOf("m")))).toEqual([
    ...[503, "keyplane", expect.not.stringContaining("msgbatch_")],
  ]);
});

test("the owner of a batch is known until it is deleted, long after its requests have ended", async () => {
  kept.clear();
  await made(a);
  expect([...kept.values()].map(({ lastsMs }) => lastsMs)).toEqual([null]);
});

test("calls of batches take the scope gateway:generate and a gateway that names batches", async () => {
  const unscoped = { ...a, key: harness.addKey({ scopes: scopeSet(["gateway:files"]) }) };
  const unserved = teamOf("team-a", { operations: ["generate", "files"] });
  for (const [method, path, json] of [
    ["POST", "", {}],
    ["GET", ""],
    ["GET", "/x/results"],
  ] as const) {
    expect((await ask(unscoped, method, path, json)).status).toBe(403);
    const refused = await ask(unserved, method, path, json);
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining("have batches added")]);
  }
  expect(upstream.received).toHaveLength(0);
});

test("Anthropic's SDK creates, lists, describes, reads, cancels and deletes batches", async () => {
  const sdk = new Anthropic({ apiKey: a.key, baseURL: a.url, maxRetries: 0 });
  for (let at = 0; at < 30; at++) batches.set(`other${at}`, { requests: [], status: "ended" });
  const [first, second] = [
    await sdk.messages.batches.create(requestsOf("m", "m")),
    await sdk.messages.batches.create(requestsOf("m")),
  ];
  const listed = [];
  for await (const { id } of sdk.messages.batches.list({ limit: 1 })) listed.push(id);
  expect(listed).toEqual([first.id, second.id]);
  const results = [];
  for await (const { custom_id, result } of await sdk.messages.batches.results(first.id)) {
    results.push([custom_id, result.type]);
  }
  expect(results).toEqual([
    ["r0", "succeeded"],
    ["r1", "succeeded"],
  ]);
  expect((await sdk.messages.batches.cancel(second.id)).processing_status).toBe("canceling");
  expect((await sdk.messages.batches.delete(first.id)).type).toBe("message_batch_deleted");
  const theirs = new Anthropic({ apiKey: b.key, baseURL: b.url, maxRetries: 0 });
  await expect(theirs.messages.batches.retrieve(second.id)).rejects.toThrow("404");
  await expect(theirs.messages.batches.results(second.id)).rejects.toThrow("404");
});
