/** Files that Gemini keeps, with two teams whose gateways have one credential (spec §4). */
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OperationKind } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { heldBack } from "./held-back.ts";
import { type Received, startUpstream, type Upstream } from "./upstream.ts";

const SCOPES = scopeSet(["gateway:generate", "gateway:embed", "gateway:files"]);
const START = { "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start" };

const GENERATING = ["generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents"];

let upstream: Upstream;
let harness: Harness;
const { owners, kept } = ownersInMemory();
const files = new Map<string, Buffer>();
const sessions = new Map<string, Buffer[]>();
type Team = { readonly url: string; readonly key: string };
let a: Team;
let b: Team;

/** Answers as Gemini's published description says, for every caller with the credential. */
function respond(response: ServerResponse, { method, url, body, headers }: Received): void {
  const { pathname, searchParams } = new URL(url, upstream.url);
  const send = (answer: object, more: Record<string, string> = {}, status = 200) =>
    response.writeHead(status, { "content-type": "application/json", ...more }).end(JSON.stringify(answer));
  const shown = (id: string) => ({
    ...{ name: `files/${id}`, uri: `${upstream.url}/v1beta/files/${id}`, mimeType: "text/plain", state: "ACTIVE" },
    downloadUri: `${upstream.url}/download/v1beta/files/${id}:download?alt=media`,
    expirationTime: new Date(Date.now() + 48 * 3_600_000).toISOString(),
  });
  const session = searchParams.get("upload_id");
  if (pathname === "/upload/v1beta/files" && session === null) {
    const id = randomBytes(24).toString("hex");
    sessions.set(id, []);
    const next = `${upstream.url}/upload/v1beta/files?upload_id=${id}&upload_protocol=resumable`;
    send({}, { "X-Goog-Upload-URL": next, "X-Goog-Upload-Control-URL": next, "X-Goog-Upload-Status": "active" });
  } else if (pathname === "/upload/v1beta/files") {
    const pieces = sessions.get(session ?? "");
    if (pieces === undefined) return void send({}, {}, 404);
    pieces.push(body);
    if (!String(headers["x-goog-upload-command"]).includes("finalize")) {
      response.writeHead(200, { "X-Goog-Upload-Status": "active" }).end();
      return;
    }
    const id = randomBytes(6).toString("hex");
    files.set(id, Buffer.concat(pieces));
    send({ file: shown(id) }, { "X-Goog-Upload-Status": "final" });
  } else if (pathname === "/v1beta/files") {
    const all = [...files.keys()];
    const from = Number(
      Buffer.from(searchParams.get("pageToken") ?? "MA", "base64url")
        .toString()
        .split(" ")[0],
    );
    const page = all.slice(from, from + Number(searchParams.get("pageSize") ?? 10));
    const end = from + page.length;
    const token = Buffer.from(`${end} ${page.at(-1)}`).toString("base64url");
    send({ ...(page.length > 0 && { files: page.map(shown) }), ...(end < all.length && { nextPageToken: token }) });
  } else if (pathname.startsWith("/v1beta/files/")) {
    const [id = "", action] = pathname.slice("/v1beta/files/".length).split(":");
    const content = files.get(id);
    if (content === undefined) send({}, {}, 404);
    else if (action === "download") response.end(searchParams.get("alt") === "media" ? content : "no media");
    else if (method === "DELETE") send({}, {}, files.delete(id) ? 200 : 404);
    else send(shown(id));
  } else send({ candidates: [{ content: { parts: [{ text: "Hi" }] } }] });
}

function teamOf(teamId: string, operations: readonly OperationKind[] = ["generate", "files"]): Team {
  const gateway = harness.addGateway({ teamId, upstreams: [upstreamOf(upstream.url, "gemini")], operations });
  return { url: `${harness.url}/g/${gateway.publicId}`, key: harness.addKey({ teamId, scopes: SCOPES }) };
}

