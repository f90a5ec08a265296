/** Images, audio and moderations, as callers of OpenAI's and Gemini's APIs meet them (spec §4). */
import { once } from "node:events";
import { request } from "node:http";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { KeyRecord, OperationKind } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import { NO_TOKENS } from "../../../domain/usage/tokens.ts";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";
import { budgetsOn, ledgerInMemory } from "../budgets/ledger.ts";
import type { Harness } from "../harness.ts";
import { allDialects, routeOf, startGateway } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const LIST = `currency: USD
prices:
  - { model: picture, from: 2026-01-01, images: 0.04 }
  - { model: painter, from: 2026-01-01, input: 5, output: 40 }
  - { model: voice, from: 2026-01-01, characters: 15 }
  - { model: ears, from: 2026-01-01, seconds: 0.0001 }
  - { model: "any*", from: 2026-01-01, input: 5, output: 40 }
  - { model: both, from: 2026-01-01, input: 5, images: 0.04 }
`;
const ALL: readonly OperationKind[] = ["generate", "embed", "models", "images", "audio", "moderations"];

let upstream: Upstream;
let harness: Harness;
let key: string;
let main: string;

beforeAll(async () => {
  const read = parsePriceList(LIST);
  if ("faults" in read) throw new Error("the list has faults");
  upstream = await startUpstream();
  harness = await startGateway({
    budgets: (clock) => budgetsOn(ledgerInMemory().write, clock, { prices: () => read.list }),
  });
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answerWith((response) => response.end("{}"));
  harness.answered.length = 0;
  key = harness.addKey();
  const routes = [routeOf("drawn", { upstreamModel: "picture" })];
  main = harness.addGateway({ ...allDialects(upstream.url), routes, operations: ALL }).publicId;
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

type Asked = { readonly as?: string | Partial<KeyRecord>; readonly at?: string };

function ask(path: string, body: object | FormData, { as = key, at = main }: Asked = {}) {
  const isForm = body instanceof FormData;
  const type = isForm ? {} : { "content-type": "application/json" };
  return fetch(`${harness.url}/g/${at}/${path}`, {
    method: "POST",
    headers: { ...type, authorization: `Bearer ${typeof as === "string" ? as : harness.addKey(as)}` },
    body: isForm ? body : JSON.stringify(body),
  });
}

function formOf(
  fields: Readonly<Record<string, string>>,
  file: Buffer<ArrayBuffer> = Buffer.from([0, 255, 13, 10]),
): FormData {
  const form = new FormData();
  form.append("file", new Blob([file]), "a.bin");
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

const answerJson = (body: object) =>
  upstream.answerWith((response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)),
  );

const counted = async () => {
  await until("the answer is counted", () => harness.answered.length === 1);
  return harness.answered.at(-1)?.usage;
};

const json = { model: "m", prompt: "A lighthouse", input: "Hello" };
const SERVED: readonly (readonly [kind: OperationKind, path: string, body: () => object | FormData])[] = [
  ["images", "v1/images/generations", () => json],
  ["images", "v1/images/edits", () => formOf({ model: "m", prompt: "By night" })],
  ["images", "v1/images/variations", () => formOf({ model: "m" })],
  ["audio", "v1/audio/speech", () => json],
  ["audio", "v1/audio/transcriptions", () => formOf({ model: "m" })],
  ["audio", "v1/audio/translations", () => formOf({ model: "m" })],
  ["moderations", "v1/moderations", () => ({ input: "Hello" })],
];

test.each(SERVED)(
  "b370: %s: %s is served where the gateway names it, takes gateway:generate, and is 404 else",
  async (kind, path, body) => {
    expect((await ask(path, body())).status).toBe(200);
    expect(upstream.received).toMatchObject([{ method: "POST", url: `/${path}` }]);
    expect((await ask(path, body(), { as: { scopes: scopeSet(["gateway:embed"]) } })).status).toBe(403);
    const { publicId: at } = harness.addGateway(allDialects(upstream.url));
    for (const as of [{}, { scopes: scopeSet(["gateway:embed"]) }]) {
      const refused = await ask(path, body(), { at, as });
      expect(refused.status).toBe(404);
      expect(await refused.text()).toContain(
        `This gateway does not serve ${kind}: have ${kind} added to its spec.operations, which are generate, embed, models.`,
      );
    }
    expect(upstream.received).toHaveLength(1);
  },
);

test("b370: a gateway serves what it names alone: embeddings without the generation of texts, and no list of models", async () => {
  const { publicId: at } = harness.addGateway({ ...allDialects(upstream.url), operations: ["embed"] });
  expect((await ask("v1/embeddings", json, { at })).status).toBe(200);
  expect((await ask("v1/chat/completions", json, { at })).status).toBe(404);
  expect((await ask("v1beta/models/m:generateContent", json, { at })).status).toBe(404);
  const listing = await fetch(`${harness.url}/g/${at}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  expect([listing.status, await listing.text()]).toEqual([404, expect.stringContaining("does not serve models")]);
  const elsewhere = await ask("v1/none", json, { at });
  expect(await elsewhere.text()).toMatch(/This gateway serves POST v1\/embeddings, v1\/models\/\{model\}:embedContent/);
});

test("a refusal has the format of its path", async () => {
  const { publicId: at } = harness.addGateway(allDialects(upstream.url));
  const asOpenAi = await (await ask("v1/images/generations", json, { at })).json();
  expect(asOpenAi).toMatchObject({ error: { type: "invalid_request_error", message: expect.any(String) } });
});

test("OpenAI's SDK draws, edits, varies, speaks, transcribes, translates and moderates, and Google's draws", async () => {
  const openai = new OpenAI({ baseURL: `${harness.url}/g/${main}/v1`, apiKey: key });
  const picture = await toFile(Buffer.from([137, 80, 78, 71]), "a b.png", { type: "image/png" });
  const sound = await toFile(Buffer.from([255, 251]), "ü.mp3", { type: "audio/mpeg" });
  answerJson({ created: 1, data: [{ b64_json: "aGk=" }] });
  const drawn = await openai.images.generate({ model: "drawn", prompt: "A lighthouse" });
  expect(drawn.data?.[0]?.b64_json).toBe("aGk=");
  expect(JSON.parse(upstream.received[0]?.body.toString() ?? "")).toMatchObject({ model: "picture" });
  await openai.images.edit({ model: "drawn", image: [picture, picture], prompt: "By night", n: 1 });
  expect(upstream.received[1]?.body.toString("latin1")).toContain('name="model"\r\n\r\npicture\r\n');
  await openai.images.createVariation({ image: picture, model: "dall-e-2" });
  answerJson({ text: "Hi" });
  expect((await openai.audio.transcriptions.create({ model: "whisper-1", file: sound })).text).toBe("Hi");
  expect((await openai.audio.translations.create({ model: "whisper-1", file: sound })).text).toBe("Hi");
  answerJson({ id: "modr-1", model: "m", results: [{ flagged: false }] });
  expect((await openai.moderations.create({ input: "Hello" })).results[0]?.flagged).toBe(false);
  upstream.answerWith((response) => response.writeHead(200, { "content-type": "audio/mpeg" }).end("sound"));
  const spoken = await openai.audio.speech.create({ model: "tts-1", voice: "alloy", input: "Hello" });
  expect(Buffer.from(await spoken.arrayBuffer()).toString()).toBe("sound");
  const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${harness.url}/g/${main}` } });
  const parts = [{ inlineData: { mimeType: "image/png", data: "aGk=" } }];
  answerJson({ candidates: [{ content: { role: "model", parts } }], usageMetadata: { candidatesTokenCount: 1290 } });
  const painted = await google.models.generateContent({ model: "gemini-image", contents: "A lighthouse" });
  expect(painted.candidates?.[0]?.content?.parts?.[0]?.inlineData?.data).toBe("aGk=");
});

