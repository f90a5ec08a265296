/** Stored responses and conversations that are read back, changed and deleted, by two teams with one credential. */
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OperationKind } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { heldBack } from "./held-back.ts";
import { startKeepingUpstream } from "./keeping-upstream.ts";

const SERVED: readonly OperationKind[] = ["generate", "responses"];

let upstream: Awaited<ReturnType<typeof startKeepingUpstream>>;
let harness: Harness;
const { owners, database, kept } = ownersInMemory();
type Team = { readonly url: string; readonly key: string };
let a: Team;
let b: Team;

function teamOf(teamId: string, fields: Parameters<Harness["addGateway"]>[0] = {}, key = {}): Team {
  const gateway = harness.addGateway({ teamId, upstreams: [upstreamOf(upstream.url)], operations: SERVED, ...fields });
  return { url: `${harness.url}/g/${gateway.publicId}/v1`, key: harness.addKey({ teamId, ...key }) };
}

beforeAll(async () => {
  upstream = await startKeepingUpstream();
  harness = await startGateway({ owners });
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answerWith(upstream.respond);
  harness.answered.length = 0;
  database.isAway = false;
  a = teamOf("team-a");
  b = teamOf("team-b");
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

function ask({ url, key }: Team, method: string, path: string, body?: object) {
  return fetch(`${url}/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function made(team: Team, path: string, body: object): Promise<{ id: string; data: { id: string }[] }> {
  const answer = await ask(team, "POST", path, body);
  expect(answer.status).toBe(200);
  return (await answer.json()) as { id: string; data: { id: string }[] };
}

/** What team A keeps: a response, and a conversation with an item. */
async function world(): Promise<Readonly<Record<"R" | "C" | "I", string>>> {
  const { id: response } = await made(a, "responses", { model: "m", input: "Hello" });
  const { id: conversation } = await made(a, "conversations", { metadata: { a: "1" } });
  const items = [{ role: "user", content: "Hello" }];
  const { data } = await made(a, `conversations/${conversation}/items`, { items });
  upstream.received.length = 0;
  return { R: response, C: conversation, I: data[0]?.id ?? "" };
}

const CALLS = [
  ["GET", "responses/R", undefined],
  ["GET", "responses/R?stream=true&starting_after=0", undefined],
  ["GET", "responses/R/input_items?limit=2&order=asc", undefined],
  ["POST", "responses/R/cancel", undefined],
  ["DELETE", "responses/R", undefined],
  ["GET", "conversations/C", undefined],
  ["POST", "conversations/C", { metadata: { a: "2" } }],
  ["GET", "conversations/C/items?limit=1", undefined],
  ["POST", "conversations/C/items", { items: [{ role: "user", content: "Hi" }] }],
  ["GET", "conversations/C/items/I", undefined],
  ["DELETE", "conversations/C/items/I", undefined],
  ["DELETE", "conversations/C", undefined],
] as const satisfies readonly (readonly [method: string, path: string, body: object | undefined])[];

test.each(CALLS)(
  "b372: %s v1/%s is its team's, and another team's is the 404 of an unknown one",
  async (method, path, body) => {
    const ids = await world();
    const at = (names: Readonly<Record<string, string>>) =>
      path.replaceAll(/\b[RCI]\b/g, (name) => names[name] ?? name);
    const refused = [];
    for (const names of [ids, { R: "resp_unknown", C: "conv_unknown", I: ids.I }]) {
      const answer = await ask(b, method, at(names), body);
      refused.push([answer.status, answer.headers.get("x-keyplane-error-source"), await answer.text()]);
    }
    expect(refused[0]).toEqual([404, "keyplane", expect.stringContaining("not found")]);
    expect(refused[1]).toEqual(refused[0]);
    expect(upstream.received).toHaveLength(0);
    const answer = await ask(a, method, at(ids), body);
    expect(answer.status).toBe(200);
    expect(upstream.received).toMatchObject([{ method, url: `/v1/${at(ids)}` }]);
    expect(upstream.received[0]?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    if (body !== undefined) expect(JSON.parse(upstream.received[0]?.body.toString() ?? "")).toEqual(body);
    await answer.text();
  },
);

test.each(CALLS)("%s v1/%s takes gateway:generate and a gateway that names responses", async (method, path, body) => {
  const unscoped = { ...a, key: harness.addKey({ scopes: scopeSet(["gateway:embed"]) }) };
  expect((await ask(unscoped, method, path, body)).status).toBe(403);
  const refused = await ask(teamOf("team-a", { operations: ["generate"] }), method, path, body);
  expect([refused.status, await refused.json()]).toEqual([
    404,
    { error: expect.objectContaining({ message: expect.stringContaining("have responses added") }) },
  ]);
  expect(upstream.received).toHaveLength(0);
});

test.each([
  ["GET", "responses"],
  ["POST", "responses/R"],
  ["GET", "responses/R/cancel"],
  ["POST", "responses/R/input_items"],
  ["GET", "conversations"],
  ["PUT", "conversations/C"],
  ["POST", "conversations/C/items/I"],
  ["GET", "conversations/C/items/I/more"],
  ["GET", "conversations//items/I"],
  ["GET", "responses/%2e%2e"],
  ["GET", "responses/R%2Finput_items"],
])("%s v1/%s is no operation", async (method, path) => {
  expect((await ask(a, method, path)).status).toBe(404);
  expect(upstream.received).toHaveLength(0);
});

test("b372: the query and the headers name no other object", async () => {
  const { R: foreign } = await world();
  const { id } = await made(b, "responses", { model: "m", input: "Mine" });
  const answer = await fetch(`${b.url}/responses/${id}?id=${foreign}&response_id=${foreign}`, {
    headers: { authorization: `Bearer ${b.key}`, "x-response-id": foreign },
  });
  expect(await answer.json()).toMatchObject({ id });
});

test("b91: a key that may name some models brings no tool of another into a conversation", async () => {
  const held = teamOf("team-a", {}, { allowedModels: ["m"] });
  const items = [
    { type: "additional_tools", role: "developer", tools: [{ type: "image_generation", model: "other" }] },
  ];
  const { id } = await made(held, "conversations", {});
  upstream.received.length = 0;
  for (const path of ["conversations", `conversations/${id}/items`]) {
    expect((await ask(held, "POST", path, { items })).status).toBe(400);
  }
  expect(upstream.received).toHaveLength(0);
});

test("b489: a key that is held to models while a conversation's items come brings no tool of another into it", async () => {
  const tools = [{ type: "image_generation", model: "other" }];
  const body = { items: [{ type: "additional_tools", role: "developer", tools }] };
  const { id } = await made(a, "conversations", {});
  upstream.received.length = 0;
  for (const path of ["conversations", `conversations/${id}/items`]) {
    const { url, key } = { ...a, key: harness.addKey({ teamId: "team-a" }) };
    const narrow = () => harness.changeKey(key, { allowedModels: ["m"] });
    const [status] = await heldBack(`${url}/${path}`, { "x-api-key": key }, body, narrow);
    expect([path, status]).toEqual([path, 400]);
  }
  expect(upstream.received).toHaveLength(0);
});

test("a key or gateway that is held to models reads back and deletes what its team made", async () => {
  const { R } = await world();
  const held = teamOf("team-a", { routesOnly: true, routes: [routeOf("fast")] }, { allowedModels: ["fast"] });
  expect((await ask(held, "GET", `responses/${R}`)).status).toBe(200);
  expect((await ask(held, "DELETE", `responses/${R}`)).status).toBe(200);
  expect((await ask(held, "POST", "conversations", {})).status).toBe(200);
});

test.each([
  ["conversations", { model: "m", inputs: "Hello" }],
  ["conversations", { agent_id: "ag_1", inputs: "Hello" }],
  ["conversations", { items: [], extra_body: { model: "m" } }],
  ["conversations/C", { metadata: {}, inputs: "Go on" }],
])("b453: who posts to v1/%s what has a server such as Mistral's generate gets 400: %j", async (path, body) => {
  const { C } = await world();
  expect((await ask(a, "POST", path.replace("C", C), body)).status).toBe(400);
  expect(upstream.received).toHaveLength(0);
});

test("reading a response back counts no tokens", async () => {
  const { R } = await world();
  await until("the creation is counted", () => harness.answered.length === 1);
  await (await ask(a, "GET", `responses/${R}`)).text();
  await (await ask(a, "GET", `responses/${R}?stream=true`)).text();
  expect(harness.answered).toHaveLength(1);
});

test("what is deleted is known no more, and what the upstream did not delete still is", async () => {
  const { R, C } = await world();
  upstream.answerWith((response) => response.writeHead(500).end("{}"));
  expect((await ask(a, "DELETE", `responses/${R}`)).status).toBe(500);
  upstream.answerWith(upstream.respond);
  const before = kept.size;
  expect((await ask(a, "DELETE", `responses/${R}`)).status).toBe(200);
  expect((await ask(a, "DELETE", `conversations/${C}`)).status).toBe(200);
  await until("both have ended", () => kept.size === before - 2);
  for (const path of [`responses/${R}`, `conversations/${C}`]) {
    const gone = await ask(a, "GET", path);
    expect([gone.status, gone.headers.get("x-keyplane-error-source")]).toEqual([404, "keyplane"]);
  }
});

test("b373: no conversation leaves while its owner cannot be recorded, and none is read while owners are not known", async () => {
  const { C } = await world();
  const fresh = teamOf("team-a");
  database.isAway = true;
  const refused = await ask(fresh, "POST", "conversations", {});
  const text = await refused.text();
  expect([refused.status, text]).toEqual([503, expect.not.stringContaining("conv_")]);
  // A conversation knows no `store`; and what was made is not made again by itself.
  expect([text, refused.headers.get("x-should-retry")]).toEqual([expect.not.stringContaining("store"), "false"]);
  upstream.received.length = 0;
  expect((await ask(b, "GET", `conversations/${C}`)).status).toBe(503);
  expect(upstream.received).toHaveLength(0);
});

test("what is in a conversation has no end, and a response of its own ends after 35 days", async () => {
  const { C } = await world();
  kept.clear();
  await made(a, "responses", { model: "m", input: "Hello" });
  await made(a, "conversations", {});
  expect([...kept.values()].map(({ lastsMs, parent }) => [lastsMs, parent])).toEqual([
    ...[
      [35 * 24 * 3_600_000, null],
      [35 * 24 * 3_600_000, null],
      [null, null],
    ],
  ]);
  database.isAway = false;
  kept.clear();
  await made(a, "responses", { model: "m", input: "Hello", conversation: C });
  expect([...kept.values()].map(({ lastsMs, parent }) => [lastsMs, parent === null])).toEqual([
    ...[
      [null, false],
      [null, false],
    ],
  ]);
});

test("an upstream that the gateway has no more is said to be gone, to the team that made the id", async () => {
  const { R } = await world();
  const moved = teamOf("team-a", { upstreams: [upstreamOf("http://127.0.0.1:9")] });
  const answer = await ask(moved, "GET", `responses/${R}`);
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining("the gateway has it no more")]);
  const foreign = await ask(
    teamOf("team-b", { upstreams: [upstreamOf("http://127.0.0.1:9")] }),
    "GET",
    `responses/${R}`,
  );
  expect([foreign.status, await foreign.text()]).toEqual([404, expect.stringContaining("Response not found")]);
});

test("a key that is revoked ends a stream that is read back, and a credential in it is masked", async () => {
  const { R } = await world();
  upstream.answerWith((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: {"echo":"${PROVIDER_KEY}"}\n\n`);
  });
  const answer = await ask(a, "GET", `responses/${R}?stream=true`);
  const reader = answer.body?.getReader();
  const first = Buffer.from((await reader?.read())?.value ?? []).toString();
  expect(first).toContain("***");
  expect(first).not.toContain(PROVIDER_KEY);
  harness.changeKey(a.key, { state: "revoked" });
  let rest = "";
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    rest += Buffer.from(piece.value).toString();
  }
  expect(rest).toContain('"error"');
});

