/** Vector stores that OpenAI keeps, with two teams whose gateways have one credential (spec §4). */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OperationKind } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { startFilesUpstream } from "./files-upstream.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import type { Received } from "./upstream.ts";

const SERVED: readonly OperationKind[] = ["generate", "files", "vectorStores"];
const SCOPES = scopeSet(["gateway:generate", "gateway:files"]);

let upstream: Awaited<ReturnType<typeof startFilesUpstream>>;
let harness: Harness;
const { owners, database, kept } = ownersInMemory();
type Store = { readonly id: string; readonly files: string[]; readonly additions: Map<string, readonly string[]> };
const stores = new Map<string, Store>();
type Team = { readonly url: string; readonly key: string };
let a: Team;
let b: Team;

/** Answers as OpenAI's published description says, for every caller with the credential. */
function respond(response: ServerResponse, received: Received): void {
  const { pathname, searchParams } = new URL(received.url, upstream.url);
  const [, , collection, id = "", part, inner = "", action] = pathname.split("/");
  const { method } = received;
  const send = (answer: object, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  const list = (ids: readonly string[], show: (id: string) => object) => {
    const from = ids.indexOf(searchParams.get("after") ?? "") + 1;
    const page = ids.slice(from, from + Number(searchParams.get("limit") ?? 20));
    const ends = { first_id: page[0] ?? null, last_id: page.at(-1) ?? null };
    send({ object: "list", data: page.map(show), ...ends, has_more: from + page.length < ids.length });
  };
  const shown = (store: string) => ({
    ...{ id: store, object: "vector_store", created_at: 1, name: null, status: "completed", usage_bytes: 0 },
    ...{ expires_at: 2, file_counts: { total: stores.get(store)?.files.length } },
  });
  const file = (one: string) => ({ id: one, object: "vector_store.file", vector_store_id: id, status: "completed" });
  const addition = (one: string) => ({
    id: one,
    object: "vector_store.files_batch",
    vector_store_id: id,
    status: "completed",
  });
  const said =
    collection === "vector_stores" && method === "POST" && received.body.length > 0
      ? JSON.parse(received.body.toString())
      : {};
  const store = stores.get(id);
  if (collection !== "vector_stores") upstream.respond(response, received);
  else if (id === "" && method === "GET") list([...stores.keys()], shown);
  else if (id === "") {
    const made = `vs_${randomBytes(12).toString("hex")}`;
    stores.set(made, { id: made, files: [...(said.file_ids ?? [])], additions: new Map() });
    send(shown(made));
  } else if (store === undefined) send({ error: { message: "No such store" } }, 404);
  else if (part === undefined && method === "DELETE") {
    stores.delete(id);
    send({ id, object: "vector_store.deleted", deleted: true });
  } else if (part === undefined) send(shown(id));
  else if (part === "search")
    send({ object: "vector_store.search_results.page", search_query: [said.query], data: [], has_more: false });
  else if (part === "files" && inner === "" && method === "GET") list(store.files, file);
  else if (part === "files" && inner === "") {
    store.files.push(said.file_id);
    send(file(said.file_id));
  } else if (part === "files" && action === "content")
    send({ object: "list", data: [{ type: "text", text: "Hello" }], has_more: false });
  else if (part === "files" && method === "DELETE")
    send({ id: inner, object: "vector_store.file.deleted", deleted: true });
  else if (part === "files") send(file(inner));
  else if (inner === "") {
    const made = `vsfb_${randomBytes(12).toString("hex")}`;
    store.additions.set(made, said.file_ids);
    send(addition(made));
  } else if (action === "files") list(store.additions.get(inner) ?? [], file);
  else send(addition(inner));
}

function teamOf(teamId: string, fields: Parameters<Harness["addGateway"]>[0] = {}): Team {
  const upstreams = [upstreamOf(upstream.url)];
  const gateway = harness.addGateway({ teamId, upstreams, operations: SERVED, ...fields });
  return { url: `${harness.url}/g/${gateway.publicId}`, key: harness.addKey({ teamId, scopes: SCOPES }) };
}

beforeAll(async () => {
  upstream = await startFilesUpstream();
  harness = await startGateway({ owners });
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.files.clear();
  stores.clear();
  upstream.answerWith(respond);
  database.isAway = false;
  a = teamOf("team-a");
  b = teamOf("team-b");
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

function ask({ url, key }: Team, method: string, path: string, json?: object | string) {
  return fetch(`${url}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(json !== undefined && { "content-type": "application/json" }) },
    ...(json !== undefined && { body: typeof json === "string" ? json : JSON.stringify(json) }),
  });
}

const idFrom = async (answer: Response): Promise<string> => {
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { id: string }).id;
};
const made = async (team: Team, body: object = {}) => idFrom(await ask(team, "POST", "vector_stores", body));
async function uploaded({ url, key }: Team): Promise<string> {
  const body = new FormData();
  body.set("purpose", "assistants");
  body.set("file", new Blob(["Hello"]), "a.txt");
  return idFrom(await fetch(`${url}/v1/files`, { method: "POST", headers: { authorization: `Bearer ${key}` }, body }));
}
const shown = async (answer: Response) => [
  answer.status,
  answer.headers.get("x-keyplane-error-source"),
  await answer.text(),
];

type Call = readonly [method: string, path: string, json?: object];
/** Calls of a store, of a file in it and of an addition to it. */
const callsOf = (store: string, file: string, addition: string): readonly Call[] => [
  ["GET", `vector_stores/${store}`],
  ["POST", `vector_stores/${store}`, { name: "x" }],
  ["POST", `vector_stores/${store}/search`, { query: "x" }],
  ["GET", `vector_stores/${store}/files`],
  ["POST", `vector_stores/${store}/files`, { file_id: file }],
  ["GET", `vector_stores/${store}/files/${file}`],
  ["POST", `vector_stores/${store}/files/${file}`, { attributes: { file_id: "any" } }],
  ["GET", `vector_stores/${store}/files/${file}/content`],
  ["DELETE", `vector_stores/${store}/files/${file}`],
  ["POST", `vector_stores/${store}/file_batches`, { file_ids: [file] }],
  ["GET", `vector_stores/${store}/file_batches/${addition}`],
  ["GET", `vector_stores/${store}/file_batches/${addition}/files`],
  ["POST", `vector_stores/${store}/file_batches/${addition}/cancel`],
  ["DELETE", `vector_stores/${store}`],
];

test("b413: a vector store and what is in it are its team's, and another team's are the 404 of unknown ones", async () => {
  const file = await uploaded(a);
  const store = await made(a, { file_ids: [file] });
  const addition = await idFrom(await ask(a, "POST", `vector_stores/${store}/file_batches`, { file_ids: [file] }));
  const theirs = await uploaded(b);
  upstream.received.length = 0;
  const unknown = callsOf("vs_unknown", theirs, "vsfb_unknown");
  for (const [at, [method, path, json]] of callsOf(store, theirs, addition).entries()) {
    const foreign = await shown(await ask(b, method, path, json));
    expect(foreign).toEqual([404, "keyplane", expect.stringContaining("Vector store not found")]);
    const [, other = "", body] = unknown[at] ?? [];
    expect(await shown(await ask(b, method, other, body))).toEqual(foreign);
  }
  expect(upstream.received).toHaveLength(0);
  for (const [method, path, json] of callsOf(store, file, addition)) {
    expect([path, (await ask(a, method, path, json)).status]).toEqual([path, 200]);
  }
  expect((await ask(a, "GET", `vector_stores/${store}`)).status).toBe(404);
});

test("b413: a path through a store of the team's own reaches no file and no addition of another team's", async () => {
  const [file, theirs] = [await uploaded(a), await uploaded(b)];
  const [mine, other] = [await made(a, { file_ids: [file] }), await made(b, { file_ids: [theirs] })];
  const addition = await idFrom(await ask(b, "POST", `vector_stores/${other}/file_batches`, { file_ids: [theirs] }));
  upstream.received.length = 0;
  for (const [method, path, json] of callsOf(mine, theirs, addition).filter(([, path]) =>
    /files\/|file_batches\//.test(path),
  )) {
    expect([path, (await ask(a, method, path, json)).status]).toEqual([path, 404]);
  }
  expect(upstream.received).toHaveLength(0);
});

test("b413: neither a body nor a query names another store or file than the path", async () => {
  const [file, theirs] = [await uploaded(a), await uploaded(b)];
  const [mine, other] = [await made(a, { file_ids: [file] }), await made(b, { file_ids: [theirs] })];
  upstream.received.length = 0;
  for (const [path, body] of [
    [`vector_stores/${mine}/search`, { query: "x", vector_store_id: other }],
    [`vector_stores/${mine}/search`, { query: "x", extra_body: { vector_store_ids: [other] } }],
    [`vector_stores/${mine}/files/${file}`, { attributes: {}, file_id: theirs }],
  ] as const) {
    expect([body, (await ask(a, "POST", path, body)).status]).toEqual([body, 404]);
  }
  expect(upstream.received).toHaveLength(0);
  for (const query of [
    `vector_store_id=${other}`,
    `Vector_Store_Id=${other}`,
    `file_id=${theirs}`,
    `%66ile_ids=${theirs}`,
  ]) {
    expect((await ask(a, "GET", `vector_stores/${mine}/files?order=asc&${query}`)).status).toBe(200);
    expect(upstream.received.at(-1)?.url).toBe(`/v1/vector_stores/${mine}/files?order=asc`);
  }
});

test("b413: a list shows the team's own stores alone, through pages of others'", async () => {
  for (let at = 0; at < 250; at++) stores.set(`other${at}`, { id: `other${at}`, files: [], additions: new Map() });
  const own = [await made(a), await made(a), await made(a)];
  const list = async (team: Team, query: string) =>
    (await (await ask(team, "GET", `vector_stores${query}`)).json()) as { data: { id: string }[]; has_more: boolean };
  const first = await list(a, "?limit=2");
  expect([first.data.map(({ id }) => id), first.has_more]).toEqual([own.slice(0, 2), true]);
  expect((await list(a, `?limit=2&after=${own[1]}`)).data.map(({ id }) => id)).toEqual(own.slice(2));
  expect((await ask(b, "GET", `vector_stores?after=${own[1]}`)).status).toBe(404);
  expect((await ask(a, "GET", "vector_stores?before=other3")).status).toBe(400);
  expect(await list(b, "")).toMatchObject({ data: [], has_more: false });
});

test.each<readonly [string, (id: string) => object | string]>([
  ["file_ids", (id) => ({ file_ids: [id] })],
  ["in another spelling", (id) => ({ FileIds: [id] })],
  ["in a list of files", (id) => ({ files: [{ file_id: id, attributes: {} }] })],
  ["one file", (id) => ({ file_id: id })],
  ["doubled", (id) => `{"file_ids":["${id}"],"file_ids":[]}`],
])("b413: no file of another team's is added to a store: %s", async (_, body) => {
  const [store, theirs] = [await made(a), await uploaded(b)];
  upstream.received.length = 0;
  for (const path of ["", `/${store}`, `/${store}/files`, `/${store}/file_batches`]) {
    expect([path, (await ask(a, "POST", `vector_stores${path}`, body(theirs))).status]).toEqual([path, 404]);
  }
  expect(upstream.received).toHaveLength(0);
});

test.each<readonly [string, string, (id: string) => object | string]>([
  [
    "a search of files",
    "responses",
    (id) => ({ model: "m", input: "x", tools: [{ type: "file_search", vector_store_ids: [id] }] }),
  ],
  [
    "one in another spelling",
    "responses",
    (id) => ({ input: "x", tools: [{ type: "file_search", VectorStoreIDs: [id] }] }),
  ],
  ["one with a long s", "responses", (id) => `{"tools":[{"vector_\u017ftore_ids":["${id}"]}]}`],
  ["one that is escaped", "chat/completions", (id) => `{"tools":[{"vector_\\u0073tore_ids":["${id}"]}]}`],
  [
    "a chat",
    "chat/completions",
    (id) => ({ model: "m", messages: [], tools: [{ type: "file_search", vector_store_ids: [id] }] }),
  ],
  [
    "an extra body",
    "chat/completions",
    (id) => ({ extra_body: { tool_resources: { file_search: { vector_store_ids: [id] } } } }),
  ],
])("b413: no call that generates names another team's store: %s", async (_, path, body) => {
  const [mine, theirs] = [await made(a), await made(b)];
  upstream.received.length = 0;
  expect(await shown(await ask(a, "POST", path, body(theirs)))).toEqual([
    ...[404, "keyplane", expect.stringContaining("Vector store not found")],
  ]);
  expect(upstream.received).toHaveLength(0);
  expect((await ask(a, "POST", path, body(mine))).status).toBe(200);
});

test("what a caller's own function takes may be named as stores are", async () => {
  const parameters = { type: "object", properties: { vector_store_ids: { type: "string", default: "x" } } };
  const tools = [{ type: "function", name: "f", parameters, function: { name: "f", parameters } }];
  for (const path of ["responses", "chat/completions"]) {
    expect((await ask(a, "POST", path, { model: "m", messages: [], tools })).status).toBe(200);
  }
});

test("b413: no id leaves before its owner is recorded, and a store's is known until it is deleted", async () => {
  kept.clear();
  await made(a);
  expect([...kept.values()].map(({ lastsMs }) => lastsMs)).toEqual([null]);
  database.isAway = true;
  expect(await shown(await ask(a, "POST", "vector_stores", {}))).toEqual([
    ...[503, "keyplane", expect.not.stringContaining("vs_")],
  ]);
});

test("b413: calls of vector stores take the scope gateway:files and a gateway that names them", async () => {
  const unscoped = { ...a, key: harness.addKey({ scopes: scopeSet(["gateway:generate"]) }) };
  const unserved = teamOf("team-a", { operations: ["generate", "files"] });
  for (const [method, path, json] of callsOf("x", "y", "z")) {
    expect((await ask(unscoped, method, path, json)).status).toBe(403);
    const refused = await ask(unserved, method, path, json);
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining("have vectorStores added")]);
  }
  expect(upstream.received).toHaveLength(0);
});

test("OpenAI's SDK makes stores, adds files to them, searches and deletes them", async () => {
  const sdk = new OpenAI({ apiKey: a.key, baseURL: `${a.url}/v1`, maxRetries: 0 });
  for (let at = 0; at < 30; at++) stores.set(`other${at}`, { id: `other${at}`, files: [], additions: new Map() });
  const [file, second] = [await uploaded(a), await uploaded(a)];
  const store = await sdk.vectorStores.create({ name: "handbook", file_ids: [file] });
  await sdk.vectorStores.files.create(store.id, { file_id: second });
  const addition = await sdk.vectorStores.fileBatches.createAndPoll(store.id, { file_ids: [file] });
  expect(addition.status).toBe("completed");
  const listed = [];
  for await (const { id } of sdk.vectorStores.list({ limit: 1 })) listed.push(id);
  for await (const { id } of sdk.vectorStores.files.list(store.id, { limit: 1 })) listed.push(id);
  expect(listed).toEqual([store.id, file, second]);
  const contents = [];
  for await (const { text } of sdk.vectorStores.files.content(second, { vector_store_id: store.id }))
    contents.push(text);
  expect(contents).toEqual(["Hello"]);
  expect((await sdk.vectorStores.search(store.id, { query: "holidays" })).data).toEqual([]);
  await sdk.vectorStores.update(store.id, { metadata: { of: "a" } });
  expect((await sdk.vectorStores.delete(store.id)).deleted).toBe(true);
  const theirs = new OpenAI({ apiKey: b.key, baseURL: `${b.url}/v1`, maxRetries: 0 });
  await expect(theirs.vectorStores.retrieve(store.id)).rejects.toThrow("404");
});
