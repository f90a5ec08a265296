import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { DIALECTS, type Dialect } from "../../../../domain/access/key-record.ts";
import { type AnswerUsage, NO_TOKENS } from "../../../../domain/usage/tokens.ts";
import { AnswerReader } from "../../../../server/gateway/tokens/answer-reader.ts";
import { cpuTimeOf, threadCpuTimeOf } from "../../../env/cpu-time.ts";
import { examples } from "../../../env/nightly.ts";

type Reported = { readonly dialect: Dialect; readonly isEvents?: boolean; readonly isWhole?: boolean };

function read(
  text: string | Buffer,
  { dialect, isEvents = false, isWhole = true }: Reported,
  cuts: readonly number[] = [],
) {
  const reader = new AnswerReader(dialect, isEvents);
  const bytes = Buffer.from(text);
  let from = 0;
  for (const at of [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)) {
    reader.push(bytes.subarray(from, at));
    from = at;
  }
  return reader.end(isWhole);
}

function reported(tokens: Partial<AnswerUsage["tokens"]>, model?: string): AnswerUsage {
  return { tokens: { ...NO_TOKENS, ...tokens }, model, ending: "reported", isDoubtful: false };
}

const events = (...data: readonly unknown[]) => data.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
const DONE = "data: [DONE]\n\n";
const chatUsage = {
  prompt_tokens: 100,
  completion_tokens: 50,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 60, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 20 },
};
const chatTokens = { input: 40, cached: 60, output: 30, reasoning: 20 };
const response = {
  id: "resp_1",
  model: "gpt-5",
  output: [{ type: "message", content: [{ type: "output_text", text: 'he said "usage": {"input_tokens": 9}' }] }],
  tools: [{ type: "function", parameters: { properties: { usage: { type: "object" }, model: { type: "string" } } } }],
  usage: {
    input_tokens: 7,
    input_tokens_details: { cached_tokens: 2 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
  },
};
const message = {
  type: "message",
  model: "claude-x",
  content: [{ type: "tool_use", input: { usage: { input_tokens: 1e6, output_tokens: 1e6 }, model: "another" } }],
  usage: {
    input_tokens: 10,
    cache_read_input_tokens: 300,
    cache_creation_input_tokens: 70,
    cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 20 },
    output_tokens: 8,
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
  },
};
const messageTokens = { input: 10, cached: 300, cache_write_5m: 50, cache_write_1h: 20, output: 8, tool_calls: 2 };
const messageEvents = [
  { type: "message_start", message: { ...message, content: [], usage: { ...message.usage, output_tokens: 1 } } },
  { type: "content_block_delta", delta: { type: "input_json_delta", partial_json: '{"usage":{"output_tokens":77}}' } },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 8 } },
  { type: "message_stop" },
];
const gemini = (candidates: number) => ({
  candidates: [{ content: { parts: [{ functionCall: { args: { usageMetadata: { promptTokenCount: 5 } } } }] } }],
  usageMetadata: {
    promptTokenCount: 30,
    cachedContentTokenCount: 10,
    candidatesTokenCount: candidates,
    thoughtsTokenCount: 6,
    toolUsePromptTokenCount: 3,
  },
  modelVersion: "gemini-x",
});
const geminiTokens = { input: 23, cached: 10, output: 12, reasoning: 6 };

const usage = { prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050 };
const none = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
const written = '{"usage":{"prompt_tokens":7,"completion_tokens":7}}';
const iteration = {
  ...{ type: "message", input_tokens: 1_200, output_tokens: 300 },
  ...{ cache_read_input_tokens: 800, cache_creation_input_tokens: 100 },
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 0 },
};
const iterated = {
  usage: {
    ...{ input_tokens: 30_000, output_tokens: 7_500, cache_read_input_tokens: 20_000 },
    ...{ cache_creation_input_tokens: 2_500, iterations: Array(25).fill(iteration) },
  },
};
const fallenBack = {
  ...{ input_tokens: 100_000, output_tokens: 400 },
  iterations: [
    { type: "message", model: "claude-fable", input_tokens: 100_000, output_tokens: 0 },
    { type: "fallback_message", model: "claude-opus", input_tokens: 100_000, output_tokens: 400 },
  ],
};
const iteratedTokens = { input: 30_000, output: 7_500, cached: 20_000, cache_write_5m: 2_500 };

