import { expect, test } from "vitest";
import type { ServedOperation } from "../../../../domain/access/gateway-operations.ts";
import { callBounds as boundsOf } from "../../../../server/gateway/tokens/call-bounds.ts";
import { cpuTimeOf, leastOfFive } from "../../../env/cpu-time.ts";

const callBounds = async (operation: ServedOperation, body: Buffer) => boundsOf(operation, body);

type Row = readonly [operation: ServedOperation, body: string, most: number | undefined];
const CHAT = "gateway.chat_completions";
const COMPLETIONS = "gateway.completions";
const GEMINI = "gateway.generate_content";
const RESPONSES = "gateway.responses";
const MESSAGES = "gateway.messages";

test.each<Row>([
  [CHAT, '{"max_tokens":100}', 100],
  [CHAT, '{"max_completion_tokens":30,"max_tokens":20}', 30],
  [CHAT, '{"max_completion_tokens":null,"max_tokens":20}', 20],
  ["gateway.completions", '{"max_tokens":100}', 100],
  ["gateway.messages", '{"max_tokens":100}', 100],
  ["gateway.responses", '{"max_output_tokens": 7 }', 7],
  [GEMINI, '{"generationConfig":{"maxOutputTokens":9}}', 9],
  ["gateway.stream_generate_content", '{"generation_config":{"max_output_tokens":9}}', 9],
  [CHAT, '{"messages":[{"max_tokens":100}],"metadata":{"max_tokens":5}}', undefined],
  [CHAT, '{"max_tokens":"100"}', undefined],
  [CHAT, '{"max_tokens":-1,"x":1e3}', undefined],
  [CHAT, '{"max_tokens":1e3}', 1_000],
  [CHAT, '{"max_tokens":{"max_tokens":3}}', undefined],
  [CHAT, "[]", undefined],
])("b128: the answer's bound is read of %s from %s: %s", async (operation, body, most) => {
  expect(await callBounds(operation, Buffer.from(body))).toEqual({ most, answers: 1, refers: false });
});

test.each<readonly [ServedOperation, string]>([
  [CHAT, '{"max_tokens":1,"max_tokens":null}'],
  [CHAT, '{"max_tokens":1,"max_t\\u006fkens":9000}'],
  [CHAT, '{"max_tokens":1,"Max_To\\u212aens":9000}'],
  [CHAT, '{"MAX_TOKENS":1}'],
  [CHAT, '{"max_output_tokens":1}'],
  [CHAT, '{"generationConfig":{"maxOutputTokens":1}}'],
  ["gateway.completions", '{"max_completion_tokens":1}'],
  ["gateway.responses", '{"max_tokens":1}'],
  [GEMINI, '{"max_tokens":1,"maxOutputTokens":1}'],
  [GEMINI, '{"generationConfig":{"maxOutputTokens":1},"generation_config":{}}'],
  [GEMINI, '{"generationConfig":{"maxOutputTokens":1,"max_output_tokens":null}}'],
  [CHAT, '{"max_tokens\\u0000x":9000,"max_tokens":1}'],
  [CHAT, '{"max_tokens":1,"n":1,"N":100}'],
  [CHAT, '{"max_tokens":1,"n_predict":9000}'],
  [CHAT, '{"max_tokens":1,"extra_body":{"max_tokens":9000}}'],
  [COMPLETIONS, '{"max_tokens":1,"prompt":"a","prompt":["a","b"]}'],
  [CHAT, '{"max_tokens":1,"max_completion_tokens":"9000"}'],
  [CHAT, '{"max_tokens":1,"max_completion_tokens":-1}'],
])("b203: a bound that the upstream may not go by is none: of %s, %s", async (operation, body) => {
  expect((await callBounds(operation, Buffer.from(body))).most).toBeUndefined();
});

test.each<readonly [ServedOperation, string, number]>([
  [CHAT, '{"n":4}', 4],
  [CHAT, '{"n":null}', 1],
  [CHAT, '{"n":1,"extra_body":{"n":4}}', 4],
  [CHAT, '{"n":0}', 1],
  [CHAT, '{"best_of":4,"prompt":["a","b"]}', 1],
  [COMPLETIONS, '{"n":2,"best_of":5,"prompt":"a"}', 5],
  [COMPLETIONS, '{"prompt":[1,2,3]}', 1],
  [COMPLETIONS, '{"prompt":["a",[1,2],"b"],"n":2}', 6],
  [COMPLETIONS, '{"prompt":[],"n":2}', 2],
  ["gateway.messages", '{"n":4}', 1],
  [GEMINI, '{"generationConfig":{"candidateCount":8},"candidateCount":9}', 8],
])("b229: the answers that a call of %s asks for are counted in %s: %i", async (operation, body, answers) => {
  expect((await callBounds(operation, Buffer.from(body))).answers).toBe(answers);
});

