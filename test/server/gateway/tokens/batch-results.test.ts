import { expect, test } from "vitest";
import { NO_TOKENS } from "../../../../domain/usage/tokens.ts";
import { BatchResults } from "../../../../server/gateway/tokens/batch-results.ts";

const line = (model: string, usage: object, text = "Hi") =>
  JSON.stringify({
    custom_id: "request",
    result: { type: "succeeded", message: { id: "msg_1", model, content: [{ text, usage: 7 }], usage } },
  });

function used(...pieces: readonly (string | Buffer)[]) {
  const results = new BatchResults("anthropic");
  for (const piece of pieces) results.push(Buffer.from(piece));
  return results.end();
}

test("what each request has used is added up by model, wherever the pieces of the results end", () => {
  const text = [
    line("m", { input_tokens: 1, output_tokens: 2 }, '"usage":{"input_tokens":5}'),
    line("n", { input_tokens: 10, cache_read_input_tokens: 3 }),
    '{"custom_id":"a request that failed","result":{"type":"expired"}}',
    "",
    line("m", { input_tokens: 4, output_tokens: 5 }),
  ].join("\n");
  const expected = [
    { tokens: { ...NO_TOKENS, input: 5, output: 7 }, model: "m", ending: "reported", isDoubtful: false },
    { tokens: { ...NO_TOKENS, input: 10, cached: 3 }, model: "n", ending: "reported", isDoubtful: false },
  ];
  expect(used(text)).toEqual(expected);
  expect(used(`${text}\r\n\n`)).toEqual(expected);
  expect(used(...text)).toEqual(expected);
  for (let at = 0; at < text.length; at++) expect(used(text.slice(0, at), text.slice(at))).toEqual(expected);
});

test("what cannot be true is counted as doubtful, and models beyond a bound under no name", () => {
  expect(used(line("m", { input_tokens: -1 }))).toMatchObject([{ tokens: NO_TOKENS, isDoubtful: true }]);
  const many = Array.from({ length: 70 }, (_, at) => line(`m${at}`, { input_tokens: 1 }));
  const all = used(many.join("\n"));
  expect(all).toHaveLength(65);
  expect(all.at(-1)).toMatchObject({ model: undefined, tokens: { input: 6 } });
});

test("the shortest line that reports usage is read", () => {
  const short = '{"custom_id":"a","result":{"message":{"usage":{"output_tokens":5}}}}';
  expect(used(`${short}\n`)).toMatchObject([{ tokens: { output: 5 } }]);
});

test("any bytes are taken", () => {
  for (const bytes of ["{", "}}}\n]", '"\\', "\0\n\xff", '{"result":{"message":{"usage":'])
    expect(() => used(bytes)).not.toThrow();
  expect(used("{}\n".repeat(20_000))).toEqual([]);
});

test("b412: what a line of OpenAI's output says is read at its place alone, of chat completions and of responses", () => {
  const content = '"usage":{"prompt_tokens":9}';
  const lines = [
    {
      model: "m",
      choices: [{ message: { content, usage: { prompt_tokens: 9 } } }],
      usage: { prompt_tokens: 4, completion_tokens: 5 },
    },
    { model: "m", output: [{ usage: { input_tokens: 9 } }], usage: { input_tokens: 10, output_tokens: 2 } },
    { error: { message: content } },
  ].map((body) => JSON.stringify({ id: "batch_req_1", response: { status_code: 200, usage: 9, body }, usage: null }));
  const results = new BatchResults("openai");
  for (const byte of Buffer.from(lines.join("\n"))) results.push(Buffer.of(byte));
  expect(results.end()).toMatchObject([{ tokens: { ...NO_TOKENS, input: 14, output: 7 }, model: "m" }]);
});
