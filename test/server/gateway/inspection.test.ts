import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Harness } from "../harness.ts";
import { allDialects, routeOf, startGateway } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
let key: string;
let routed: string;

beforeAll(async () => {
  upstream = await startUpstream();
  harness = await startGateway();
  routed = harness.addGateway({ ...allDialects(upstream.url), routes: [routeOf("fast")] }).publicId;
  key = harness.addKey();
});
beforeEach(() => {
  upstream.received.length = 0;
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, as = key) =>
  fetch(`${harness.url}/g/${path}`, {
    method: "POST",
    body,
    headers: { "x-api-key": as, "content-type": "application/json", ...headers },
  });

test.each([
  ["members", `{"model":"fast","x":{${'"a":1,'.repeat(1_000_001)}"z":1}}`, "more than 1000000 members and elements"],
  ["top members", `{"model":"fast",${'"a":1,'.repeat(20_001)}"z":1}`, "more than 20000 members where a model"],
  ["elements", `{"model":"fast","input":[${"1,".repeat(1_000_001)}1]}`, "more than 1000000 members and elements"],
  ["levels", `{"model":"fast","input":${"[".repeat(300)}${"]".repeat(300)}}`, "nested more than 256 deep"],
])("b83: a body of too many %s is 400, says the bound, and goes nowhere", async (_what, body, says) => {
  const answer = await post(`${routed}/v1/embeddings`, body);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(says);
  expect(upstream.received).toHaveLength(0);
});

test("b83: a body that names too many models is 400 and goes nowhere", async () => {
  const body = `{"requests":[${'{"model":"models/gem"},'.repeat(1_001)}{"model":"models/gem"}]}`;
  const answer = await post(`${routed}/v1beta/models/gem:batchEmbedContents`, body);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("more than 1000 models: send fewer requests");
  expect(upstream.received).toHaveLength(0);
});

test("b83: a body at the bounds reaches its upstream, its model replaced and nothing else", async () => {
  const rest = `"input":[${"1,".repeat(999_996)}1],"text":"${'\\"'.repeat(1 << 20)}"}`;
  expect((await post(`${routed}/v1/embeddings`, `{"model":"fast",${rest}`)).status).toBe(200);
  const sent = Buffer.from(`{"model":"real-fast",${rest}`);
  expect(upstream.received[0]?.body.equals(sent)).toBe(true);
  expect(upstream.received[0]?.headers["content-length"]).toBe(String(sent.length));
});

const GEMINI = "v1beta/models/gem";

test.each([
  ["chat/completions", '{"model":"m","models":["m","other"]}'],
  ["chat/completions", '{"model":"m","fallbacks":["other"]}'],
  ["chat/completions", '{"model":"m","Models":["other"]}'],
  ["chat/completions", '{"model":"m","fall_backs":["other"]}'],
  ["chat/completions", '{"model":"m","\\u006dodel":"other"}'],
  ["chat/completions", '{"model":"m","MODEL":"other"}'],
  ["chat/completions", '{"model":"m","_model":"other"}'],
  ["chat/completions", '{"model":"m","model\\u0000":"other"}'],
  ["chat/completions", '{"model":"m","model\\u0000x":"other"}'],
  ["chat/completions", '{"model":"m","engine\\u0000x":"other"}'],
  ["chat/completions", '{"model":"m","model ":"other"}'],
  ["chat/completions", '{"model":"m","fallbac\u212as":["other"]}'],
  ["responses", '{"model":"m","tools":[{"type":"image_generation","model":"other"}]}'],
  ["responses", '{"model":"m","tools":[{"type":"openrouter:fusion","parameters":{"model":"other"}}]}'],
  ["responses", '{"model":"m","tools":[{"type":"image_generation","svg":{"model":"other"}}]}'],
  ["responses", '{"model":"m","moderation":{"model":"other"}}'],
  [
    "responses",
    '{"model":"m","input":[{"type":"additional_tools","tools":[{"type":"image_generation","model":"other"}]}]}',
  ],
  [
    "responses",
    '{"model":"m","input":[{"type":"tool_search_output","Tools":[{"type":"image_generation","model":"other"}]}]}',
  ],
  [
    "messages",
    '{"model":"m","messages":[{"content":[{"type":"tool_addition","tool":{"definition":{"type":"advisor","model":"other"}}}]}]}',
  ],
  [
    "messages",
    '{"model":"m","messages":[{"content":[{"tool_changes":[{"tool":{"definition":{"type":"advisor","model":"other"}}}]}]}]}',
  ],
  [
    "chat/completions",
    '{"model":"m","tools":[{"type":"openrouter:fusion","parameters":{"analysis_models":["other"]}}]}',
  ],
])(
  "b91: POST v1/%s of %s names a model beside the one that is decided on: 400, and nothing is sent",
  async (path, body) => {
    for (const [id, as] of restricted()) {
      expect((await post(`${id}/v1/${path}`, body, {}, as)).status).toBe(400);
    }
    expect(upstream.received).toHaveLength(0);
  },
);

test.each([
  ["generateContent", '{"model":"models/other"}'],
  ["generateContent", '{"Model":"models/gem"}'],
  ["generateContent", '{"models":["gem"]}'],
  ["streamGenerateContent", '{"model":"other"}'],
  ["generateContent", '{"generationConfig":{"routingConfig":{"manualMode":{"modelName":"other"}}}}'],
  ["generateContent", '{"generation_config":{"routing_config":{"manualMode":{"modelName":"other"}}}}'],
  ["countTokens", '{"generate_content_request":{"model":"models/other"}}'],
  [
    "countTokens",
    '{"generateContentRequest":{"model":"models/gem"},"generate_content_request":{"model":"models/other"}}',
  ],
  ["countTokens", '{"generateContentRequest":{"model":"models/gem","fallbacks":["other"]}}'],
  ["countTokens", '{"GenerateContentRequest":{"model":"models/other"}}'],
  ["batchEmbedContents", '{"requests":[{"model":"models/gem"},{"model":"models/other"}]}'],
  ["batchEmbedContents", '{"Requests":[{"model":"models/other"}]}'],
  ["batchEmbedContents", '{"requests":[{"_model":"models/other"}]}'],
  ["batchEmbedContents", '{"requeſts":[{"model":"models/other"}]}'],
])("b91: Gemini's %s of %s names another model than its path: 400, and nothing is sent", async (action, body) => {
  for (const [id, as] of restricted()) {
    expect((await post(`${id}/${GEMINI}:${action}`, body, {}, as)).status).toBe(400);
  }
  expect(upstream.received).toHaveLength(0);
});

test.each([
  ["model=other"],
  ["alt=sse&Model=m"],
  ["%6dodel=other"],
  ["%256dodel=other"],
  ["requests.model=other"],
  ["generate_content_request.model=other"],
  ["fallbacks=other"],
  ["models[]=other"],
])("b91: the query %s names a model: 400, and nothing is sent", async (query) => {
  for (const [id, as] of restricted()) {
    expect((await post(`${id}/v1/chat/completions?${query}`, '{"model":"m"}', {}, as)).status).toBe(400);
    expect((await post(`${id}/${GEMINI}:generateContent?${query}`, "{}", {}, as)).status).toBe(400);
  }
  expect(upstream.received).toHaveLength(0);
});

test.each([
  ["x=1;model=other"],
  ["x=1%3Bmodel=other"],
  ["x=1%26model%3Dother"],
  ["x=1%253Bmodel=other"],
  ["x=1;%4dodel[]=other"],
  ["mode%6C%2Bx;+model+=other"],
  ["%u006dodel=other"],
  ["x%3Dy[model]=other"],
  ["%3Dmodel=other"],
  ["model"],
  ["deployment=other"],
  ["alt=sse;Deployment_ID=other"],
  ["deployment-id=other"],
  ["deploymentId[]=other"],
  ["engine=other"],
  ["eng%C4%B1ne=other"],
  ["%c5%bf;engine.name=other"],
  ["model_id=other"],
  ["model_name=other"],
  ["model_list[0][model_name]=other"],
  ["context_window_fallbac%E2%84%AAs=other"],
  ["content_policy_fallbacks=other"],
  ["extra_body[Engine]=other"],
  ["user_config=%7B%7D"],
  ["draft-model=other"],
  ["azureml-model-deployment=other"],
  ["fallback_models=other"],
  ["generationConfig.routingConfig.manualMode.x=other"],
])("b113: the query %s names a model: 400, and nothing is sent", async (query) => {
  for (const [id, as] of restricted()) {
    expect((await post(`${id}/v1/chat/completions?${query}`, '{"model":"m"}', {}, as)).status).toBe(400);
    expect((await post(`${id}/${GEMINI}:generateContent?${query}`, "{}", {}, as)).status).toBe(400);
  }
  expect(upstream.received).toHaveLength(0);
});

test.each([
  ["alt=sse&api-version=2026-10-01"],
  ["a=b;c=d&order=model"],
  ["filter=remodel%3Bengines=2"],
  ["x=100%25&y=%zz&engineering=deployment"],
])("b113: the query %s names none, and goes upstream as it is", async (query) => {
  for (const [id, as] of restricted()) {
    expect((await post(`${id}/v1/chat/completions?${query}`, '{"model":"m"}', {}, as)).status).toBe(200);
    expect(upstream.received.at(-1)?.url).toBe(`/v1/chat/completions?${query}`);
  }
});

test.each([
  ['"deployment":"other"'],
  ['"deployment_id":"other"'],
  ['"deploymentId":"other"'],
  ['"engine":"other"'],
  ['"Engine":"other"'],
  ['"eng\\u0131ne":"other"'],
  ['"model_id":"other"'],
  ['"model_name":"other"'],
  ['"model_list":[{"model_name":"m"}]'],
  ['"context_window_fallbacks":[{"m":["other"]}]'],
  ['"context_window_fallback_dict":{"m":"other"}'],
  ['"content_policy_fallbacks":[{"m":["other"]}]'],
  ['"extra_body":{"model":"other"}'],
  ['"extra_body":{"engine":"other"}'],
  ['"user_config":{"model_list":[{"model_name":"m","litellm_params":{"model":"other"}}]}'],
  ['"extra_body":{"user_config":{"model_list":[]}}'],
  ['"router_settings_override":{"fallbacks":[{"m":["other"]}]}'],
  ['"draft_model":"other"'],
  ['"adapters":"other"'],
  ['"lora_path":"other"'],
  ['"extra_body":{"loraPath":["other"]}'],
  ['"lora":[{"id":0,"scale":1}]'],
  ['"compound_custom":{"models":{"answering_model":"other"}}'],
  ['"providerOptions":{"gateway":{"models":["other"]}}'],
  ['"provider_options":{"Gateway":{"model":"other"}}'],
  ['"plugins":[{"id":"fusion","analysis_models":["other"]}]'],
  ['"plugins":[{"id":"fusion","model":"other"}]'],
  ['"preset":"other"'],
  ['"prompt_id":"of-another-model"'],
  ['"fallback_models":["other"]'],
  ['"extra_body":{"extra_body":{"model":"other"}}'],
  ['"extra_body":{"plugins":[{"id":"fusion","analysis_models":["other"]}]}'],
])("b113: a body with %s names a model beside the one that is decided on: 400, and nothing is sent", async (member) => {
  for (const [id, as] of restricted()) {
    expect((await post(`${id}/v1/chat/completions`, `{"model":"m",${member}}`, {}, as)).status).toBe(400);
    expect((await post(`${id}/${GEMINI}:generateContent`, `{${member}}`, {}, as)).status).toBe(400);
  }
  expect(upstream.received).toHaveLength(0);
});

test.each([
  '"api_base":"http://127.0.0.1:9","base_url":"http://127.0.0.1:9"',
  '"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"model":{},"engine":{}}}}}]',
  '"messages":[{"role":"user","content":"x","model":"y"}],"metadata":{"model":"x","deployment":"y"}',
  '"response_format":{"type":"json_schema","json_schema":{"schema":{"properties":{"models":{}}}}}',
  '"providerOptions":{"gateway":{"order":["a"]},"openai":{"model":"x"}}',
  '"compound_custom":{"tools":{"enabled_tools":["web_search"]}}',
  '"plugins":[{"id":"web","engine":"exa"},{"id":"file-parser","pdf":{"engine":"x"}}]',
  '"tools":[{"type":"openrouter:web_search","parameters":{"engine":"exa"}}]',
])("b113: a body with %s names one model, and goes upstream as it is", async (member) => {
  for (const [id, as] of restricted()) {
    expect((await post(`${id}/v1/chat/completions`, `{"model":"m",${member}}`, {}, as)).status).toBe(200);
    expect(upstream.received.at(-1)?.body.toString()).toContain(member);
  }
});

test.each(["Content_Encoding: gzip", "content_type: text/plain", "content.type: text/plain", "CONTENT_LENGTH: 2"])(
  "b113: no upstream reads the body in another way than we did for the header %s, which stays here",
  async (header) => {
    const [name = "", value = ""] = header.split(": ");
    for (const [id, as] of restricted()) {
      const answer = await post(`${id}/v1/chat/completions`, '{"model":"m"}', { [name]: value }, as);
      expect(answer.status).toBe(200);
      const { rawHeaders } = upstream.received.at(-1) ?? { rawHeaders: [] };
      expect(rawHeaders.map((text) => text.toLowerCase())).not.toContain(name.toLowerCase());
      expect(rawHeaders).toContain("application/json");
    }
  },
);

const MODEL_HEADERS = [
  "azureml-model-deployment",
  "azureml_model_deployment",
  "X-LiteLLM-Model",
  "X-ModelId",
  "Deployment-Id",
  "Engine",
  "mm-vmodel-id",
  "X-Amzn-SageMaker-Target-Variant",
];

test.each(MODEL_HEADERS)(
  "b113: the header %s, by which an upstream may take another model, stays here",
  async (name) => {
    for (const [id, as] of restricted()) {
      for (const [path, body] of [
        ["v1/chat/completions", '{"model":"m"}'],
        [`${GEMINI}:generateContent`, "{}"],
      ] as const) {
        const answer = await post(`${id}/${path}`, body, { [name]: "other", "x-trace": "remodelled" }, as);
        expect(answer.status).toBe(200);
        const { rawHeaders } = upstream.received.at(-1) ?? { rawHeaders: [] };
        expect(rawHeaders).toContain("remodelled");
        expect(rawHeaders).not.toContain("other");
      }
    }
  },
);

test("b113: where no model is decided on, a header that names one goes upstream", async () => {
  const open = harness.addGateway(allDialects(upstream.url)).publicId;
  for (const name of MODEL_HEADERS) {
    await post(`${open}/v1/chat/completions`, '{"model":"m"}', { [name]: "other" });
    expect(upstream.received.at(-1)?.rawHeaders).toContain("other");
  }
});

test.each([
  ["application/json; charset=utf-16"],
  ["application/json;charset=UTF-7"],
  ["application/json; charset=utf-8; charset=utf-16"],
  ['application/json; charset="utf-16le"'],
  ["application/json; charset*=us-ascii''utf-16"],
  ["application/json; Charset = shift_jis"],
])("b91: a body declared as %s could be read in another way: 400, and nothing is sent", async (type) => {
  for (const [id, as] of restricted()) {
    const headers = { "content-type": type };
    expect((await post(`${id}/v1/chat/completions`, '{"model":"m"}', headers, as)).status).toBe(400);
    expect((await post(`${id}/${GEMINI}:generateContent`, "{}", headers, as)).status).toBe(400);
  }
  expect(upstream.received).toHaveLength(0);
});

test("b307: a body that is read for its model and is no UTF-8 is 400, and nothing is sent", async () => {
  for (const [id, as] of restricted()) {
    const body = Buffer.from('{"model":"m","messages":[{"role":"user","content":"Größe fünf"}]}', "latin1");
    const answer = await post(`${id}/v1/chat/completions`, body, {}, as);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("not UTF-8")]);
    const gemini = Buffer.from('{"contents":[{"parts":[{"text":"fünf"}]}]}', "latin1");
    expect((await post(`${id}/${GEMINI}:generateContent`, gemini, {}, as)).status).toBe(400);
  }
  expect(upstream.received).toHaveLength(0);
});

