import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { type ModelStub, startModelStub } from "../../../examples/model-stub/stub.ts";
import type { Harness } from "../harness.ts";
import { allDialects, routeOf, startGateway } from "./gateway.ts";

// The SDKs are used as they come: only the base URL and the key are ours, retries and all else their defaults.

let stub: ModelStub;
let harness: Harness;
let base: string;
let key: string;

beforeAll(async () => {
  stub = await startModelStub();
  harness = await startGateway();
  const { publicId } = harness.addGateway({
    ...allDialects(stub.url),
    routes: [
      routeOf("fast-chat"),
      routeOf("fast-gemini", { upstream: "gemini", upstreamModel: "gemini-real" }),
      routeOf("fast-claude", { upstream: "anthropic", upstreamModel: "claude-real" }),
    ],
  });
  base = `${harness.url}/g/${publicId}`;
  key = harness.addKey();
});
afterAll(async () => {
  await harness.close();
  await stub.close();
});

const openai = (apiKey = key) => new OpenAI({ baseURL: `${base}/v1`, apiKey });
const gemini = (apiKey = key) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base } });
const anthropic = (apiKey = key) => new Anthropic({ baseURL: base, apiKey });
const hello = [{ role: "user" as const, content: "hello" }];

test("openai: chat, with the model of its own and by a logical route", async () => {
  const plain = await openai().chat.completions.create({ model: "gpt-x", messages: hello });
  expect(plain.choices[0]?.message.content).toBe("I am a stub, not a model. You asked for gpt-x.");
  const { data, response } = await openai()
    .chat.completions.create({ model: "fast-chat", messages: hello })
    .withResponse();
  expect(data.choices[0]?.message.content).toMatch("real-fast-chat");
  expect(response.headers.get("x-keyplane-route-id")).toBe("rt-fast-chat");
});

test("openai: streams of chat, completions and responses arrive whole and in order", async () => {
  const chat = await openai().chat.completions.create({ model: "gpt-x", messages: hello, stream: true });
  let text = "";
  for await (const chunk of chat) text += chunk.choices[0]?.delta.content ?? "";
  expect(text).toBe("I am a stub, not a model. You asked for gpt-x.");

  let completed = "";
  for await (const chunk of await openai().completions.create({ model: "gpt-x", prompt: "hello", stream: true })) {
    completed += chunk.choices[0]?.text ?? "";
  }
  expect(completed).toBe(text);

  const stream = openai().responses.stream({ model: "fast-chat", input: "hello" });
  expect((await stream.finalResponse()).output_text).toMatch("real-fast-chat");
});

test("openai: responses, completions and embeddings", async () => {
  expect((await openai().responses.create({ model: "gpt-x", input: "hello" })).output_text).toMatch("gpt-x");
  expect((await openai().completions.create({ model: "gpt-x", prompt: "hello" })).choices[0]?.text).toMatch("gpt-x");
  const { data } = await openai().embeddings.create({ model: "fast-chat", input: ["a", "b"] });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([64, 64]);
});

test("openai: the gateway's routes of its format are its models", async () => {
  const models = [];
  for await (const { id } of openai().models.list()) models.push(id);
  expect(models).toEqual(["fast-chat"]);
  expect(await openai().models.retrieve("fast-chat")).toMatchObject({ id: "fast-chat", object: "model" });
});

test("openai: a refusal is the SDK's own error class", async () => {
  const bad = openai("inf_nonsense").chat.completions.create({ model: "gpt-x", messages: hello });
  await expect(bad).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  await expect(bad).rejects.toMatchObject({ status: 401, code: "unauthorized" });
  const embedder = harness.addKey({ scopes: scopeSet(["gateway:embed"]) });
  const forbidden = openai(embedder).chat.completions.create({ model: "gpt-x", messages: hello });
  await expect(forbidden).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
  await expect(forbidden).rejects.toMatchObject({ code: "forbidden" });
  await expect(openai().models.retrieve("nothing")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
});

test("@google/genai: generation, streaming and token counts, by path and by route", async () => {
  const contents = "hello";
  expect((await gemini().models.generateContent({ model: "gemini-x", contents })).text).toMatch("gemini-x");
  const routed = await gemini().models.generateContent({ model: "fast-gemini", contents });
  expect(routed.text).toMatch("gemini-real");
  let text = "";
  for await (const chunk of await gemini().models.generateContentStream({ model: "fast-gemini", contents })) {
    text += chunk.text ?? "";
  }
  expect(text).toBe("I am a stub, not a model. You asked for gemini-real.");
  expect((await gemini().models.countTokens({ model: "gemini-x", contents })).totalTokens).toBeGreaterThan(0);
});

test("@google/genai: embeddings through a route, whose model the SDK repeats in the body", async () => {
  const { embeddings } = await gemini().models.embedContent({ model: "fast-gemini", contents: ["a", "b"] });
  expect(embeddings?.map(({ values }) => values?.length)).toEqual([64, 64]);
});

test("@google/genai: the gateway's routes of its format are its models", async () => {
  const models = [];
  for await (const { name } of await gemini().models.list()) models.push(name);
  expect(models).toEqual(["models/fast-gemini"]);
  expect((await gemini().models.get({ model: "fast-gemini" })).name).toBe("models/fast-gemini");
});

test("@google/genai: a refusal is an ApiError with the status", async () => {
  const contents = "hello";
  const bad = gemini("inf_nonsense").models.generateContent({ model: "gemini-x", contents });
  await expect(bad).rejects.toMatchObject({ name: "ApiError", status: 401, message: /UNAUTHENTICATED/ });
  const reader = harness.addKey({ scopes: scopeSet(["gateway:routes"]) });
  const forbidden = gemini(reader).models.generateContent({ model: "gemini-x", contents });
  await expect(forbidden).rejects.toMatchObject({ status: 403, message: /PERMISSION_DENIED/ });
});

test("@anthropic-ai/sdk: messages, streaming and token counts, by model and by route", async () => {
  const ask = { max_tokens: 64, messages: hello };
  const plain = await anthropic().messages.create({ model: "claude-x", ...ask });
  expect(plain.content).toMatchObject([{ type: "text", text: "I am a stub, not a model. You asked for claude-x." }]);
  const routed = await anthropic()
    .messages.stream({ model: "fast-claude", ...ask })
    .finalText();
  expect(routed).toMatch("claude-real");
  const counted = await anthropic().messages.countTokens({ model: "fast-claude", messages: hello });
  expect(counted.input_tokens).toBeGreaterThan(0);
});

test("@anthropic-ai/sdk: the gateway's routes of its format are its models", async () => {
  const models = [];
  for await (const { id } of anthropic().models.list()) models.push(id);
  expect(models).toEqual(["fast-claude"]);
  expect((await anthropic().models.retrieve("fast-claude")).display_name).toBe("fast-claude");
});

test("@anthropic-ai/sdk: a refusal is the SDK's own error class", async () => {
  const ask = { model: "claude-x", max_tokens: 64, messages: hello };
  await expect(anthropic("inf_nonsense").messages.create(ask)).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
  const embedder = harness.addKey({ scopes: scopeSet(["gateway:embed"]) });
  await expect(anthropic(embedder).messages.create(ask)).rejects.toBeInstanceOf(Anthropic.PermissionDeniedError);
  await expect(anthropic().models.retrieve("nothing")).rejects.toBeInstanceOf(Anthropic.NotFoundError);
});

test("no key of ours is in any line of the log", () => {
  expect(harness.lines.join("\n")).not.toContain(key.slice(12));
});