/** What each dialect answers, and what it comes to. */
const ANSWERS: Readonly<Record<string, Reported & { readonly text: string; readonly is: AnswerUsage }>> = {
  "a chat completion": {
    dialect: "openai",
    text: JSON.stringify({ id: "1", model: "gpt-4o", choices: [{ message: { content: "hi" } }], usage: chatUsage }),
    is: reported(chatTokens, "gpt-4o"),
  },
  "a streamed chat completion": {
    dialect: "openai",
    isEvents: true,
    text:
      events(
        { model: "gpt-4o", choices: [{ delta: { content: "usage" } }], usage: null },
        { model: "gpt-4o", choices: [{ delta: { content: 'x "usage":{} \\" y' } }], usage: null },
        { model: "gpt-4o", choices: [], usage: chatUsage },
      ) + DONE,
    is: reported(chatTokens, "gpt-4o"),
  },
  "a completion, indented": {
    dialect: "openai",
    text: JSON.stringify({ usage: chatUsage, choices: [{ text: "hi" }], model: "davinci" }, null, 2),
    is: reported(chatTokens, "davinci"),
  },
  "a response": {
    dialect: "openai",
    text: JSON.stringify(response),
    is: reported({ input: 5, cached: 2, output: 5, reasoning: 4 }, "gpt-5"),
  },
  "a streamed response": {
    dialect: "openai",
    isEvents: true,
    text: [
      { type: "response.created", response: { ...response, usage: null } },
      { type: "response.output_text.delta", delta: "hi" },
      { type: "response.completed", response },
    ]
      .map((each) => `event: ${each.type}\r\ndata: ${JSON.stringify(each)}\r\n\r\n`)
      .join(""),
    is: reported({ input: 5, cached: 2, output: 5, reasoning: 4 }, "gpt-5"),
  },
  embeddings: {
    dialect: "openai",
    text: JSON.stringify({
      data: [{ embedding: Array.from({ length: 300 }, (_, i) => i / 7) }],
      model: "text-embedding-3",
      usage: { prompt_tokens: 8, total_tokens: 8 },
    }),
    is: reported({ input: 8 }, "text-embedding-3"),
  },
  "a message": { dialect: "anthropic", text: JSON.stringify(message), is: reported(messageTokens, "claude-x") },
  "a streamed message": {
    dialect: "anthropic",
    isEvents: true,
    text: events(...messageEvents),
    is: reported(messageTokens, "claude-x"),
  },
  "generated content": {
    dialect: "gemini",
    text: JSON.stringify(gemini(12), null, 2),
    is: reported(geminiTokens, "gemini-x"),
  },
  "generated content, streamed as events": {
    dialect: "gemini",
    isEvents: true,
    text: events(gemini(2), gemini(7), gemini(12)),
    is: reported(geminiTokens, "gemini-x"),
  },
  "generated content, streamed as a list": {
    dialect: "gemini",
    text: JSON.stringify([gemini(2), gemini(7), gemini(12)], null, 2),
    is: reported(geminiTokens, "gemini-x"),
  },
};