beforeAll(async () => {
  upstream = await startUpstream();
  harness = await startGateway({ owners });
});
beforeEach(() => {
  upstream.received.length = 0;
  files.clear();
  upstream.answerWith(respond);
  a = teamOf("team-a");
  b = teamOf("team-b");
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

function ask({ url, key }: Team, method: string, path: string, headers: Record<string, string> = {}, json?: object) {
  return fetch(path.startsWith("http") ? path : `${url}/${path}`, {
    method,
    headers: { "x-goog-api-key": key, ...headers, ...(json !== undefined && { "content-type": "application/json" }) },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
}

async function begin(team: Team): Promise<string> {
  const answer = await ask(team, "POST", "upload/v1beta/files", START, { file: { displayName: "My name: x" } });
  expect(answer.status).toBe(200);
  return answer.headers.get("x-goog-upload-url") ?? "";
}

async function upload(team: Team): Promise<Record<string, string>> {
  const answer = await ask(team, "POST", await begin(team), { "x-goog-upload-command": "upload, finalize" });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { file: Record<string, string> }).file;
}

const shown = async (answer: Response) => [
  answer.status,
  answer.headers.get("x-keyplane-error-source"),
  await answer.text(),
];

test("b379: an upload goes on at the gateway alone, and no answer has a URL of the provider's that takes a key", async () => {
  const answer = await ask(a, "POST", "upload/v1beta/files", START, { file: {} });
  const headers = JSON.stringify([...answer.headers]);
  expect(headers).not.toContain(upstream.url);
  const next = answer.headers.get("x-goog-upload-url") ?? "";
  expect(next).toMatch(new RegExp(`^${a.url}/upload/v1beta/files\\?upload_id=[0-9a-f]{48}&upload_protocol=resumable$`));
  upstream.received.length = 0;
  const foreign = await shown(await ask(b, "POST", next.replace(a.url, b.url), { "x-goog-upload-command": "query" }));
  const unknown = await shown(
    await ask(b, "POST", `upload/v1beta/files?upload_id=unknown`, { "x-goog-upload-command": "query" }),
  );
  expect(foreign).toEqual([404, "keyplane", expect.stringContaining("Upload not found")]);
  expect(unknown).toEqual(foreign);
  expect(upstream.received).toHaveLength(0);
  const piece = await ask(a, "POST", `${next}&alt=x&upload_protocol=raw`, { "x-goog-upload-command": "upload" });
  expect([piece.status, piece.headers.get("x-goog-upload-status")]).toEqual([200, "active"]);
  expect(upstream.received[0]?.url).toBe(`/${next.slice(a.url.length + 1)}`);
  expect(upstream.received[0]?.headers["x-goog-api-key"]).toBe(PROVIDER_KEY);
  const last = await ask(a, "POST", next, { "x-goog-upload-command": "upload, finalize" });
  const { file } = (await last.json()) as { file: Record<string, string> };
  const id = file.name?.slice("files/".length);
  expect(file.downloadUri).toBe(`${a.url}/v1beta/files/${id}:download?alt=media`);
  const described = await (await ask(a, "GET", `v1beta/files/${id}`)).json();
  expect(described).toMatchObject({ downloadUri: file.downloadUri, uri: file.uri });
  expect(await (await ask(a, "GET", file.downloadUri ?? "")).text()).not.toBe("no media");
  const listed = await (await ask(a, "GET", "v1beta/files")).json();
  expect(listed).toMatchObject({ files: [{ downloadUri: file.downloadUri }] });
});

test("b379: a file without a name has no URL of the upstream's", async () => {
  const { name = "" } = await upload(a);
  upstream.answerWith((response) =>
    response.end(JSON.stringify({ downloadUri: `${upstream.url}/x`, state: "ACTIVE" })),
  );
  expect(await (await ask(a, "GET", `v1beta/${name}`)).json()).toEqual({ state: "ACTIVE" });
});

test.each([
  "https://evil.test/upload/v1beta/files?upload_id=x",
  "/upload/v1beta/files?upload_id=x",
  "UP/v1beta/files/x?upload_id=x",
  "UP/upload/v1beta/files",
])("b379: an upload that is to go on at %s ends", async (url) => {
  upstream.answerWith((response) =>
    response.writeHead(200, { "x-goog-upload-url": url.replace("UP", upstream.url) }).end("{}"),
  );
  const answer = await ask(a, "POST", "upload/v1beta/files", START, { file: {} });
  expect([answer.status, answer.headers.get("x-goog-upload-url")]).toEqual([502, null]);
});

test.each<readonly [string, Record<string, string>, object]>([
  ["", {}, {}],
  ["", { ...START, "x-goog-upload-protocol": "multipart" }, {}],
  ["", { ...START, "x-goog-upload-protocol": "raw" }, {}],
  ["", { ...START, "x-goog-upload-command": "upload" }, {}],
  ["?upload_id=a&upload_id=b", { "x-goog-upload-command": "upload" }, {}],
  ["?upload_id=", { "x-goog-upload-command": "upload" }, {}],
  ["?upload%5Fid=a", START, {}],
  ["", START, { file: { name: "files/of-another-team" } }],
  ["", START, { file: { Name: "files/of-another-team" } }],
])("b379: an upload by another way, or with a chosen name, is 400: %s %j %j", async (query, headers, json) => {
  const answer = await ask(a, "POST", `upload/v1beta/files${query}`, headers, json);
  expect([answer.status, upstream.received.length]).toEqual([400, 0]);
});

test("b375: a file of Gemini's is its team's, in paths and bodies, and in any spelling of its URI", async () => {
  const { name = "", uri = "" } = await upload(a);
  upstream.received.length = 0;
  for (const [method, path] of [
    ["GET", `v1beta/${name}`],
    ["DELETE", `v1beta/${name}`],
    ["GET", `v1beta/${name}:download?alt=media`],
  ] as const) {
    const foreign = await shown(await ask(b, method, path));
    expect(foreign).toEqual([404, "keyplane", expect.stringContaining("File not found")]);
    expect(await shown(await ask(b, method, path.replace(name, "files/unknown")))).toEqual(foreign);
  }
  const theirs = teamOf("team-b", ["generate", "embed"]);
  const bodyOf = (fileUri: string) => ({ contents: [{ parts: [{ fileData: { fileUri } }] }] });
  for (const body of [
    ...[uri, name, uri.replace("v1beta", "V1beta"), `${uri}?x`, `${uri}/`, uri.replace("http", "HTTP"), ` ${uri}`].map(
      bodyOf,
    ),
    ...["https://generativelanguage.googleapis.com/v1beta/files/x", "files/../x", "x"].map(bodyOf),
    ...["https://generativelanguage.googleapis.com./v1beta/files/x", uri.replace("127.0.0.1", "127.0.0.1.")].map(
      bodyOf,
    ),
    ...["https:files/x", "https://Googleapis.com:8443/files/x"].map(bodyOf),
    ...["https://storage.generativelanguage.googleapis.com/v1beta/files/x", "https://a.googleapis.com../files/x"].map(
      bodyOf,
    ),
    // Parsers differ in where the host of these begins or ends, or in what they leave out of it.
    ...["https://a.test\\@googleapis.com/x", "https://a.test@googleapis.com/x", "https:///googleapis.com/x"].map(
      bodyOf,
    ),
    ...["https://google\tapis.com/x", "https://google\u00adapis.com/x", "https://\uff47oogleapis.com/x"].map(bodyOf),
    { contents: [{ parts: [{ file_data: { file_uri: uri } }] }] },
    { systemInstruction: { parts: [{ fileData: { fileUri: uri } }] } },
  ]) {
    for (const action of GENERATING) {
      const answer = await ask(theirs, "POST", `v1beta/models/m:${action}`, {}, body);
      expect([JSON.stringify(body), answer.status]).toEqual([JSON.stringify(body), 404]);
    }
  }
  expect(upstream.received).toHaveLength(0);
  for (const body of [
    ...[uri, name, "https://www.youtube.com/watch?v=x", "https://example.com/files/x", "gs://bucket/x"].map(bodyOf),
    ...["https://storage.googleapis.com/bucket/x", "https://bucket.storage.googleapis.com/x"].map(bodyOf),
    ...["https://commondatastorage.googleapis.com/bucket/x", "https://firebasestorage.googleapis.com/v0/b/x"].map(
      bodyOf,
    ),
    { contents: [{ parts: [{ functionCall: { args: { fileUri: "mine" } } }] }] },
  ]) {
    expect((await ask(a, "POST", "v1beta/models/m:generateContent", {}, body)).status).toBe(200);
  }
});

test.each(["generateContentRequest", "generate_content_request"])(
  "b487: tokens are counted of a whole request whose function takes the URI of a file of the caller's own: %s",
  async (member) => {
    const called = { functionCall: { name: "f", args: { fileUri: "files/their-own" } } };
    const answered = { functionResponse: { name: "f", response: { file_uri: "files/their-own" } } };
    const count = (...parts: readonly object[]) =>
      ask(a, "POST", "v1beta/models/m:countTokens", {}, { [member]: { model: "models/m", contents: [{ parts }] } });
    expect((await count(called, answered)).status).toBe(200);
    expect((await count(called, { fileData: { fileUri: "files/unknown" } })).status).toBe(404);
  },
);

test("b490: a body whose gateway comes to lead to another upstream meanwhile names no file there", async () => {
  const { name = "" } = await upload(a);
  const elsewhere = upstream.url.replace("127.0.0.1", "localhost");
  const of = { gatewayId: "gw_moving", publicId: "moving", teamId: "team-b", operations: ["generate"] as const };
  const declare = (url: string) => harness.addGateway({ ...of, upstreams: [upstreamOf(url, "gemini")] });
  declare(upstream.url);
  const headers = { "x-api-key": harness.addKey({ teamId: "team-b", scopes: SCOPES }) };
  const body = { contents: [{ parts: [{ fileData: { fileUri: `${elsewhere}/v1beta/${name}` } }] }] };
  upstream.received.length = 0;
  const url = `${harness.url}/g/moving/v1beta/models/m:generateContent`;
  const [status] = await heldBack(url, headers, body, () => declare(elsewhere));
  expect([status, upstream.received.length]).toEqual([503, 0]);
  expect((await heldBack(url, headers, body, () => {}))[0]).toBe(404);
  expect((await heldBack(url, headers, { contents: [] }, () => declare(upstream.url)))[0]).toBe(200);
});

test.each([undefined, 1])(
  "b490: a body goes where it was read for though its gateway leads to another upstream too by then: weight %j",
  async (weight) => {
    const elsewhere = upstream.url.replace("127.0.0.1", "localhost");
    const [one, two] = [upstream.url, elsewhere].map((url, at) => upstreamOf(url, "gemini", { name: `of-${at}` }));
    if (one === undefined || two === undefined) throw new Error("there are two");
    const of = { gatewayId: "gw_growing", publicId: "growing", teamId: "team-b", operations: ["generate"] as const };
    const route = { upstream: "of-0", upstreamModel: "m" };
    const declare = (upstreams: readonly (typeof one)[], fields: object) =>
      harness.addGateway({ ...of, upstreams, routes: [routeOf("fast", { ...route, ...fields })] });
    // With weights, the new upstream is the one that is chosen.
    const fallbacks = [{ upstream: "of-1", upstreamModel: "m", ...(weight !== undefined && { weight }) }];
    const grow = () => declare([one, two], { fallbacks, ...(weight !== undefined && { weight: 0 }) });
    const headers = { "x-api-key": harness.addKey({ teamId: "team-b" }) };
    const body = { contents: [{ parts: [{ fileData: { fileUri: `${elsewhere}/v1beta/files/1` } }] }] };
    const url = `${harness.url}/g/growing/v1beta/models/fast:generateContent`;
    for (const status of [200, 500]) {
      declare([one], {});
      upstream.received.length = 0;
      upstream.answerWith((response) => response.writeHead(status).end("{}"));
      expect((await heldBack(url, headers, body, grow))[0]).toBe(status);
      expect(upstream.received.map((each) => each.headers.host)).toEqual([new URL(upstream.url).host]);
    }
  },
);

test.each(["", "/v1", "/v1beta"])(
  "b421: a file of Gemini's is its team's at a gateway whose base URL ends in %j",
  async (version) => {
    const { name = "" } = await upload(a);
    const upstreams = [upstreamOf(`${upstream.url}${version}`, "gemini")];
    const { publicId } = harness.addGateway({ teamId: "team-a", upstreams, operations: ["generate", "files"] });
    const there = { url: `${harness.url}/g/${publicId}`, key: a.key };
    const body = { contents: [{ parts: [{ fileData: { fileUri: name } }] }] };
    expect((await ask(there, "POST", "v1beta/models/m:generateContent", {}, body)).status).toBe(200);
    expect(upstream.received.at(-1)?.url).toBe(`${version || "/v1beta"}/models/m:generateContent`);
  },
);

test("b375: no query of a client's names another file than the path", async () => {
  const [{ name: theirs = "" }, { name = "" }] = [await upload(a), await upload(b)];
  upstream.received.length = 0;
  for (const method of ["GET", "DELETE"]) await ask(b, method, `v1beta/${name}?name=${theirs}`);
  expect(upstream.received.map(({ url }) => url)).toEqual([`/v1beta/${name}`, `/v1beta/${name}`]);
});

test("b377: a list of Gemini's shows the team's own files alone, with sealed pages", async () => {
  for (let at = 0; at < 150; at++) files.set(`other${at}`, Buffer.from("x"));
  const own = [await upload(a), await upload(a), await upload(a)].map(({ name }) => name);
  const answer = await ask(a, "GET", "v1beta/files?pageSize=2");
  const { files: page, nextPageToken: token } = (await answer.json()) as {
    files: { name: string }[];
    nextPageToken: string;
  };
  expect(page.map(({ name }) => name)).toEqual(own.slice(0, 2));
  expect(Buffer.from(token, "base64url").toString("latin1")).not.toContain("other");
  const next = await ask(a, "GET", `v1beta/files?pageSize=2&pageToken=${token}`);
  expect(await next.json()).toMatchObject({ files: [{ name: own[2] }] });
  expect(await (await ask(b, "GET", "v1beta/files")).json()).toEqual({});
});

test("a client that deletes files as it goes through a list of Gemini's is shown each of the others once", async () => {
  const own = [await upload(a), await upload(a), await upload(a), await upload(a)].map(({ name }) => name);
  const page = async (token: string) => {
    const answer = await ask(a, "GET", `v1beta/files?pageSize=2${token}`);
    const { files: shown, nextPageToken } = (await answer.json()) as {
      files: { name: string }[];
      nextPageToken?: string;
    };
    return { names: shown.map(({ name }) => name), nextPageToken };
  };
  const first = await page("");
  await ask(a, "DELETE", `v1beta/${own[1]}`);
  const next = await page(`&pageToken=${first.nextPageToken}`);
  expect([...first.names, ...next.names]).toEqual(own);
});

test("the owner of a file is known a day longer than Gemini keeps it", async () => {
  kept.clear();
  await upload(a);
  expect([...kept.values()].map(({ lastsMs }) => lastsMs)).toEqual([8 * 24 * 3_600_000, expect.any(Number)]);
});

test("Google's SDK uploads from memory and from disk, lists, describes, downloads, names and deletes files", async () => {
  const google = new GoogleGenAI({ apiKey: a.key, apiVersion: "v1beta", httpOptions: { baseUrl: a.url } });
  for (let at = 0; at < 30; at++) files.set(`other${at}`, Buffer.from("x"));
  const first = await google.files.upload({ file: new Blob(["Hello"]), config: { mimeType: "text/plain" } });
  const path = join(tmpdir(), `keyplane-${randomBytes(6).toString("hex")}.txt`);
  await writeFile(path, Buffer.alloc(20 << 20, 1));
  const second = await google.files.upload({ file: path, config: { mimeType: "text/plain", displayName: "large" } });
  expect(files.get(second.name?.slice("files/".length) ?? "")?.length).toBe(20 << 20);
  const listed = [];
  for await (const file of await google.files.list({ config: { pageSize: 1 } })) listed.push(file.name);
  expect(listed).toEqual([first.name, second.name]);
  expect((await google.files.get({ name: first.name ?? "" })).uri).toBe(first.uri);
  await google.files.download({ file: first.name ?? "", downloadPath: path });
  const answer = await google.models.generateContent({
    model: "m",
    contents: [{ role: "user", parts: [{ fileData: { fileUri: first.uri ?? "", mimeType: "text/plain" } }] }],
  });
  expect(answer.text).toBe("Hi");
  await google.files.delete({ name: first.name ?? "" });
  expect(files.size).toBe(31);
  const theirs = new GoogleGenAI({ apiKey: b.key, apiVersion: "v1beta", httpOptions: { baseUrl: b.url } });
  await expect(theirs.files.get({ name: second.name ?? "" })).rejects.toThrow("404");
  await rm(path);
});
