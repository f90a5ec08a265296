import { afterAll, beforeAll, expect, test } from "vitest";
import type { Harness } from "../../harness.ts";
import { requestHead, sendRaw } from "../../raw-http.ts";
import { allDialects, routeOf, startGateway } from "../gateway.ts";

const IDS = [
  "llama3.2:3b",
  "meta-llama/Llama-3.3-70B",
  "ft:gpt-4o-mini:acme/teams::Ab1",
  "@cf/meta/llama-3.1-8b-instruct",
  "accounts/fireworks/models/llama:generateContent",
  "gpt+2",
  "50%25off",
  "50%-off",
  "a%2",
  "a%2Fb",
  "a;b&c=d",
  "a//b/",
  "..",
  "a/../b",
  'q"{x}|^`<y>\\',
  "größe",
];

let harness: Harness;
let id: string;
let key: string;
beforeAll(async () => {
  harness = await startGateway();
  const routes = [
    ...IDS.map((model, i) => routeOf(model, { routeId: `rt-${i}` })),
    routeOf("gem/i:ni", { upstream: "gemini" }),
    routeOf("cl/au:de", { upstream: "anthropic" }),
  ];
  id = harness.addGateway({ ...allDialects("http://127.0.0.1:1"), routes }).publicId;
  key = harness.addKey();
});
afterAll(() => harness.close());

/** @param path sent letter by letter */
async function read(path: string, headers = [`authorization: Bearer ${key}`], method = "GET") {
  const { status, body } = await sendRaw(harness.port, requestHead(`${method} /g/${id}/${path} HTTP/1.1`, headers));
  return { status, body: JSON.parse(Buffer.from(body, "latin1").toString()) };
}

const GEMINI = () => [`x-goog-api-key: ${key}`];
const ANTHROPIC = () => [`x-api-key: ${key}`, "anthropic-version: 2023-06-01"];

test("each model that is listed is read by its id, plain or percent-encoded", async () => {
  const listed: { id: string }[] = (await read("v1/models")).body.data;
  expect(listed.map((model) => model.id)).toEqual(IDS);
  for (const model of IDS) {
    const each = [...Buffer.from(model)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
    const plain = /^(?:[!-$&-~]|%[\da-f]{2})+$/i.test(model) ? [model] : [];
    for (const spelling of [...plain, encodeURI(model), encodeURIComponent(model), each]) {
      expect({ spelling, ...(await read(`v1/models/${spelling}`)) }).toMatchObject({
        spelling,
        status: 200,
        body: { id: model, object: "model" },
      });
    }
  }
});

test.each(["50%-off", "a%2", "%", "%zz", "%e2%2f"])(
  "an id with a percent sign that encodes nothing, as in %j, is 400 and says how it is written",
  async (model) => {
    for (const headers of [undefined, GEMINI(), []]) {
      expect(await read(`v1/models/${model}`, headers)).toMatchObject({
        status: 400,
        body: { code: "invalid_request", detail: expect.stringContaining("write a percent sign itself as %25") },
      });
    }
  },
);

test("a model of another format is read in that", async () => {
  const models = ["gem/i:ni", encodeURIComponent("gem/i:ni")];
  for (const model of models) {
    const found = { status: 200, body: { name: "models/gem/i:ni" } };
    expect(await read(`v1/models/${model}`, GEMINI())).toMatchObject(found);
    expect(await read(`v1beta/models/${model}`)).toMatchObject(found);
  }
  expect(await read("v1/models/cl%2Fau:de", ANTHROPIC())).toMatchObject({ status: 200, body: { id: "cl/au:de" } });
});

test.each(["llama3.2:7b", "meta-llama/none", "a%2fb%252f", "x:generateContent", "a/b:c/d"])(
  "the id %s, which no model has, is 404 in the caller's format",
  async (model) => {
    const answers = [
      await read(`v1/models/${model}`),
      await read(`v1/models/${model}`, GEMINI()),
      await read(`v1/models/${model}`, ANTHROPIC()),
    ];
    expect(answers).toMatchObject([
      { status: 404, body: { error: { type: "invalid_request_error", code: "not_found", param: null } } },
      { status: 404, body: { error: { code: 404, status: "NOT_FOUND" } } },
      { status: 404, body: { type: "error", error: { type: "not_found_error" } } },
    ]);
  },
);

test("what may not be done with a model is refused in the caller's format, whatever its id", async () => {
  expect(await read("v1/models/ft:gpt:acme", undefined, "DELETE")).toMatchObject({
    status: 404,
    body: { error: { code: "not_found", param: null } },
  });
});

test.each(["v1/models/../../../b/v1/models", "v1/models/%2e%2e/%2e%2e/v1/models", "v1/models/..%2f..%2fb"])(
  "b33: GET %s leads to no other gateway and to no list",
  async (path) => {
    expect((await read(path)).status).toBe(404);
  },
);
