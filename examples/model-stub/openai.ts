/** OpenAI's dialect: chat completions, completions, responses, embeddings. */
import { type Body, countOf, type StubAnswer, statementsIn, tokensOf, vectorOf } from "./answer.ts";

const CREATED = 1_767_225_600;
const usageOf = (input: unknown, output: number) => {
  const prompt = countOf(input);
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output };
};

export function chatCompletions(body: Body): StubAnswer {
  const statements = statementsIn(body.messages);
  const tokens = statements === undefined ? tokensOf(body.model) : [statements];
  const base = { id: "chatcmpl-stub", created: CREATED, model: body.model, system_fingerprint: "stub" };
  if (body.stream !== true) {
    const message = { role: "assistant", content: tokens.join(""), refusal: null };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
    return { json: { ...base, object: "chat.completion", choices, usage: usageOf(body.messages, tokens.length) } };
  }
  const chunk = (delta: object, finish_reason: string | null) =>
    [null, { ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] }] as const;
  return {
    events: [
      chunk({ role: "assistant", content: "" }, null),
      ...tokens.map((content) => chunk({ content }, null)),
      chunk({}, "stop"),
      [null, "[DONE]"],
    ],
  };
}

export function completions(body: Body): StubAnswer {
  const tokens = tokensOf(body.model);
  const base = { id: "cmpl-stub", object: "text_completion", created: CREATED, model: body.model };
  const choice = (text: string, finish_reason: string | null) => [{ index: 0, text, logprobs: null, finish_reason }];
  if (body.stream !== true) {
    const usage = usageOf(body.prompt, tokens.length);
    return { json: { ...base, choices: choice(tokens.join(""), "stop"), usage } };
  }
  const pieces = tokens.map((text) => [null, { ...base, choices: choice(text, null) }] as const);
  return { events: [...pieces, [null, { ...base, choices: choice("", "stop") }], [null, "[DONE]"]] };
}

export function responses(body: Body): StubAnswer {
  const tokens = tokensOf(body.model);
  const item_id = "msg_stub";
  const part = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });
  const item = (status: string, content: object[]) => ({
    type: "message",
    id: item_id,
    role: "assistant",
    status,
    content,
  });
  const whole = item("completed", [part(tokens.join(""))]);
  const input_tokens = countOf(body.input);
  const response = (status: string, output: object[]) => ({
    id: "resp_stub",
    object: "response",
    created_at: CREATED,
    status,
    model: body.model,
    output,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: { stub: "true" },
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: {
      input_tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: tokens.length,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input_tokens + tokens.length,
    },
  });
  if (body.stream !== true) return { json: response("completed", [whole]) };
  const at = { item_id, output_index: 0, content_index: 0 };
  const events: [string, object][] = [
    ["response.created", { response: response("in_progress", []) }],
    ["response.output_item.added", { output_index: 0, item: item("in_progress", []) }],
    ["response.content_part.added", { ...at, part: part("") }],
    ...tokens.map((delta): [string, object] => ["response.output_text.delta", { ...at, delta, logprobs: [] }]),
    ["response.output_text.done", { ...at, text: tokens.join(""), logprobs: [] }],
    ["response.content_part.done", { ...at, part: part(tokens.join("")) }],
    ["response.output_item.done", { output_index: 0, item: whole }],
    ["response.completed", { response: response("completed", [whole]) }],
  ];
  return { events: events.map(([type, data], sequence_number) => [type, { type, sequence_number, ...data }]) };
}

export function embeddings(body: Body): StubAnswer {
  const inputs = Array.isArray(body.input) ? body.input : [body.input];
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input, body.dimensions);
    // The official SDK asks for base64 where its caller does not say, and decodes it.
    const embedding =
      body.encoding_format === "base64" ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector;
    return { object: "embedding", index, embedding };
  });
  const { prompt_tokens } = usageOf(body.input, 0);
  return {
    json: { object: "list", data, model: body.model, usage: { prompt_tokens, total_tokens: prompt_tokens } },
  };
}

export function openaiError(status: number, message: string): StubAnswer {
  return { status, json: { error: { message, type: "invalid_request_error", code: null, param: null } } };
}