/** Where a usage stands but at the top, and what ends in zeros or has many iterations. */
const OTHER_ANSWERS: typeof ANSWERS = {
  "b302: a stream that ends in zeros": {
    ...{ dialect: "openai", isEvents: true },
    text: events({ model: "m", choices: [], usage }, { model: "m", choices: [], usage: none }) + DONE,
    is: reported({ input: 1_000, output: 50 }, "m"),
  },
  "b302: a stream whose events have the usage so far, and zeros at the end": {
    ...{ dialect: "openai", isEvents: true },
    text: events(
      ...[1, 9, 10, 50].map((completion_tokens) => ({
        model: "m",
        usage: { prompt_tokens: 1_000, completion_tokens },
      })),
      { model: "m", usage: { prompt_tokens: 0, completion_tokens: 0 } },
    ),
    is: reported({ input: 1_000, output: 50 }, "m"),
  },
  "b302: a message whose last usage has zeros for what the first has": {
    ...{ dialect: "anthropic", isEvents: true },
    text: events(
      {
        type: "message_start",
        message: { model: "c", usage: { input_tokens: 1_500, cache_read_input_tokens: 300, output_tokens: 1 } },
      },
      { type: "message_delta", usage: { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 47 } },
    ),
    is: reported({ input: 1_500, cached: 300, output: 47 }, "c"),
  },
  "b302: content whose last piece leaves a figure out": {
    ...{ dialect: "gemini", isEvents: true },
    text: events(gemini(2), { usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 12 }, modelVersion: "g" }),
    is: reported(geminiTokens, "g"),
  },
  "b303: a choice of Moonshot's": {
    ...{ dialect: "openai", isEvents: true },
    text:
      events(
        { model: "kimi", choices: [{ index: 0, delta: { content: written } }] },
        { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] },
      ) + DONE,
    is: reported({ input: 1_000, output: 50 }, "kimi"),
  },
  "b303: a choice of Moonshot's, and the usage that was asked for": {
    ...{ dialect: "openai", isEvents: true },
    text:
      events(
        { model: "kimi", choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }], usage: null },
        { model: "kimi", choices: [], usage },
      ) + DONE,
    is: reported({ input: 1_000, output: 50 }, "kimi"),
  },
  "b303: Groq's own member": {
    ...{ dialect: "openai", isEvents: true },
    text:
      events(
        { model: "llama", choices: [{ delta: { content: written } }], x_groq: { id: "r" } },
        { model: "llama", choices: [{ delta: {}, finish_reason: "stop" }], x_groq: { id: "r", usage } },
      ) + DONE,
    is: reported({ input: 1_000, output: 50 }, "llama"),
  },
  "b303: a whole answer that says it in both": {
    dialect: "openai",
    text: JSON.stringify({
      model: "kimi",
      choices: [{ message: { content: written }, usage }],
      usage,
      x_groq: { usage },
    }),
    is: reported({ input: 1_000, output: 50 }, "kimi"),
  },
  "b303: no text, argument or object that a model writes": {
    dialect: "openai",
    text: JSON.stringify({
      model: "m",
      choices: [
        {
          text: written,
          message: { usage, content: [{ usage }], tool_calls: [{ function: { arguments: written, usage } }] },
          delta: { usage },
          logprobs: { usage },
        },
      ],
      output: [{ usage }],
      metadata: { usage, choices: [{ usage }] },
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    }),
    is: reported({ input: 3, output: 2 }, "m"),
  },
  "b303: an event whose usage names no model": {
    ...{ dialect: "openai", isEvents: true },
    text: events({ model: "", choices: [] }, { model: "m", choices: [] }, { choices: [], usage }),
    is: reported({ input: 1_000, output: 50 }, "m"),
  },
  "a message that a fallback has served": {
    dialect: "anthropic",
    text: JSON.stringify({ model: "claude-opus", usage: fallenBack }),
    is: reported({ input: 100_000, output: 400 }, "claude-opus"),
  },
  "a streamed message that a fallback has served": {
    ...{ dialect: "anthropic", isEvents: true },
    text: events(
      { type: "message_start", message: { model: "claude-fable", usage: { input_tokens: 100_000, output_tokens: 0 } } },
      { type: "message_delta", usage: fallenBack },
    ),
    is: reported({ input: 100_000, output: 400 }, "claude-opus"),
  },
  "b304: a message of 25 iterations": {
    dialect: "anthropic",
    text: JSON.stringify({ model: "c", ...iterated }),
    is: reported(iteratedTokens, "c"),
  },
  "b304: a message of 25 iterations, indented": {
    dialect: "anthropic",
    text: JSON.stringify({ model: "c", ...iterated }, null, 2),
    is: reported(iteratedTokens, "c"),
  },
  "b304: a streamed message of 25 iterations": {
    ...{ dialect: "anthropic", isEvents: true },
    text: events(
      { type: "message_start", message: { model: "c", usage: { input_tokens: 1_200, output_tokens: 1 } } },
      { type: "message_delta", ...iterated },
    ),
    is: reported(iteratedTokens, "c"),
  },
};