test("OpenAI's SDK raises its own error where the gateway does not serve images, and what to do is in it", async () => {
  const { publicId } = harness.addGateway(allDialects(upstream.url));
  const openai = new OpenAI({ baseURL: `${harness.url}/g/${publicId}/v1`, apiKey: key });
  const refused = openai.images.generate({ model: "m", prompt: "A lighthouse" });
  await expect(refused).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await expect(refused).rejects.toThrow("have images added to its spec.operations");
});

test("a form's model is held to the key's models, and replaced by its route's", async () => {
  const as = { allowedModels: ["drawn"] };
  expect((await ask("v1/images/edits", formOf({ model: "drawn" }), { as })).status).toBe(200);
  expect(upstream.received[0]?.body.toString("latin1")).toContain('name="model"\r\n\r\npicture\r\n');
  expect((await ask("v1/images/edits", formOf({ model: "other" }), { as })).status).toBe(403);
  expect((await ask("v1/images/edits", formOf({}), { as })).status).toBe(403);
  expect(upstream.received).toHaveLength(1);
});

const image = { b64_json: Buffer.alloc(100_000, 7).toString("base64") };

test.each<readonly [string, object, object]>([
  ["that report no tokens", { data: [image, image] }, { images: 2 }],
  [
    "that report tokens",
    { data: [image, { url: "https://x/1" }], usage: { input_tokens: 9, output_tokens: 4160, total_tokens: 4169 } },
    { images: 2, input: 9, output: 4160 },
  ],
  ["with objects in them", { data: [{ ...image, meta: [{}, {}] }], created: 1 }, { images: 1 }],
])("images of answers %s are counted", async (_, answer, tokens) => {
  answerJson(answer);
  expect(await (await ask("v1/images/generations", json)).json()).toEqual(answer);
  expect(await counted()).toEqual({
    ...{ tokens: { ...NO_TOKENS, ...tokens }, model: undefined, ending: "reported", isDoubtful: false },
  });
  expect(harness.answered[0]?.askedModel).toBe("m");
});