test("b91: what names the allowed model alone goes upstream", async () => {
  const open = harness.addGateway(allDialects(upstream.url)).publicId;
  const listed = harness.addKey({ allowedModels: ["m", "gem"] });
  for (const [path, body, type] of [
    ["v1/chat/completions", '{"model":"m","messages":[{"models":1,"fallbacks":2}]}', "application/json; charset=UTF-8"],
    ["v1/chat/completions?alt=sse", '{"model":"m","metadata":{"model":"x"}}', 'application/json; charset="utf-8"'],
    [`${GEMINI}:generateContent`, '{"model":"models/gem","contents":[{"model":"x"}]}', "application/json"],
    [`${GEMINI}:countTokens`, '{"generateContentRequest":{"model":"models/gem"}}', "application/json"],
    [
      "v1/responses",
      `{"model":"m","input":[${'{"type":"message","content":[{"type":"text"}]},'.repeat(21_000)}{"type":"additional_tools","tools":[{"parameters":{"properties":{"model":1}}}]}]}`,
      "application/json",
    ],
    [
      "v1/responses",
      '{"model":"m","tools":[{"type":"function","parameters":{"properties":{"model":1}}}]}',
      "application/json",
    ],
  ] as const) {
    const answer = await post(`${open}/${path}`, body, { "content-type": type }, listed);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(upstream.received.at(-1)?.body.toString()).toBe(body);
  }
});

/** Gateways and keys with which a model is decided on: by the key's list, by the gateway's routes, by both. */
function restricted(): [string, string][] {
  const models = { allowedModels: ["m", "gem", "other"] };
  const open = harness.addGateway(allDialects(upstream.url)).publicId;
  const routes = [routeOf("m"), routeOf("gem", { upstream: "gemini" })];
  const routesOnly = harness.addGateway({ ...allDialects(upstream.url), routes, routesOnly: true }).publicId;
  return [
    [open, harness.addKey(models)],
    [routed, harness.addKey()],
    [routesOnly, harness.addKey()],
  ];
}
