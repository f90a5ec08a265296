import { assert, property, string } from "fast-check";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { GatewayRecord } from "../../../domain/access/key-record.ts";
import { unservedPath } from "../../../server/gateway/unserved-path.ts";
import type { Harness } from "../harness.ts";
import { startGateway, upstreamOf } from "./gateway.ts";

const URL = "http://127.0.0.1:9";
const GATEWAY: GatewayRecord = {
  ...{ gatewayId: "gw", publicId: "a-main", teamId: "team-a", teamHoldsNamespace: true, routesOnly: false },
  operations: ["generate", "embed", "models"],
  upstreams: [upstreamOf(URL)],
  routes: [],
};
const OPENAI = "OpenAI's SDKs take a base URL that ends in /v1";
const SERVED =
  "This gateway serves POST v1/chat/completions, v1/completions, v1/responses, v1/embeddings; GET v1/models, v1/models/{model}.";

test.each([
  ["chat/completions", "POST /g/a-main/v1/chat/completions"],
  ["v1/v1/chat/completions", "POST /g/a-main/v1/chat/completions"],
  ["v1/chat/completions/", "POST /g/a-main/v1/chat/completions"],
  ["v1//chat/completions", "POST /g/a-main/v1/chat/completions"],
  ["v2/chat/completions", "POST /g/a-main/v1/chat/completions"],
  ["openai/v1/responses", "POST /g/a-main/v1/responses"],
  ["v1beta/openai/embeddings", "POST /g/a-main/v1/embeddings"],
  ["models", "GET /g/a-main/v1/models"],
  ["models/gpt-9", "GET /g/a-main/v1/models/{model}"],
])("names the served path nearest to %s", (path, nearest) => {
  expect(unservedPath(GATEWAY, "POST", path).detail).toBe(
    `There is nothing at this path. The nearest is ${nearest}: ${OPENAI}. ${SERVED}`,
  );
});

test.each([
  [
    "messages",
    "POST /g/a-main/v1/messages: Anthropic's SDKs take a base URL that ends in the public id, and @ai-sdk/anthropic one that ends in /v1.",
  ],
  [
    "v1beta/v1beta/models/gemini-x:generateContent",
    "POST /g/a-main/v1beta/models/{model}:generateContent: Google's SDKs take a base URL that ends in the public id, and @ai-sdk/google one that ends in /v1beta.",
  ],
])("says of %s how the clients of its format write the base URL", (path, nearest) => {
  const all = { ...GATEWAY, upstreams: [upstreamOf(URL), upstreamOf(URL, "anthropic"), upstreamOf(URL, "gemini")] };
  expect(unservedPath(all, "POST", path).detail).toContain(`The nearest is ${nearest} `);
  expect(unservedPath(GATEWAY, "POST", path).detail, "no upstream speaks it").toBe(
    `There is nothing at this path. ${SERVED}`,
  );
});

test.each([
  ["v1beta/models/models/gemini-x:generateContent", "POST /g/a-main/v1/models/{model}:generateContent"],
  ["v1beta/models//gemini-x:generateContent", "POST /g/a-main/v1beta/models/{model}:generateContent"],
  ["v1/models/v1beta/models/gemini-x:countTokens", "POST /g/a-main/v1beta/models/{model}:countTokens"],
  ["v1/models/gemini-x:generateContent/", "POST /g/a-main/v1/models/{model}:generateContent"],
  ["v1/models/v1/chat/completions", "POST /g/a-main/v1/chat/completions"],
  ["v1beta/models/openai/chat/completions", "POST /g/a-main/v1/chat/completions"],
  ["v1/models/v1/models", "GET /g/a-main/v1/models"],
  ["v1beta/models/google/gemini-x:generateContent", "none"],
  ["v1beta/models/google%2Fgemini-x:generateContent", "none"],
  ["v1/models/meta-llama/Llama-3.3-70B", "none"],
  ["models/meta-llama/Llama-3.3-70B", "none"],
  ["v1/models/gemini-x:generateAnswer", "none"],
])("the path nearest to a POST of %s is %s, and not that of reading a model", (path, nearest) => {
  const all = { ...GATEWAY, upstreams: [upstreamOf(URL), upstreamOf(URL, "gemini")] };
  const { detail, headers } = unservedPath(all, "POST", path);
  expect(headers?.allow).toBeUndefined();
  const advice = nearest === "none" ? "This gateway serves " : `The nearest is ${nearest}: `;
  expect(detail).toContain(`There is nothing at this path. ${advice}`);
});

