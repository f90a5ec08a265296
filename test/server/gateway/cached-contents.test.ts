/** Contents that Gemini caches, with two teams whose gateways have one credential (spec §4). */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { NO_TOKENS } from "../../../domain/usage/tokens.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { type Received, startUpstream, type Upstream } from "./upstream.ts";

const SCOPES = scopeSet(["gateway:generate", "gateway:embed", "gateway:files", "gateway:routes"]);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let upstream: Upstream;
let harness: Harness;
const { owners, database, kept } = ownersInMemory();
const cached = new Map<string, { readonly model: string; expireTime: string }>();
type Team = { readonly url: string; readonly key: string };
let a: Team;
let b: Team;

/** Answers as Gemini's published description says, for every caller with the credential. */
function respond(response: ServerResponse, { method, url, body }: Received): void {
  const { pathname, searchParams } = new URL(url, upstream.url);
  const send = (answer: object, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  const shown = (id: string) => ({
    ...{ name: `cachedContents/${id}`, ...cached.get(id), createTime: "2026-11-29T00:00:00Z" },
    usageMetadata: { totalTokenCount: 4_321 },
  });
  const said = body.length === 0 ? {} : JSON.parse(body.toString());
  const endIn = (ttl = "3600s") => new Date(harness.clock.now() + Number.parseInt(ttl, 10) * 1_000).toISOString();
  const [, , collection, id = ""] = pathname.split("/");
  if (collection !== "cachedContents") {
    send({ candidates: [{ content: { parts: [{ text: "Hi" }] } }], usageMetadata: { promptTokenCount: 1 } });
  } else if (method === "POST") {
    const made = randomBytes(16).toString("hex");
    cached.set(made, { model: said.model, expireTime: endIn(said.ttl) });
    send(shown(made));
  } else if (id === "") {
    const all = [...cached.keys()];
    const from = Number(searchParams.get("pageToken") ?? 0);
    const page = all.slice(from, from + Number(searchParams.get("pageSize") ?? 10));
    const end = from + page.length;
    send({
      ...(page.length > 0 && { cachedContents: page.map(shown) }),
      ...(end < all.length && { nextPageToken: `${end}` }),
    });
  } else {
    const known = cached.get(id);
    if (known === undefined) return void send({ error: { code: 404 } }, 404);
    if (method === "PATCH") known.expireTime = endIn(said.ttl);
    if (method === "DELETE") cached.delete(id);
    send(method === "DELETE" ? {} : shown(id));
  }
}

function teamOf(teamId: string, fields: Parameters<Harness["addGateway"]>[0] = {}, key = {}): Team {
  const upstreams = [
    upstreamOf(upstream.url, "gemini"),
    upstreamOf(upstream.url),
    upstreamOf(upstream.url, "anthropic"),
  ];
  const gateway = harness.addGateway({ teamId, upstreams, operations: ["generate", "files"], ...fields });
  return { url: `${harness.url}/g/${gateway.publicId}`, key: harness.addKey({ teamId, scopes: SCOPES, ...key }) };
}

beforeAll(async () => {
  upstream = await startUpstream();
  harness = await startGateway({ owners });
});
beforeEach(() => {
  upstream.received.length = 0;
  cached.clear();
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
  return fetch(`${url}/${path}`, {
    method,
    headers: { "x-goog-api-key": key, ...(json !== undefined && { "content-type": "application/json" }) },
    ...(json !== undefined && { body: typeof json === "string" ? json : JSON.stringify(json) }),
  });
}

const CONTENTS = [{ role: "user", parts: [{ text: "A long book" }] }];
const create = (team: Team, more: object = {}) =>
  ask(team, "POST", "v1beta/cachedContents", { model: "models/gem", contents: CONTENTS, ...more });

async function nameFrom(answer: Response): Promise<string> {
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { name: string }).name;
}

const shown = async (answer: Response) => [
  answer.status,
  answer.headers.get("x-keyplane-error-source"),
  await answer.text(),
];

test("b401: a cached content is its team's, and another team's is the 404 of an unknown one", async () => {
  const name = await nameFrom(await create(a));
  upstream.received.length = 0;
  for (const [method, json] of [["GET"], ["PATCH", { ttl: "60s" }], ["DELETE"]] as const) {
    const foreign = await shown(await ask(b, method, `v1beta/${name}`, json));
    expect(foreign).toEqual([404, "keyplane", expect.stringContaining("Cached content not found")]);
    expect(await shown(await ask(b, method, "v1beta/cachedContents/unknown", json))).toEqual(foreign);
    expect(upstream.received).toHaveLength(0);
  }
  for (const [method, json] of [["GET"], ["PATCH", { ttl: "60s" }], ["DELETE"]] as const) {
    expect((await ask(a, method, `v1beta/${name}`, json)).status).toBe(200);
  }
  expect((await ask(a, "GET", `v1beta/${name}`)).status).toBe(404);
  expect(upstream.received.map(({ method, url }) => `${method} ${url}`)).toEqual(
    ["GET", "PATCH", "DELETE"].map((method) => `${method} /v1beta/${name}`),
  );
  expect(upstream.received[0]?.headers["x-goog-api-key"]).toBe(PROVIDER_KEY);
});

const GENERATING = ["generateContent", "streamGenerateContent", "countTokens"].map(
  (action) => `v1beta/models/gem:${action}`,
);
const OTHERS = ["v1/chat/completions", "v1/completions", "v1/responses", "v1/messages", "v1/messages/count_tokens"];

test.each<readonly [string, readonly string[], (name: string) => string]>([
  ["as Google's SDK does", GENERATING, (name) => `{"cachedContent":"${name}"}`],
  ["in snake case", GENERATING, (name) => `{"cached_content":"${name}"}`],
  ["in another case", GENERATING, (name) => `{"CACHEDcontent":"${name}"}`],
  ["escaped", GENERATING, (name) => `{"\\u0063achedContent":"${name}"}`],
  ["with an escaped value", GENERATING, (name) => `{"cachedContent":"\\u0063${name.slice(1)}"}`],
  ["after a name that is none", GENERATING, (name) => `{"cachedContent":null,"cachedContent":"${name}"}`],
  ["as an object", GENERATING, (name) => `{"cachedContent":[{"name":"${name}"}]}`],
  ["without the collection", GENERATING, (name) => `{"cachedContent":"${name.split("/")[1]}"}`],
  ["within", GENERATING, (name) => `{"generateContentRequest":{"cachedContent":"${name}"}}`],
  ["behind a long text", GENERATING, (name) => `{"x":"${"y".repeat(80_000)}","cachedContent":"${name}"}`],
  ["as Google's endpoint of OpenAI's", OTHERS, (name) => `{"extra_body":{"google":{"cached_content":"${name}"}}}`],
  ["as gateways in front of Gemini", OTHERS, (name) => `{"model":"gem","cached_content":"${name}"}`],
])("b401: a call that names another team's cached content %s goes nowhere", async (_, paths, bodyOf) => {
  const name = await nameFrom(await create(a));
  const theirs = teamOf("team-b", { operations: ["generate"] });
  upstream.received.length = 0;
  for (const path of paths) {
    const answers = [name, "cachedContents/unknown"].map((one) => ask(theirs, "POST", path, bodyOf(one)));
    const [foreign, unknown] = await Promise.all(answers.map(async (answer) => shown(await answer)));
    expect([path, foreign?.[0], foreign?.[1]]).toEqual([path, 404, "keyplane"]);
    expect(unknown).toEqual(foreign);
  }
  expect(upstream.received).toHaveLength(0);
});

const searchIn = (fileSearch: object) => ({ contents: CONTENTS, tools: [{ fileSearch }] });
const STORE = "fileSearchStores/handbook-123a456b789c";

test.each<readonly [string, readonly string[], object | string]>([
  ["as Google's SDK does", GENERATING, searchIn({ fileSearchStoreNames: [STORE] })],
  ["in snake case", GENERATING, { tools: [{ file_search: { file_search_store_names: [STORE] } }] }],
  ["as one text", GENERATING, searchIn({ fileSearchStoreNames: STORE })],
  ["in another case", GENERATING, searchIn({ FileSearchStoreNames: [STORE] })],
  ["escaped", GENERATING, `{"file\\u0053earchStoreNames":["${STORE}"]}`],
  ["doubled", GENERATING, `{"fileSearchStoreNames":[],"fileSearchStoreNames":["${STORE}"]}`],
  ["as what is elsewhere", GENERATING, searchIn({ fileSearchStoreNames: ["gs:x", "https://a.test/x"] })],
  ["within", GENERATING, { generateContentRequest: searchIn({ fileSearchStoreNames: [STORE] }) }],
  ["in what is cached", ["v1beta/cachedContents"], searchIn({ fileSearchStoreNames: [STORE] })],
  ["as gateways in front of Gemini", OTHERS, { tools: [{ fileSearch: { fileSearchStoreNames: [STORE] } }] }],
])("b477: a call that names a file search store of Google's %s goes nowhere", async (_, paths, body) => {
  for (const path of paths) {
    const [status, source, text] = await shown(await ask(a, "POST", path, body));
    expect([path, status, source]).toEqual([path, 404, "keyplane"]);
    expect(text).toContain("store not found");
  }
  expect(upstream.received).toHaveLength(0);
});

test("a call that searches no store, or whose function takes one's name, passes", async () => {
  const schema = { type: "object", properties: { fileSearchStoreNames: { type: "string", default: "x" } } };
  const tools = [{ functionDeclarations: [{ name: "f", parametersJsonSchema: schema }] }];
  for (const body of [searchIn({ fileSearchStoreNames: [] }), searchIn({ topK: 1 }), { contents: CONTENTS, tools }]) {
    expect((await ask(a, "POST", "v1beta/models/gem:generateContent", body)).status).toBe(200);
  }
});

test("a call with the team's own cached content passes to the upstream that has it, and no spelling makes it another's", async () => {
  const name = await nameFrom(await create(a));
  const other = await startUpstream();
  const both = teamOf("team-a", {
    upstreams: [upstreamOf(other.url, "gemini", { name: "far" }), upstreamOf(upstream.url, "gemini")],
    routes: [routeOf("m", { upstream: "far", fallbacks: [{ upstream: "gemini", upstreamModel: "gem" }] })],
  });
  upstream.received.length = 0;
  const body = { contents: CONTENTS, cachedContent: name };
  expect((await ask(both, "POST", "v1beta/models/m:generateContent", body)).status).toBe(200);
  expect(upstream.received.map(({ url }) => url)).toEqual(["/v1beta/models/gem:generateContent"]);
  expect(JSON.parse(upstream.received[0]?.body.toString() ?? "")).toEqual(body);
  expect(other.received).toHaveLength(0);
  for (const spelt of [`/${name}`, `${name}/`, name.toUpperCase(), `${name}?x`, `projects/p/${name}`]) {
    const answer = await ask(a, "POST", "v1beta/models/gem:generateContent", { cachedContent: spelt });
    expect([spelt, answer.status]).toEqual([spelt, 404]);
  }
  await other.close();
});

test("b401: a list shows the team's own cached contents alone, with sealed pages", async () => {
  for (let at = 0; at < 1_200; at++) cached.set(`other${at}`, { model: "m", expireTime: "x" });
  const own = [await create(a), await create(a), await create(a)];
  const names = await Promise.all(own.map(nameFrom));
  type Page = { readonly cachedContents: readonly { readonly name: string }[]; readonly nextPageToken: string };
  const first = (await (await ask(a, "GET", "v1beta/cachedContents?pageSize=2")).json()) as Page;
  expect(first.cachedContents.map(({ name }) => name)).toEqual(names.slice(0, 2));
  expect(Buffer.from(first.nextPageToken, "base64url").toString("latin1")).not.toContain("1000");
  const next = await ask(a, "GET", `v1beta/cachedContents?pageSize=2&pageToken=${first.nextPageToken}`);
  expect(((await next.json()) as Page).cachedContents.map(({ name }) => name)).toEqual([names[2]]);
  expect((await ask(b, "GET", `v1beta/cachedContents?pageToken=${first.nextPageToken}`)).status).toBe(400);
  expect(await (await ask(b, "GET", "v1beta/cachedContents")).json()).toEqual({});
});

test("b401: no call chooses the name of a cached content, or names another's while it changes its own", async () => {
  const name = await nameFrom(await create(a));
  const own = await nameFrom(await create(b));
  upstream.received.length = 0;
  for (const chosen of [
    { name },
    { Name: name },
    { name: own },
    { name: "cachedContents/new" },
    { extra_body: { name } },
  ]) {
    const answer = await create(b, chosen);
    expect([chosen, answer.status, await answer.text()]).toEqual([
      chosen,
      400,
      expect.stringContaining("leave `name`"),
    ]);
    if (chosen.name !== own) {
      expect((await ask(b, "PATCH", `v1beta/${own}`, { ttl: "60s", ...chosen })).status).toBe(404);
    }
  }
  expect(upstream.received).toHaveLength(0);
  const foreign = `name=${name}&cachedContent.name=${name}`;
  expect((await ask(b, "PATCH", `v1beta/${own}?updateMask=ttl&${foreign}`, { ttl: "60s", name: own })).status).toBe(
    200,
  );
  for (const method of ["GET", "DELETE"]) await ask(b, method, `v1beta/${own}?${foreign}`);
  await ask(b, "POST", `v1beta/cachedContents?${foreign}`, { contents: CONTENTS });
  expect(upstream.received.map(({ url }) => url)).toEqual([
    ...Array(3).fill(`/v1beta/${own}`),
    "/v1beta/cachedContents",
  ]);
});

test("b402: what is cached may name the team's own files alone", async () => {
  const contents = [{ parts: [{ fileData: { fileUri: `${upstream.url}/v1beta/files/of-another-team` } }] }];
  const own = await nameFrom(await create(a));
  upstream.received.length = 0;
  for (const answer of [await create(a, { contents }), await ask(a, "PATCH", `v1beta/${own}`, { contents })]) {
    expect(await shown(answer)).toEqual([404, "keyplane", expect.stringContaining("File not found")]);
  }
  expect(upstream.received).toHaveLength(0);
});

test.each<readonly [string, number]>([
  ['{"model":"models/gem"}', 200],
  ['{"model":"gem"}', 200],
  ['{"model":"models/other"}', 403],
  ['{"model":"tunedModels/gem"}', 403],
  ['{"contents":[]}', 403],
  ['{"Model":"models/gem"}', 400],
  ['{"model":"models/gem","model":"models/other"}', 400],
  ['{"model":"models/gem","requests":[{"model":"models/other"}]}', 400],
  ['{"model":"models/gem","models":["other"]}', 400],
])("b402: a key that is restricted to a model caches for no other: %s is %i", async (body, status) => {
  const { url } = a;
  const key = harness.addKey({ teamId: "team-a", scopes: SCOPES, allowedModels: ["gem"] });
  const answer = await ask({ url, key }, "POST", "v1beta/cachedContents", body);
  expect([answer.status, upstream.received.length]).toEqual([status, status === 200 ? 1 : 0]);
  const named = await ask({ url, key }, "POST", "v1beta/cachedContents?model=other", '{"model":"models/gem"}');
  expect(named.status).toBe(400);
});

test("a logical route's model is written where the body names it, and a gateway of routes alone takes no other", async () => {
  const routed = teamOf("team-a", {
    routes: [routeOf("fast", { upstream: "gemini", upstreamModel: "gem-2" })],
    routesOnly: true,
  });
  for (const [model, written] of [
    ["models/fast", "models/gem-2"],
    ["fast", "gem-2"],
  ]) {
    expect((await create(routed, { model })).headers.get("x-keyplane-route-id")).toBe("rt-fast");
    expect(JSON.parse(upstream.received.at(-1)?.body.toString() ?? "").model).toBe(written);
  }
  expect((await create(routed, { model: "models/gem" })).status).toBe(404);
  const unrouted = { ...routed, key: harness.addKey({ teamId: "team-a", scopes: scopeSet(["gateway:files"]) }) };
  expect((await create(unrouted, { model: "models/fast" })).status).toBe(403);
});

test("b402: what is cached counts once as input of its model, and as nothing when it is read, changed or listed", async () => {
  harness.answered.length = 0;
  const name = await nameFrom(await create(a));
  expect(harness.answered).toMatchObject([
    {
      askedModel: "gem",
      usage: { tokens: { ...NO_TOKENS, input: 4_321 }, model: undefined, ending: "reported", isDoubtful: false },
    },
  ]);
  await ask(a, "GET", `v1beta/${name}`);
  await ask(a, "PATCH", `v1beta/${name}`, { ttl: "60s" });
  await ask(a, "GET", "v1beta/cachedContents");
  await ask(a, "DELETE", `v1beta/${name}`);
  expect(harness.answered).toHaveLength(1);
});

test("b402: a limit of tokens reserves by the body before anything is cached, and is charged what is reported", async () => {
  const limited = (tokensPerMinute: number) => ({
    ...a,
    key: harness.addKey({ teamId: "team-a", scopes: SCOPES, tokenLimit: { tokensPerMinute, scope: "Replica" } }),
  });
  const team = limited(5_000);
  const withText = (length: number) => create(team, { contents: [{ parts: [{ text: "x".repeat(length) }] }] });
  const answers = [await withText(1), await withText(800), await withText(400)];
  expect(answers.map(({ status }) => status)).toEqual([200, 429, 200]);
  expect(upstream.received).toHaveLength(2);
});

test("an id is known a day longer than the cached content lives, also once that is prolonged", async () => {
  kept.clear();
  const lasting = () => [...kept.values()].map(({ lastsMs }) => Math.round(Number(lastsMs) / HOUR_MS));
  const name = await nameFrom(await create(a, { ttl: "7200s" }));
  expect(lasting()).toEqual([DAY_MS / HOUR_MS + 2]);
  await ask(a, "PATCH", `v1beta/${name}`, { ttl: "720000s" });
  expect(lasting()).toEqual([DAY_MS / HOUR_MS + 200]);
  await ask(a, "PATCH", `v1beta/${name}`, { ttl: "60s" });
  expect(lasting()).toEqual([DAY_MS / HOUR_MS + 200]);
});

test("b401: while it cannot be written whose it is, no name leaves, and no end is prolonged unnoticed", async () => {
  const name = await nameFrom(await create(a));
  // What was found is known for a while.
  await ask(a, "GET", `v1beta/${name}`);
  database.isAway = true;
  harness.answered.length = 0;
  for (const answer of [await create(a), await ask(a, "PATCH", `v1beta/${name}`, { ttl: "7200s" })]) {
    expect(await shown(answer)).toEqual([503, "keyplane", expect.not.stringContaining("cachedContents/")]);
  }
  expect(harness.answered).toMatchObject([{ usage: { tokens: { input: 4_321 } } }]);
});

test("calls of cached contents take the scope gateway:files and a gateway that names files", async () => {
  const unscoped = { ...a, key: harness.addKey({ scopes: scopeSet(["gateway:generate"]) }) };
  const unserved = teamOf("team-a", { operations: ["generate"] });
  for (const [method, path] of [
    ["POST", ""],
    ["GET", ""],
    ["PATCH", "/x"],
    ["DELETE", "/x"],
  ] as const) {
    const json = method === "POST" || method === "PATCH" ? {} : undefined;
    expect((await ask(unscoped, method, `v1beta/cachedContents${path}`, json)).status).toBe(403);
    const refused = await ask(unserved, method, `v1beta/cachedContents${path}`, json);
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining("have files added")]);
  }
  expect(upstream.received).toHaveLength(0);
});