test("OpenAI's SDK stores, reads back, goes on, cancels and deletes, and keeps conversations", async () => {
  const openai = new OpenAI({ baseURL: a.url, apiKey: a.key, maxRetries: 0 });
  const first = await openai.responses.create({ model: "m", input: "Hello", background: true });
  expect((await openai.responses.retrieve(first.id)).id).toBe(first.id);
  expect((await openai.responses.cancel(first.id)).status).toBe("cancelled");
  const inputs = [];
  for await (const item of openai.responses.inputItems.list(first.id)) inputs.push(item);
  expect(inputs).toHaveLength(1);
  const stream = await openai.responses.create({
    model: "m",
    input: "Go on",
    previous_response_id: first.id,
    stream: true,
  });
  const types = [];
  let last = "";
  for await (const event of stream) {
    types.push(event.type);
    if (event.type === "response.completed") last = event.response.id;
  }
  expect([types[0], types.at(-1)]).toEqual(["response.created", "response.completed"]);
  const again = await openai.responses.retrieve(last, { stream: true, starting_after: 1 });
  const types2 = [];
  for await (const event of again) types2.push(event.type);
  expect(types2.at(-1)).toBe("response.completed");
  const conversation = await openai.conversations.create({ items: [{ role: "user", content: "Hello" }] });
  await openai.responses.create({ model: "m", input: "Hi", conversation: conversation.id });
  await openai.conversations.update(conversation.id, { metadata: { topic: "x" } });
  const added = await openai.conversations.items.create(conversation.id, {
    items: Array.from({ length: 30 }, (_, at) => ({ role: "user" as const, content: `${at}` })),
  });
  const items = [];
  for await (const item of openai.conversations.items.list(conversation.id, { limit: 20 })) items.push(item);
  expect(items).toHaveLength(33);
  const item = added.data[0]?.id ?? "";
  expect((await openai.conversations.items.retrieve(item, { conversation_id: conversation.id })).type).toBe("message");
  await openai.conversations.items.delete(item, { conversation_id: conversation.id });
  const theirs = new OpenAI({ baseURL: b.url, apiKey: b.key, maxRetries: 0 });
  await expect(theirs.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await expect(theirs.conversations.delete(conversation.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await openai.responses.delete(first.id);
  expect((await openai.conversations.delete(conversation.id)).deleted).toBe(true);
});
