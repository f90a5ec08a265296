/** Upstreams that give an id twice, with two teams whose gateways have one credential (spec §4). */
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OperationKind } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import { type Received, startUpstream } from "./upstream.ts";

const SERVED: readonly OperationKind[] = ["generate", "responses", "files", "batches", "vectorStores"];
const SCOPES = scopeSet(["gateway:generate", "gateway:files"]);
const VERSION = { "anthropic-version": "2023-06-01" };
const BETAS = "what beta's object has in it";

let upstream: Awaited<ReturnType<typeof startUpstream>>;
let harness: Harness;
const { owners, kept } = ownersInMemory();
type Team = { readonly url: string; readonly key: string };
let a: Team;
let b: Team;
/** What the upstream says of each object besides. */
let said: object = {};

function teamOf(teamId: string): Team {
  const dialects = ["openai", "anthropic", "gemini"] as const;
  const upstreams = dialects.map((dialect) => upstreamOf(upstream.url, dialect));
  const gateway = harness.addGateway({ teamId, upstreams, operations: SERVED });
  return { url: `${harness.url}/g/${gateway.publicId}`, key: harness.addKey({ teamId, scopes: SCOPES }) };
}

/** Answers as an upstream does whose counters have begun again: whatever it makes is the first of its kind. */
function respond(response: ServerResponse, { method, url, body }: Received): void {
  const collection = new URL(url, upstream.url).pathname.split("/").at(-1) ?? "";
  const object = method === "POST" ? { id: `${collection}-1`, name: `${collection}/1` } : { text: BETAS };
  const answer = { ...object, ...said, output: [{ type: "message", id: "item-1", text: BETAS }] };
  if (!body.includes('"stream":true')) {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`data: ${JSON.stringify({ type: "response.created", response: answer })}\n\n`);
  response.end(`data: ${JSON.stringify({ type: "response.completed", response: answer })}\n\n`);
}

beforeAll(async () => {
  upstream = await startUpstream(respond);
  harness = await startGateway({ owners, sampling: { maxAlike: 1_000, windowMs: 1_000 } });
});
beforeEach(() => {
  upstream.received.length = 0;
  harness.lines.length = 0;
  kept.clear();
  said = {};
  a = teamOf("team-a");
  b = teamOf("team-b");
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

function ask({ url, key }: Team, method: string, path: string, json?: object, headers: Record<string, string> = {}) {
  return fetch(`${url}/${path}`, {
    method,
    headers: { "x-api-key": key, ...headers, ...(json && { "content-type": "application/json" }) },
    ...(json && { body: JSON.stringify(json) }),
  });
}

const RESPOND = { model: "m", input: "Hello" };
const REQUESTS = [{ custom_id: "r", params: { model: "m", max_tokens: 9, messages: [] } }];

test.each([
  ["a file", "v1/files", "v1/files/files-1", {}, {}],
  ["a file of Anthropic's", "v1/files", "v1/files/files-1", {}, VERSION],
  ["an upload", "v1/uploads", undefined, {}, {}],
  ["a vector store", "v1/vector_stores", "v1/vector_stores/vector_stores-1", {}, {}],
  ["a batch", "v1/messages/batches", "v1/messages/batches/batches-1", { requests: REQUESTS }, VERSION],
  ["a cached content", "v1beta/cachedContents", "v1beta/cachedContents/1", { model: "models/m" }, {}],
  ["a conversation", "v1/conversations", "v1/conversations/conversations-1", {}, {}],
  ["a response", "v1/responses", "v1/responses/responses-1", RESPOND, {}],
  ["a response in events", "v1/responses", "v1/responses/responses-1", { ...RESPOND, stream: true }, {}],
])(
  "b417: %s whose id was another team's is neither team's, and no answer says that id",
  async (_, path, named, json, headers) => {
    const make = (team: Team) => ask(team, "POST", path, json, headers);
    const read = async (team: Team) => named && (await ask(team, "GET", named, undefined, headers)).status;
    expect((await make(a)).status).toBe(200);
    if (named) expect(await read(a)).toBe(200);
    const repeated = await make(b);
    const text = await repeated.text();
    expect([repeated.status, repeated.headers.get("x-should-retry")]).toEqual([502, "false"]);
    expect(text).toContain("gave");
    for (const hidden of ["-1", "/1", BETAS]) expect(text).not.toContain(hidden);
    if (named) expect([await read(a), await read(b)]).toEqual([404, 404]);
    // Once more, for either: the id stays in doubt.
    expect((await make(a)).status).toBe(502);
    expect((await make(b)).status).toBe(502);
    if (named) expect([await read(a), await read(b)]).toEqual([404, 404]);
    const logged = harness.lines.join("");
    expect(logged).toContain("given an id twice");
    expect(logged).not.toContain('-1"');
  },
);

test("b417: an answer that has begun is broken off at the id of another team's response", async () => {
  await ask(a, "POST", "v1/responses", RESPOND);
  upstream.answerWith((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"type":"response.created","response":{"id":"other"}}\n\n');
    setTimeout(() => response.end(`data: {"response":{"id":"responses-1","x":"${BETAS}"}}\n\n`), 50);
  });
  const text = await (await ask(b, "POST", "v1/responses", { ...RESPOND, stream: true })).text();
  upstream.answerWith(respond);
  expect(text).toContain("other");
  expect(text).toContain("gave");
  expect(text).not.toContain(BETAS);
});

test("b417: an item whose id was another team's is neither team's, and its answer goes on", async () => {
  const refer = async (team: Team) => {
    const input = [{ type: "item_reference", id: "item-1" }];
    return (await ask(team, "POST", "v1/responses", { ...RESPOND, input, store: false })).status;
  };
  said = { id: "responses-2" };
  await ask(a, "POST", "v1/responses", RESPOND);
  expect([await refer(a), await refer(b)]).toEqual([200, 404]);
  said = { id: "responses-3" };
  const answer = await ask(b, "POST", "v1/responses", RESPOND);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("item-1")]);
  expect([await refer(a), await refer(b)]).toEqual([404, 404]);
});

test.each([RESPOND, { ...RESPOND, stream: true }])(
  "a response that is not stored, as its answer says, goes on whatever its id: %j",
  async (json) => {
    said = { store: false };
    await ask(a, "POST", "v1/responses", json);
    const answer = await ask(b, "POST", "v1/responses", json);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(BETAS)]);
    expect((await ask(a, "GET", "v1/responses/responses-1")).status).toBe(404);
  },
);