test.each(Object.entries(OTHER_ANSWERS))("%s: what it used is read, in whatever pieces it comes", (_, answer) => {
  const { text, is, ...how } = answer;
  expect(read(text, how)).toEqual(is);
  const length = Buffer.byteLength(text);
  for (const size of [1, 7, 64, 1_000]) {
    const cuts = Array.from({ length: Math.ceil(length / size) }, (__, i) => i * size);
    expect(read(text, how, cuts), `${size}`).toEqual(is);
  }
});

test.each([1, 3, 64, 10_000])("b128: a stream shows a token for each of its events, in pieces of %i bytes", (size) => {
  const text = Buffer.from(
    `: data\n\n${events({ a: "data: 1\\ndata: 2" }, { a: 2 }, { a: 3 })}event: x\r\ndata: {}\r\n\r\n${DONE}`,
  );
  const reader = new AnswerReader("openai", true);
  for (let at = 0; at < text.length; at += size) reader.push(text.subarray(at, at + size));
  expect(reader.written).toEqual({ least: 5, most: text.length });
});

test("b304: usages of a hostile stream, each as long as is read, cost what its bytes do", () => {
  const list = (item: string) => Array(19_000).fill(item).join(",");
  // Each says something else, so that none is left out for the next.
  const pair = (item: string) =>
    ["a", "b"].map((name) => `data: {"usage":{"iterations":[${list(item)}],"${name}":1}}\n`).join("");
  for (const item of ["{}", "[]", "0"]) {
    const stream = Buffer.from(pair(item).repeat(8));
    const took = threadCpuTimeOf(() => read(stream, { dialect: "anthropic", isEvents: true }));
    expect((took * 1_000) / stream.length, item).toBeLessThan(1);
  }
});

/** Events whose usages have other members each time, so that none is left out for the next. */
const alternating = (times: number) =>
  events(...Array.from({ length: times }, (_, i) => ({ model: "m", usage: { [i % 2 === 0 ? "a" : "b"]: 1 } })));

test("b304: of a stream whose usages each have other members no more than so many are parsed, and it says so", () => {
  const parse = vi.spyOn(JSON, "parse");
  try {
    const last = events({ usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } });
    for (const times of [2_000, 20_000]) {
      parse.mockClear();
      const stream =
        events({ usage }) + alternating(times) + events({ usage: { prompt_tokens: 9_000 } }) + alternating(2) + last;
      // What is passed over may have been more; the last is what counts.
      expect(read(stream, { dialect: "openai", isEvents: true })).toEqual({
        ...reported({ input: 7, output: 5 }, "m"),
        isDoubtful: true,
      });
      expect(parse.mock.calls.length).toBeLessThan(1_100);
    }
    const long = ["a", "b"].map((name) => ({ usage: { iterations: Array(15_000).fill({}), [name]: 1 } }));
    parse.mockClear();
    read(events(...Array(20).fill(long).flat()), { dialect: "anthropic", isEvents: true });
    expect(parse.mock.calls.length).toBeLessThan(8);
  } finally {
    parse.mockRestore();
  }
});

test("b304: of an honest stream each usage is parsed that the next leaves out", () => {
  const stream = alternating(500) + events({ usage }) + alternating(500);
  expect(read(stream, { dialect: "openai", isEvents: true })).toEqual(reported({ input: 1_000, output: 50 }, "m"));
});

test("b304: of a stream whose every event has a usage with what it costs so far, none is passed over", () => {
  const so = (written: number) => ({
    ...{ prompt_tokens: 33, completion_tokens: written, total_tokens: 33 + written },
    cost: { input_tokens_cost: 3.3e-5, output_tokens_cost: (written + 0.5) / 1e4, total_cost: (written + 0.83) / 1e4 },
  });
  const stream = events(...Array.from({ length: 3_000 }, (_, i) => ({ model: "sonar", usage: so(i + 1) })));
  expect(read(stream, { dialect: "openai", isEvents: true })).toEqual(reported({ input: 33, output: 3_000 }, "sonar"));
});