test("the images of a stream are counted by their ends", async () => {
  const events = [
    { type: "image_generation.partial_image", ...image },
    { type: "image_generation.completed", ...image, usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 } },
  ];
  upstream.answerWith((response) =>
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(events.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join("")),
  );
  await (await ask("v1/images/generations", { ...json, stream: true })).text();
  expect(await counted()).toMatchObject({ tokens: { images: 1, input: 3, output: 5 }, ending: "reported" });
});

test.each<readonly [string, object, object]>([
  [
    "seconds",
    { text: "Hi", usage: { type: "duration", seconds: 12 } },
    { tokens: { seconds: 12 }, ending: "reported" },
  ],
  ["begun seconds", { text: "Hi", usage: { seconds: 0.4 } }, { tokens: { seconds: 1 }, ending: "reported" }],
  [
    "seconds and tokens, as Mistral's",
    { text: "Hi", usage: { prompt_audio_seconds: 5, prompt_tokens: 4, completion_tokens: 24, total_tokens: 404 } },
    { tokens: { seconds: 5, input: 380, output: 24 }, ending: "reported" },
  ],
  [
    "tokens",
    { text: "Hi", usage: { type: "tokens", input_tokens: 14, output_tokens: 2, total_tokens: 16 } },
    { tokens: { seconds: 0, input: 14, output: 2 }, ending: "reported" },
  ],
  ["nothing", { text: "Hi" }, { tokens: NO_TOKENS, ending: "unreported" }],
])("a transcript that reports %s is counted so", async (_, answer, usage) => {
  answerJson(answer);
  await (await ask("v1/audio/transcriptions", formOf({ model: "m" }))).text();
  expect(await counted()).toMatchObject(usage);
  expect(harness.answered[0]?.askedModel).toBe("m");
});

test("a form that is larger than what is read passes, and its model is not known", async () => {
  answerJson({ data: [image] });
  const { publicId: at } = harness.addGateway({ ...allDialects(upstream.url), operations: ALL });
  expect((await ask("v1/images/edits", formOf({ model: "m" }, Buffer.alloc(33 << 20)), { at })).status).toBe(200);
  expect(await counted()).toMatchObject({ tokens: { images: 1 } });
  expect(harness.answered[0]?.askedModel).toBeUndefined();
});