test.each<readonly [ServedOperation, string, number]>([
  [CHAT, '{"n":"128"}', 128],
  [CHAT, '{"n":" 1_\\u00328 "}', 128],
  [CHAT, '{"n":127.5}', 128],
  [CHAT, '{"n":"several"}', 1],
  [CHAT, '{"n":""}', 1],
  [COMPLETIONS, '{"best_of":"5"}', 5],
  [GEMINI, '{"generationConfig":{"candidateCount":"8"}}', 8],
])(
  "b236: a text is the number that upstreams may read in it: for %s, %s asks for %i",
  async (operation, body, answers) => {
    expect((await callBounds(operation, Buffer.from(body))).answers).toBe(answers);
  },
);

test("b128: to embed is to read alone", async () => {
  for (const operation of ["gateway.embeddings", "gateway.embed_content"] as const) {
    expect(await callBounds(operation, Buffer.from('{"max_tokens":5,"n":3}'))).toEqual({
      ...{ most: 0, answers: 1, refers: false },
    });
  }
});

const MANY = '{"max_tokens":9000,"n":128}';

test.each<readonly [string, Buffer]>([
  ["nothing", Buffer.from("")],
  ["a text that is cut off", Buffer.from("{")],
  ["a text behind a byte order mark", Buffer.from(`\ufeff${MANY}`)],
  ["UTF-16", Buffer.from(MANY, "utf16le")],
  ["a name that is longer than is read", Buffer.from(`{"n\\u0000${"x".repeat(200)}":128,"max_tokens":9000}`)],
  ["a text that is deeper than is read", Buffer.from(`{"x":${"[".repeat(300)}${"]".repeat(300)},${MANY.slice(1)}`)],
])("b237: a call is refused that asks for what cannot be read: in %s", async (_, body) => {
  await expect(callBounds(CHAT, body)).rejects.toMatchObject({ code: "invalid_request" });
});

test.each<readonly [ServedOperation, string, number | undefined]>([
  [CHAT, '{"max_tokens":0}', undefined],
  [CHAT, '{"max_tokens":-0}', undefined],
  [CHAT, '{"max_tokens":0.5}', undefined],
  [CHAT, '{"max_completion_tokens":0,"max_tokens":20}', undefined],
  [RESPONSES, '{"max_output_tokens":0}', undefined],
  [MESSAGES, '{"max_tokens":0}', undefined],
  [GEMINI, '{"generationConfig":{"maxOutputTokens":0}}', undefined],
  [CHAT, '{"max_tokens":1e999}', Number.MAX_SAFE_INTEGER],
])("b243: what is no number of tokens bounds no answer: of %s, %s", async (operation, body, most) => {
  expect((await callBounds(operation, Buffer.from(body))).most).toBe(most);
});

test.each(["true", '"true"', "1", '"false"'])("b241: an answer in the background is refused: %s", async (value) => {
  for (const name of ["background", "Background", "b\\u0061ckground", 'extra_body":{"background']) {
    const body = Buffer.from(`{"model":"gpt-x","${name}":${value}}${name.includes("{") ? "}" : ""}`);
    await expect(callBounds(RESPONSES, body)).rejects.toMatchObject({
      code: "invalid_request",
      detail: expect.stringContaining("`background`"),
    });
  }
});

test("b241: one that says that it is in none is not, nor what another format calls so", async () => {
  for (const value of ["false", "null"]) {
    await expect(callBounds(RESPONSES, Buffer.from(`{"background":${value}}`))).resolves.toBeDefined();
  }
  await expect(callBounds(CHAT, Buffer.from('{"background":true}'))).resolves.toBeDefined();
});

const MEDIA = (content: string) => `{"messages":[{"role":"user","content":[${content}]}]}`;