test.each(["v1/models/gpt-9", "v1/models/llama3.2:3b", "v1beta/models/gemini-x"])(
  "a POST of the model %s is answered that GET reads it",
  (path) => {
    expect(unservedPath(GATEWAY, "POST", path).headers).toEqual({ allow: "GET" });
  },
);

test("a DELETE of a model whose id has a slash is answered that GET reads it, and a GET without a version by which path", () => {
  expect(unservedPath(GATEWAY, "DELETE", "v1/models/ft:gpt/acme").headers).toEqual({ allow: "GET" });
  expect(unservedPath(GATEWAY, "GET", "models/meta-llama/Llama-3.3-70B").detail).toContain(
    "The nearest is GET /g/a-main/v1/models/{model}: ",
  );
});

test("names no nearest path where there is none, and serves what the upstreams speak", () => {
  for (const path of ["v1/containers", "admin/keys", "", undefined]) {
    expect(unservedPath(GATEWAY, "POST", path).detail).toBe(`There is nothing at this path. ${SERVED}`);
  }
  const both = { ...GATEWAY, upstreams: [upstreamOf(URL, "anthropic"), upstreamOf(URL, "gemini")] };
  const { detail } = unservedPath(both, "POST", "v1/containers");
  expect(detail).toBe(
    "There is nothing at this path. This gateway serves POST v1/messages, v1/messages/count_tokens, v1/models/{model}:generateContent, :streamGenerateContent, :countTokens, :embedContent, :batchEmbedContents; GET v1/models, v1/models/{model}. Under v1beta it serves the paths of models too.",
  );
});

test("a path that is longer than any that is served is compared with none", () => {
  expect(unservedPath(GATEWAY, "POST", `${"x".repeat(15_000)}/chat/completions`).detail).toBe(
    `There is nothing at this path. ${SERVED}`,
  );
});

test("a method that a served path does not take is answered with those that it takes", () => {
  const shown = unservedPath(GATEWAY, "GET", "v1/chat/completions");
  expect(shown).toMatchObject({ status: 404, headers: { allow: "POST" } });
  expect(shown.detail).toBe(`This path is served to POST alone. ${SERVED}`);
  expect(unservedPath(GATEWAY, "POST", "v1/models").headers).toEqual({ allow: "GET" });
});

test("repeats nothing of any path", () => {
  const known = unservedPath(GATEWAY, "POST", "models/x:countTokens").detail;
  expect(known).not.toContain("x:");
  assert(
    property(string({ minLength: 3, maxLength: 40 }), (text) => {
      for (const path of [`models/Q7${text}`, `v1/Q7${text}/chat/completions`, `Q7${text}`]) {
        expect(unservedPath(GATEWAY, "POST", path).detail).not.toContain("Q7");
      }
    }),
  );
});

describe("under /g/", () => {
  let harness: Harness;
  let key: string;
  let id: string;

  beforeEach(async () => {
    harness = await startGateway();
    id = harness.addGateway({ upstreams: [upstreamOf(URL), upstreamOf(URL, "anthropic")] }).publicId;
    key = harness.addKey();
  });
  afterEach(() => harness.close());

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${harness.url}/g/${id}/${path}`, { method: "POST", headers: { authorization: `Bearer ${key}` }, ...init });

  it("a path that is not served is 404 in the format of its caller, and says where to go", async () => {
    const openai = await ask("chat/completions");
    expect(openai.status).toBe(404);
    expect(await openai.json()).toMatchObject({
      error: { code: "not_found", message: expect.stringContaining(`POST /g/${id}/v1/chat/completions: ${OPENAI}`) },
    });
    const anthropic = await ask("v1/v1/messages", { headers: { "x-api-key": key, "anthropic-version": "2023-06-01" } });
    expect(await anthropic.json()).toMatchObject({
      type: "error",
      error: { type: "not_found_error", message: expect.stringContaining(`POST /g/${id}/v1/messages: Anthropic's`) },
    });
  });

  it("a method that is not served is 404 with the ones that are", async () => {
    const answer = await ask("v1/messages", { method: "PUT" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([404, "POST"]);
  });

  it("a key that stands in the path is not shown, and a caller without a key learns nothing", async () => {
    expect(await (await ask(`${key}/v1/chat/completions`)).text()).not.toContain(key);
    const unknown = await ask("chat/completions", { headers: {} });
    expect(unknown.status).toBe(401);
    expect(await unknown.text()).not.toContain("v1/");
  });
});
