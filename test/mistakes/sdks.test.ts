/** Mistakes with the SDKs as they come, on a real server: what their errors show says what to do. */
import { randomBytes } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import { type Scope, scopeSet } from "../../domain/access/scopes.ts";
import { mintKey, PREFIX_LENGTH } from "../../domain/key/secret/key-format.ts";
import { products } from "../../processes/products.ts";
import { allDialects, routeOf, upstreamOf } from "../server/gateway/gateway.ts";
import { startUpstream, type Upstream } from "../server/gateway/upstream.ts";
import { type Harness, startHarness } from "../server/harness.ts";
import { SDK_MISTAKES } from "./sdks.rows.ts";

const GATEWAY_SCOPES: readonly Scope[] = ["gateway:generate", "gateway:embed", "gateway:routes"];
const MEMORY_SCOPES: readonly Scope[] = ["memory:read", "memory:write"];

let upstream: Upstream;
let harness: Harness;

beforeAll(async () => {
  upstream = await startUpstream((response) => response.writeHead(401).end("{}"));
  harness = await startHarness({ mounts: products() });
  harness.addGateway({
    ...allDialects(upstream.url),
    publicId: "research-main",
    routes: [routeOf("fast-chat"), routeOf("claude", { upstream: "anthropic" })],
  });
  harness.addGateway({
    upstreams: [upstreamOf(upstream.url)],
    publicId: "research-openai",
    routes: [routeOf("fast-chat")],
    routesOnly: true,
  });
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

/** A key whose prefix, which messages show, is always the same. */
function keyOf(scopes: readonly Scope[], fields: Partial<KeyRecord> = {}): string {
  const key = mintKey((size) => randomBytes(size).fill(0, 0, PREFIX_LENGTH));
  return harness.addKey({ scopes: scopeSet(scopes), ...fields }, key);
}
const gatewayKey = (fields?: Partial<KeyRecord>) => keyOf(GATEWAY_SCOPES, fields);

/** @param path of the base URL */
function askOpenai(path: string, apiKey = gatewayKey(), model = "gpt-x") {
  const client = new OpenAI({ apiKey, baseURL: harness.url + path, maxRetries: 0 });
  return client.chat.completions.create({ model, messages: [{ role: "user", content: "hello" }] });
}

function askAnthropic(path: string, apiKey = gatewayKey()) {
  const client = new Anthropic({ apiKey, baseURL: harness.url + path });
  return client.messages.create({ model: "claude", max_tokens: 8, messages: [{ role: "user", content: "hello" }] });
}

function askGoogle(path: string, apiKey = gatewayKey()) {
  const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: harness.url + path } });
  return client.models.generateContent({ model: "gemini", contents: "hello" });
}

async function connectMcp(path: string, key = keyOf(MEMORY_SCOPES)) {
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  const client = new Client({ name: "an-agent", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(harness.url + path), { requestInit }));
}

const MAIN = "/g/research-main";

/** Each row's call, by what is done in it. */
const CALLS: Readonly<Record<(typeof SDK_MISTAKES)[number]["done"], () => Promise<unknown>>> = {
  "The base URL ends in the public id, without /v1.": () => askOpenai(MAIN),
  "The base URL ends in /v1 twice.": () => askOpenai(`${MAIN}/v1/v1`),
  "The base URL is the URL of the endpoint, with /v1/chat/completions.": () => askOpenai(`${MAIN}/v1/chat/completions`),
  "The base URL is the server's, http://127.0.0.1:8080/v1, and names no gateway.": () => askOpenai("/v1"),
  "The key is one for the memory.": () => askOpenai(`${MAIN}/v1`, keyOf(MEMORY_SCOPES)),
  "The key is bound to another gateway.": () => {
    const { gatewayId } = harness.addGateway({ publicId: "billing-main" });
    return askOpenai(`${MAIN}/v1`, gatewayKey({ boundGatewayId: gatewayId }));
  },
  "The key may be used from another network alone.": () =>
    askOpenai(`${MAIN}/v1`, gatewayKey({ allowedCIDRs: ["203.0.113.0/24"] })),
  "The key has been revoked.": () => askOpenai(`${MAIN}/v1`, gatewayKey({ state: "revoked" })),
  "The key allows one model, and another is asked for.": () =>
    askOpenai(`${MAIN}/v1`, gatewayKey({ allowedModels: ["fast-chat"] })),
  "The model is none of the routes of a gateway that serves its routes alone.": () =>
    askOpenai("/g/research-openai/v1"),
  "The model is a route to an upstream of Anthropic.": () => askOpenai(`${MAIN}/v1`, gatewayKey(), "claude"),
  "The key's rate limit is used up.": async () => {
    const limited = gatewayKey({ rateLimit: { requestsPerMinute: 1, burst: 1, scope: "Replica" } });
    await expect(askOpenai(`${MAIN}/v1`, limited)).rejects.toMatchObject({ status: 502 });
    return askOpenai(`${MAIN}/v1`, limited);
  },
  "The provider refuses the credential of the gateway.": () => askOpenai(`${MAIN}/v1`),
  "The base URL ends in /v1, as with OpenAI's SDK.": () => askAnthropic(`${MAIN}/v1`),
  "The key is the provider's own.": () => askAnthropic(MAIN, "sk-ant-0123456789"),
  "The gateway has upstreams of OpenAI alone.": () => askAnthropic("/g/research-openai"),
  "The base URL ends in a version, /v1beta.": () => askGoogle(`${MAIN}/v1beta`),
  "The key is one for a gateway.": () => connectMcp("/api/v1/memory/mcp", gatewayKey()),
  "The URL is that of an earlier transport, /sse.": () => connectMcp("/sse"),
  "The URL is the server's, without a path.": () => connectMcp("/"),
};

test.each(SDK_MISTAKES)("$client: $done", async ({ done, says }) => {
  const refusal = await CALLS[done]().then(
    () => "not refused",
    (error: Error) => error.message,
  );
  expect(refusal.replace(/\breq_[\w-]+/, "req_...")).toBe(says);
});

test("each mistake has one call", () => {
  expect(SDK_MISTAKES.map(({ done }) => done)).toEqual(Object.keys(CALLS));
});