test.each<readonly [ServedOperation, string]>([
  [RESPONSES, '{"previous_response_id":"resp_1"}'],
  [RESPONSES, '{"previous\\u005fresponse_id":"resp_1"}'],
  [RESPONSES, '{"PreviousResponseID":"resp_1"}'],
  [RESPONSES, '{"conversation":"conv_1"}'],
  [RESPONSES, '{"conversation":{"id":"conv_1"}}'],
  [RESPONSES, '{"prompt":{"id":"pmpt_1"}}'],
  [RESPONSES, '{"input":[{"type":"item_reference","id":"msg_1"}]}'],
  [RESPONSES, '{"input":[{"role":"user","content":"a"},{"id":"msg_1"},{"role":"user","content":"b"}]}'],
  [RESPONSES, '{"input":[{"type":null,"id":"msg_1"}]}'],
  [RESPONSES, '{"input":[{"role":"user","content":[{"type":"input_file","file_id":"file-1"}]}]}'],
  [RESPONSES, '{"input":[{"role":"user","content":[{"type":"input_file","file_url":"https://example.com/a.pdf"}]}]}'],
  [CHAT, MEDIA('{"type":"file","file":{"file_id":"file-1"}}')],
  [CHAT, MEDIA('{"type":"file","file":{"\\u0066ile_id":"file-1"}}')],
  [MESSAGES, MEDIA('{"type":"document","source":{"type":"file","file_id":"file_1"}}')],
  [GEMINI, '{"cachedContent":"cachedContents/1"}'],
  [GEMINI, '{"cached_content":"cachedContents/1"}'],
  [GEMINI, '{"contents":[{"parts":[{"fileData":{"fileUri":"https://example.com/a.mp4"}}]}]}'],
  [GEMINI, '{"contents":[{"parts":[{"file_data":{"file_uri":"https://example.com/a.mp4"}}]}]}'],
  [CHAT, '{"prompt_id":"greeting"}'],
  ["gateway.embed_content", '{"content":{"parts":[{"fileData":{"fileUri":"https://example.com/a.mp4"}}]}}'],
  ["gateway.batch_embed_contents", '{"requests":[{"content":{"parts":[{"file_data":{"file_uri":"gs://a/b.mp4"}}]}}]}'],
])("b242: a call that names a text which is not in it reads more than its bytes: %s, %s", async (operation, body) => {
  expect((await callBounds(operation, Buffer.from(body))).refers).toBe(true);
});

test.each<readonly [ServedOperation, string]>([
  [RESPONSES, '{"previous_response_id":null,"conversation":null,"prompt":null,"input":"file_id"}'],
  [CHAT, MEDIA('{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA"}}')],
  [CHAT, MEDIA('{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}')],
  [CHAT, '{"tools":[{"function":{"parameters":{"properties":{"file_id":{"type":"string","default":"a"}}}}}]}'],
  [CHAT, '{"previous_response_id":"resp_1"}'],
  [RESPONSES, '{"input":[{"id":"msg_1","role":"assistant","content":"a"},{"type":"reasoning","id":"rs_1"}]}'],
  [RESPONSES, '{"input":[]}'],
  [COMPLETIONS, '{"prompt":"resp_1"}'],
])("b242: one that does not reads its bytes alone: %s, %s", async (operation, body) => {
  expect((await callBounds(operation, Buffer.from(body))).refers).toBe(false);
});

const LONG = "_".repeat(31 << 20);

test.each<readonly [string, ServedOperation, string]>([
  ["a name in what is read", CHAT, `{"messages":[{"f${LONG}":1}]}`],
  ["a bound", CHAT, `{"max_tokens":"${LONG}"}`],
  ["a number of answers", CHAT, `{"n":"${LONG}"}`],
])("b271: nothing waits for a text of 31 MiB that stands for %s", async (_, operation, text) => {
  const body = Buffer.from(text);
  // Decoded and folded it is up to 1,200 ms, in one go.
  const took = await leastOfFive(75, () => cpuTimeOf(() => callBounds(operation, body).catch(() => {})));
  expect(took).toBeLessThan(75);
});

test("b271: a name that is too long to be read may be a file's, and a number that is too long is refused", async () => {
  const bounds = await callBounds(CHAT, Buffer.from(MEDIA(`{"file_id${"\\u0000".repeat(40)}":"file-1"}`)));
  expect(bounds.refers).toBe(true);
  const none = await callBounds(CHAT, Buffer.from(MEDIA(`{"a_long_name${"x".repeat(200)}":"file-1"}`)));
  expect(none.refers).toBe(false);
  for (const name of ["n", "max_tokens"]) {
    await expect(callBounds(CHAT, Buffer.from(`{"${name}":"${" ".repeat(200)}9"}`))).rejects.toMatchObject({
      code: "invalid_request",
    });
  }
});
