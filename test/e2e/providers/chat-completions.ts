/** OpenAI's chat completions, in the types of its SDK. */
import type OpenAI from "openai";
import { type Asked, answersCall, type Format, imageOf, piecesOf, type Refusal, type Reply, TOKENS } from "./format.ts";

const ID = "chatcmpl-stub";
const CALL_ID = "call_stub";
const CREATED = 1_767_225_600;
const USAGE: OpenAI.CompletionUsage = {
  prompt_tokens: TOKENS.input,
  completion_tokens: TOKENS.output,
  total_tokens: TOKENS.total,
};

type Params = OpenAI.ChatCompletionCreateParams;
type Part = OpenAI.ChatCompletionContentPart | OpenAI.ChatCompletionContentPartRefusal;

const partsOf = ({ content }: OpenAI.ChatCompletionMessageParam): readonly Part[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");

function read(body: string): Asked & { readonly isCounted: boolean } {
  const { model, messages, stream, stream_options, tools = [], response_format }: Params = JSON.parse(body);
  const said = messages.filter(({ role }) => role === "user").flatMap(partsOf);
  const images = said.flatMap((part) => (part.type === "image_url" ? [part.image_url.url] : []));
  const results = messages.filter((message) => message.role === "tool");
  for (const { tool_call_id } of results) answersCall(tool_call_id, CALL_ID);
  const [tool] = tools.flatMap((one) => (one.type === "function" ? [one.function] : []));
  return {
    model,
    isStream: stream === true,
    isCounted: stream_options?.include_usage === true,
    prompt: textOf(said),
    image: images.map(imageOf)[0],
    tool: tool && { name: tool.name, schema: tool.parameters },
    toolResult: results.map((result) => textOf(partsOf(result)))[0],
    schema: response_format?.type === "json_schema" ? response_format.json_schema.schema : undefined,
  };
}

function whole(reply: Reply, { model }: Asked): object {
  const message: OpenAI.ChatCompletionMessage = {
    role: "assistant",
    content: reply.kind === "text" ? reply.text : null,
    refusal: null,
    ...(reply.kind === "call" && { tool_calls: [callOf(reply)] }),
  };
  return {
    id: ID,
    object: "chat.completion",
    created: CREATED,
    model,
    choices: [{ index: 0, logprobs: null, message, finish_reason: finishOf(reply) }],
    usage: USAGE,
  } satisfies OpenAI.ChatCompletion;
}

const finishOf = ({ kind }: Reply) => (kind === "text" ? "stop" : "tool_calls");

const callOf = ({ name, args }: Reply & { readonly kind: "call" }): OpenAI.ChatCompletionMessageToolCall => ({
  id: CALL_ID,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});

type Delta = OpenAI.ChatCompletionChunk.Choice.Delta;

function stream(reply: Reply, asked: Asked & { readonly isCounted?: boolean }) {
  const chunk = (choices: OpenAI.ChatCompletionChunk.Choice[], usage?: OpenAI.CompletionUsage) => ({
    data: {
      id: ID,
      object: "chat.completion.chunk",
      created: CREATED,
      model: asked.model,
      choices,
      ...(usage !== undefined && { usage }),
    } satisfies OpenAI.ChatCompletionChunk,
  });
  const piece = (delta: Delta, finish_reason: "stop" | "tool_calls" | null = null) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason }]);
  const opening: Delta =
    reply.kind === "text"
      ? { role: "assistant", content: "", refusal: null }
      : {
          role: "assistant",
          content: null,
          tool_calls: [{ index: 0, id: CALL_ID, type: "function", function: { name: reply.name, arguments: "" } }],
        };
  const deltas =
    reply.kind === "text"
      ? piecesOf(reply.text).map((content): Delta => ({ content }))
      : piecesOf(JSON.stringify(reply.args)).map(
          (args): Delta => ({ tool_calls: [{ index: 0, function: { arguments: args } }] }),
        );
  return {
    opening: [piece(opening)],
    deltas: deltas.map((delta) => piece(delta)),
    closing: [
      piece({}, finishOf(reply)),
      ...(asked.isCounted === true ? [chunk([], USAGE)] : []),
      { data: "[DONE]" as const },
    ],
  };
}

/** Returns an error of OpenAI's, of either API. */
export function openaiError(status: Refusal, message: string): object {
  const limited = { type: "requests", param: null, code: "rate_limit_exceeded" };
  const invalid = { type: "invalid_request_error", param: null, code: status === 401 ? "invalid_api_key" : null };
  return { error: { message, ...(status === 429 ? limited : invalid) } };
}

export const CHAT_COMPLETIONS: Format = { read, whole, stream, error: openaiError };