test("a call in chunks is counted under the model that its body names, and is 413 beyond what is read", async () => {
  answerJson({ data: [image] });
  const { publicId: at } = harness.addGateway({ ...allDialects(upstream.url), operations: ALL });
  const inChunks = (size: number) =>
    fetch(`${harness.url}/g/${at}/v1/images/generations`, {
      ...{ method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${key}` } },
      ...{ body: new Blob([JSON.stringify(json).padEnd(size)]).stream(), duplex: "half" },
    });
  expect((await inChunks(0)).status).toBe(200);
  expect(await counted()).toMatchObject({ tokens: { images: 1 } });
  expect(harness.answered[0]?.askedModel).toBe("m");
  expect((await inChunks(33 << 20)).status).toBe(413);
  expect(upstream.received).toHaveLength(1);
});

test("a chat's seconds are none of sound", async () => {
  answerJson({ usage: { prompt_tokens: 1, completion_tokens: 1, seconds: 9 } });
  await (await ask("v1/chat/completions", json)).text();
  expect(await counted()).toMatchObject({ tokens: { seconds: 0, input: 1, output: 1 } });
});

test("the characters of a spoken text are counted, and the sound passes as it is", async () => {
  const sound = Buffer.from([255, 251, 0, 13, 10]);
  upstream.answerWith((response) => response.writeHead(200, { "content-type": "audio/mpeg" }).end(sound));
  const answer = await ask("v1/audio/speech", { model: "voice", input: 'Grüß "dich" 👋\n', voice: "alloy" });
  expect(Buffer.from(await answer.arrayBuffer()).equals(sound)).toBe(true);
  expect(await counted()).toMatchObject({ tokens: { ...NO_TOKENS, characters: 14 }, ending: "reported" });
  harness.answered.length = 0;
  const done = { type: "speech.audio.done", usage: { input_tokens: 4, output_tokens: 50, total_tokens: 54 } };
  upstream.answerWith((response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${JSON.stringify(done)}\n\n`),
  );
  await (await ask("v1/audio/speech", json)).text();
  expect(await counted()).toMatchObject({ tokens: { characters: 5, input: 4, output: 50 }, ending: "reported" });
});

test("a text that is longer than any that is spoken is counted by its bytes, and an error counts nothing", async () => {
  await (await ask("v1/audio/speech", { model: "voice", input: "ü".repeat(40_000) })).text();
  expect(await counted()).toMatchObject({ tokens: { characters: 80_002 } });
  harness.answered.length = 0;
  upstream.answerWith((response) => response.writeHead(400).end("{}"));
  expect((await ask("v1/audio/speech", json)).status).toBe(400);
  expect(harness.answered).toHaveLength(0);
});

test.each<readonly [string, object]>([
  ["none", { model: "voice" }],
  ["an empty one", { input: "" }],
  ["a list", { input: ["Hello"] }],
  ["an object", { input: { text: "Hello" } }],
  ["a number", { input: 5 }],
  ["two", { input: "Hi", INPUT: "Hello" }],
])("b371: a speech with %s for its text is refused, by whichever key", async (_, body) => {
  const refused = await ask("v1/audio/speech", body);
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("must have `input` once")]);
  expect(upstream.received).toHaveLength(0);
});

test.each(["10 ", "1_0", "\uff11\uff10", `${"0".repeat(200)}10`, "ten"])(
  "b371: a form's number of images is written in digits where it is a bound: %j is refused",
  async (n) => {
    const as = budgetOf({ tokens: 100_000 });
    expect((await ask("v1/images/edits", formOf({ n }), { as })).status).toBe(400);
    expect((await ask("v1/images/edits", formOf({ "n[]": n }), { as })).status).toBe(400);
    const refused = await ask("v1/images/edits", formOf({ "n[canary]": n }), { as });
    expect([refused.status, await refused.text()]).toEqual([400, expect.not.stringContaining("canary")]);
    expect((await ask("v1/images/edits", formOf({ n }))).status).toBe(200);
    expect(upstream.received).toHaveLength(1);
  },
);

test("b371: another model that would work on an image is refused where models matter or tokens count", async () => {
  const body = { model: "drawn", prompt: "x", output_format: "svg", svg: { model: "dear" } };
  expect((await ask("v1/images/generations", body, { as: { allowedModels: ["drawn"] } })).status).toBe(400);
  const { publicId: at } = harness.addGateway({ ...allDialects(upstream.url), operations: ALL });
  const as = budgetOf({ tokens: 100_001 });
  expect((await ask("v1/images/generations", { ...body, svg: {} }, { as, at })).status).toBe(400);
  expect(upstream.received).toHaveLength(0);
});

test("b370: a call whose gateway stops to serve its kind while its body comes goes nowhere", async () => {
  const { gatewayId, publicId } = harness.addGateway({
    ...{ ...allDialects(upstream.url), routes: [routeOf("drawn")], operations: ALL },
  });
  const body = JSON.stringify(json);
  const call = request(`${harness.url}/g/${publicId}/v1/images/generations`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-length": String(body.length) },
  });
  call.write(body.slice(0, 5));
  await until("the call is under way", () => harness.streams.size === 1);
  harness.addGateway({ ...allDialects(upstream.url), gatewayId, publicId, operations: ["generate"] });
  call.end(body.slice(5));
  const [answer] = await once(call, "response");
  expect(answer.statusCode).toBe(404);
  answer.resume();
  expect(upstream.received).toHaveLength(0);
});