test("Google's SDK creates, lists, describes, prolongs, uses and deletes cached contents", async () => {
  const sdkOf = ({ key, url }: Team) =>
    new GoogleGenAI({ apiKey: key, apiVersion: "v1beta", httpOptions: { baseUrl: url } });
  const google = sdkOf(a);
  for (let at = 0; at < 30; at++) cached.set(`other${at}`, { model: "m", expireTime: "x" });
  const config = { contents: CONTENTS, systemInstruction: "Be brief", ttl: "300s", displayName: "book" };
  const first = await google.caches.create({ model: "gem", config });
  const second = await google.caches.create({ model: "models/gem", config });
  const [{ name = "" }, { name: other = "" }] = [first, second];
  expect([first.usageMetadata?.totalTokenCount, cached.get(name.split("/")[1] ?? "")?.model]).toEqual([
    4_321,
    "models/gem",
  ]);
  const listed = [];
  for await (const one of await google.caches.list({ config: { pageSize: 1 } })) listed.push(one.name);
  expect(listed).toEqual([name, other]);
  const prolonged = await google.caches.update({ name, config: { ttl: "7600s" } });
  expect((await google.caches.get({ name })).expireTime).toBe(prolonged.expireTime);
  const asked = { model: "gem", contents: "Who?" };
  const answer = await google.models.generateContent({ ...asked, config: { cachedContent: name } });
  expect(answer.text).toBe("Hi");
  await google.caches.delete({ name });
  expect(cached.size).toBe(31);
  const theirs = sdkOf(b);
  await expect(theirs.caches.get({ name: other })).rejects.toThrow("404");
  await expect(theirs.models.generateContent({ ...asked, config: { cachedContent: other } })).rejects.toThrow("404");
});

test("b401: what is cached names no cached content of another team", async () => {
  const name = await nameFrom(await create(a));
  upstream.received.length = 0;
  expect((await create(b, { extra: { cachedContent: name } })).status).toBe(400);
  expect(upstream.received).toHaveLength(0);
});
