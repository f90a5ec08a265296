import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Dialect } from "../../../domain/access/key-record.ts";
import type { Harness } from "../harness.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
let key: string;
beforeAll(async () => {
  upstream = await startUpstream((response) => response.setHeader("content-type", "application/json").end("{}"));
  harness = await startGateway();
  key = harness.addKey();
});
beforeEach(() => {
  upstream.received.length = 0;
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

/** Serves an upstream with this path in its base URL, and returns the URL that an SDK is given. */
function serve(path: string, dialect: Dialect): string {
  return `${harness.url}/g/${harness.addGateway({ upstreams: [upstreamOf(`${upstream.url}${path}`, dialect)] }).publicId}`;
}
const asked = () => upstream.received.map(({ url }) => url);

const VERTEX = "/v1/projects/p/locations/europe-west4/endpoints/openapi";

describe("b394: OpenAI's SDK asks each provider for the path of its own base URL", () => {
  test.each([
    ["OpenAI", "", "/v1"],
    ["OpenAI, with the version", "/v1", "/v1"],
    ["Groq", "/openai/v1", "/openai/v1"],
    ["Gemini", "/v1beta/openai", "/v1beta/openai"],
    ["Gemini, with a slash", "/v1beta/openai/", "/v1beta/openai"],
    ["Azure", "/openai/v1", "/openai/v1"],
    ["Azure, with a slash", "/openai/v1/", "/openai/v1"],
    ["Azure, without the version", "/openai", "/openai/v1"],
    ["a project of Azure", "/api/projects/p/openai/v1", "/api/projects/p/openai/v1"],
    ["Vertex", VERTEX, VERTEX],
    ["Vertex, in beta", VERTEX.replace("/v1", "/v1beta1"), VERTEX.replace("/v1", "/v1beta1")],
    ["Z.ai", "/api/paas/v4", "/api/paas/v4"],
    ["DeepInfra", "/v1/openai", "/v1/openai"],
    ["Cloudflare", "/v1/account/gateway/openai", "/v1/account/gateway/openai"],
    ["vLLM", "/v1", "/v1"],
  ])("%s at %s", async (_provider, path, prefix) => {
    const client = new OpenAI({ apiKey: key, baseURL: `${serve(path, "openai")}/v1`, maxRetries: 0 });
    await client.chat.completions.create({ model: "google/m", messages: [] });
    await client.embeddings.create({ model: "m", input: "a", encoding_format: "float" });
    await client.responses.create({ model: "m", input: "a", store: false });
    expect(asked()).toEqual([`${prefix}/chat/completions`, `${prefix}/embeddings`, `${prefix}/responses`]);
  });
});

describe("b394: the SDKs of the other formats", () => {
  test.each([
    ["", "/v1"],
    ["/v1", "/v1"],
    ["/v1/", "/v1"],
    ["/anthropic", "/anthropic/v1"],
    ["/api/anthropic/v1", "/api/anthropic/v1"],
  ])("Anthropic's, with the base URL %s", async (path, prefix) => {
    const client = new Anthropic({ apiKey: key, baseURL: serve(path, "anthropic"), maxRetries: 0 });
    await client.messages.create({ model: "m", max_tokens: 1, messages: [{ role: "user", content: "a" }] });
    expect(asked()).toEqual([`${prefix}/messages`]);
  });

  test.each([
    ["", "v1beta", "/v1beta"],
    ["", "v1", "/v1"],
    ["/v1beta", "v1beta", "/v1beta"],
    ["/v1beta", "v1", "/v1beta"],
    ["/v1beta/", "v1", "/v1beta"],
    ["/v1", "v1beta", "/v1"],
    ["/api/v1", "v1beta", "/api/v1/v1beta"],
    ["/v1/account/gateway/google-ai-studio", "v1beta", "/v1/account/gateway/google-ai-studio/v1beta"],
  ])("Google's, with the base URL %s and the version %s", async (path, apiVersion, prefix) => {
    const client = new GoogleGenAI({ apiKey: key, apiVersion, httpOptions: { baseUrl: serve(path, "gemini") } });
    await client.models.generateContent({ model: "m", contents: "a" });
    expect(asked()).toEqual([`${prefix}/models/m:generateContent`]);
  });
});