const budgetOf = (amount: { readonly tokens: number } | { readonly cost: string; readonly currency: "USD" }) => {
  const item = { ...amount, period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const;
  return harness.addKey({ budgets: { owner: unique("team-a c/ns/key"), items: [item] } });
};

test("b371: a form counts by its texts, and a file in it by its bytes up to what all that a call refers to may have", async () => {
  answerJson({ data: [image], usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 } });
  const large = () => formOf({ prompt: "By night" }, Buffer.alloc(3_000_000));
  const as = budgetOf({ tokens: 16_384 + 6_240 + 20 });
  // It is charged what the answer reported.
  expect((await ask("v1/images/edits", large(), { as })).status).toBe(200);
  expect((await ask("v1/images/edits", large(), { as })).status).toBe(200);
  expect((await ask("v1/images/edits", large(), { as })).status).toBe(429);
  const three = budgetOf({ tokens: 2 * 6_240 });
  expect((await ask("v1/images/edits", formOf({ n: "3" }), { as: three })).status).toBe(429);
  expect((await ask("v1/images/edits", formOf({ n: "1" }), { as: three })).status).toBe(200);
});

test("b371: a budget of tokens is not charged for seconds and images, and for speech by the estimate", async () => {
  answerJson({ text: "Hi", usage: { type: "duration", seconds: 12 } });
  const heard = budgetOf({ tokens: 2_010 });
  for (let i = 0; i < 3; i++) {
    expect((await ask("v1/audio/transcriptions", formOf({}), { as: heard })).status).toBe(200);
  }
  upstream.answerWith((response) => response.writeHead(200, { "content-type": "audio/mpeg" }).end("sound"));
  const spoken = budgetOf({ tokens: 5_000 });
  expect((await ask("v1/audio/speech", json, { as: spoken })).status).toBe(200);
  expect((await ask("v1/audio/speech", json, { as: spoken })).status).toBe(429);
});

const DRAWN = { data: [image], usage: { input_tokens: 10, output_tokens: 6_000 } };
const DURATION = { usage: { type: "duration", seconds: 900 } };

test.each<readonly [what: string, path: string, body: () => object | FormData, answer: object | string, cost: string]>([
  // Each allows one call and refuses the next.
  ["two images", "v1/images/generations", () => ({ model: "picture", n: 2 }), { data: [image, image] }, "0.090000"],
  ["a form's images", "v1/images/edits", () => formOf({ model: "picture" }), { data: [image] }, "0.050000"],
  ["an image by its tokens", "v1/images/generations", () => ({ model: "painter" }), DRAWN, "0.300000"],
  ["images with a price and tokens without", "v1/images/generations", () => ({ model: "both" }), DRAWN, "0.050000"],
  [
    "images that report nothing, by the estimate",
    "v1/images/generations",
    () => ({ model: "any-dalle" }),
    { data: [image] },
    "0.400000",
  ],
  [
    "seconds without a price, by the estimate",
    "v1/audio/translations",
    () => formOf({ model: "any-ears" }),
    DURATION,
    "0.100000",
  ],
  [
    "tokens without a price, by the estimate",
    "v1/audio/transcriptions",
    () => formOf({ model: "ears" }, Buffer.alloc(2_000_000)),
    DRAWN,
    "0.150000",
  ],
  ["characters", "v1/audio/speech", () => ({ model: "voice", input: "x".repeat(1_000) }), "sound", "0.016000"],
  [
    "seconds",
    "v1/audio/transcriptions",
    () => formOf({ model: "ears" }, Buffer.alloc(2_000_000)),
    DURATION,
    "0.150000",
  ],
])("b145: a budget of cost pays for %s", async (_, path, body, answer, cost) => {
  upstream.answerWith((response) =>
    typeof answer === "string"
      ? response.writeHead(200, { "content-type": "audio/mpeg" }).end(answer)
      : response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer)),
  );
  const as = budgetOf({ cost, currency: "USD" });
  expect((await ask(path, body(), { as })).status).toBe(200);
  await until("the answer is counted", () => harness.answered.length === 1);
  const refused = await ask(path, body(), { as });
  expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining("budget")]);
});

test("b145: a budget of cost refuses what has no price of its unit, and a chat with a model that is paid for by images", async () => {
  const as = budgetOf({ cost: "9.000000", currency: "USD" });
  for (const [path, body] of [
    ["v1/audio/speech", { model: "picture", input: "Hello" }],
    ["v1/chat/completions", { model: "picture", messages: [] }],
  ] as const) {
    const refused = await ask(path, body, { as });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("no prices for this model")]);
  }
  expect(upstream.received).toHaveLength(0);
});