describe("An answer's usage", () => {
  test.each(Object.entries(ANSWERS))("is read from %s", (_, { text, is, ...how }) => {
    expect(read(text, how)).toEqual(is);
  });

  test.each(Object.entries(ANSWERS))("is the same in whatever pieces it comes: %s", (_, { text, is, ...how }) => {
    const length = Buffer.byteLength(text);
    expect(read(text, how, [...Array(length).keys()])).toEqual(is);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: length }), { maxLength: 12 }), (cuts) => {
        expect(read(text, how, cuts)).toEqual(is);
      }),
    );
  });

  test("is what was seen where an answer is cut, and says so", () => {
    const started = events(...messageEvents.slice(0, 2));
    const cut = { tokens: { ...NO_TOKENS, ...messageTokens, output: 1 }, ending: "cut", isDoubtful: false };
    expect(read(started, { dialect: "anthropic", isEvents: true, isWhole: false })).toMatchObject(cut);
    // An upstream that ends its stream early, as if it were whole.
    expect(read(started, { dialect: "anthropic", isEvents: true })).toMatchObject(cut);
    expect(read(events(gemini(2)), { dialect: "gemini", isEvents: true, isWhole: false })).toMatchObject({
      tokens: { output: 2 },
      ending: "cut",
    });
    const chat = events({ model: "gpt-4o", choices: [], usage: null });
    expect(read(chat, { dialect: "openai", isEvents: true, isWhole: false })).toEqual({
      tokens: NO_TOKENS,
      model: "gpt-4o",
      ending: "cut",
      isDoubtful: false,
    });
    // A client that leaves after the last event has the whole of it.
    const reported = events({ model: "gpt-4o", choices: [], usage: chatUsage });
    expect(read(reported, { dialect: "openai", isEvents: true, isWhole: false }).ending).toBe("reported");
  });

  test("b128: is what was seen where a stream is cut that reports usage in each event, of one answer of several too", () => {
    const said = events(
      ...[3, 4].map((count) => ({ choices: [{ index: 0 }], usage: { ...chatUsage, completion_tokens: count } })),
    );
    expect(read(said, { dialect: "openai", isEvents: true, isWhole: false }).ending).toBe("cut");
    expect(read(said, { dialect: "openai", isEvents: true }).ending).toBe("reported");
    expect(read(said + DONE, { dialect: "openai", isEvents: true, isWhole: false }).ending).toBe("reported");
    const early = events({ choices: [], usage: chatUsage }, { choices: [{ index: 0 }] });
    expect(read(early, { dialect: "openai", isEvents: true, isWhole: false }, [20, 300]).ending).toBe("cut");
  });

  test("b128: is what was seen where a stream of images is cut: each has its own usage", () => {
    const reader = new AnswerReader("openai", true, "images");
    reader.push(
      Buffer.from(events({ type: "image_generation.completed", usage: { input_tokens: 9, output_tokens: 7 } })),
    );
    expect(reader.end(false)).toMatchObject({ tokens: { input: 9, output: 7, images: 1 }, ending: "cut" });
  });

  test("is said to be unreported where it has no figure that is known", () => {
    for (const usage of [{}, { tokens: 5_000 }]) {
      const answer = JSON.stringify({ model: "gpt-4o", choices: [], usage });
      expect(read(answer, { dialect: "openai" })).toMatchObject({ tokens: NO_TOKENS, ending: "unreported" });
      expect(read(events({ usage }), { dialect: "openai", isEvents: true, isWhole: false }).ending).toBe("cut");
    }
  });

  test("b232: is said to be unreported where each of its figures is nothing, as some upstreams write before the last event", () => {
    const none = { prompt_tokens: 0, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } };
    expect(read(JSON.stringify({ usage: none }), { dialect: "openai" }).ending).toBe("unreported");
    const begun = events({ choices: [], usage: none });
    expect(read(begun, { dialect: "openai", isEvents: true, isWhole: false }).ending).toBe("cut");
    const ended = events({ choices: [], usage: none }, { choices: [], usage: chatUsage }) + DONE;
    expect(read(ended, { dialect: "openai", isEvents: true, isWhole: false }).ending).toBe("reported");
  });

  test("is said to be unreported where a whole answer has none", () => {
    for (const text of ["", "{}", "null", "not json", '{"usage":null}', '{"a":{"usage":{"prompt_tokens":5}}}']) {
      expect(read(text, { dialect: "openai" }), text).toMatchObject({ tokens: NO_TOKENS, ending: "unreported" });
    }
  });

  test.each([
    ["negative", { prompt_tokens: -5, completion_tokens: 2 }, { output: 2 }],
    ["huge", { prompt_tokens: 1e300, completion_tokens: 2 }, { output: 2 }],
    ["fractional", { prompt_tokens: 1.5, completion_tokens: 2 }, { output: 2 }],
    ["text", { prompt_tokens: "5", completion_tokens: 2 }, { output: 2 }],
    [
      "a part above its whole",
      { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 9 } },
      { input: 5, cached: 9 },
    ],
    ["no object", 7, {}],
    ["a list", [7], {}],
  ])("that cannot be (%s) counts as little as it may mean, and is marked", (_, usage, tokens) => {
    expect(read(JSON.stringify({ usage }), { dialect: "openai" })).toEqual({
      ...reported(tokens),
      isDoubtful: true,
    });
  });

  test("that is reported twice, too long or broken is marked, and a long one counts nothing", () => {
    const twice = '{"usage":{"prompt_tokens":5},"usage":{"prompt_tokens":6}}';
    expect(read(twice, { dialect: "openai" })).toEqual({ ...reported({ input: 6 }), isDoubtful: true });
    const long = JSON.stringify({ usage: { pad: "x".repeat(70_000), prompt_tokens: 5 } });
    expect(read(long, { dialect: "openai" })).toEqual({ ...reported({}), isDoubtful: true });
    expect(read(long, { dialect: "openai" }, [20, 3_000])).toEqual({ ...reported({}), isDoubtful: true });
    expect(read('{"usage":{prompt_tokens:5}}', { dialect: "openai" })).toEqual({ ...reported({}), isDoubtful: true });
  });

  test.each(["usage", "x"])("that was too long counts again where a later %s is not", (name) => {
    const long = { usage: { pad: "x".repeat(70_000), prompt_tokens: 5 } };
    const stream = events(long, { [name]: 1, usage: chatUsage });
    expect(read(stream, { dialect: "openai", isEvents: true })).toEqual(reported(chatTokens));
  });

  test("takes any bytes in any pieces, and comes to the same", () => {
    const word = fc.constantFrom(
      ...[
        '{"usage":',
        '"usage"',
        '{"model":"m",',
        "}",
        "]",
        "[",
        '"',
        "\\",
        "\n",
        "data: ",
        ",",
        ":",
        '"message":{',
        "null",
      ],
      ...['"usageMetadata":', '{"prompt_tokens":1,"input_tokens":2,"promptTokenCount":3}', "\r\n", "x".repeat(40)],
    );
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
      fc.array(word, { maxLength: 60 }).map((words) => Buffer.from(words.join(""))),
    );
    fc.assert(
      fc.property(
        ...[garbage, fc.constantFrom(...DIALECTS), fc.boolean(), fc.array(fc.nat(), { maxLength: 20 })],
        (bytes, dialect, isEvents, cuts) => {
          const whole = read(bytes, { dialect, isEvents });
          expect(read(bytes, { dialect, isEvents }, cuts)).toEqual(whole);
          for (const count of Object.values(whole.tokens)) expect(count).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: examples(500) },
    );
  });

  test.each([
    ["", '{"usage":'],
    ["", "[[[[[[[["],
    ['"', '\\"\\"\\"\\"'],
    ["", '"usage"\n'],
    ['{"a":"', "\\\\\\\\\\\\\\\\"],
  ])("of megabytes takes no time that grows faster than they do: %s%s", async (begin, piece) => {
    const timeOf = (count: number, isEvents: boolean) =>
      cpuTimeOf(() => read(begin + piece.repeat(count), { dialect: "openai", isEvents }));
    for (const isEvents of [true, false]) {
      const few = await timeOf(50_000, isEvents);
      // Four times as many would take sixteen times as long, and more, if it grew faster. Short times are in steps.
      expect(await timeOf(200_000, isEvents)).toBeLessThan(8 * few + 50);
    }
  });
});
