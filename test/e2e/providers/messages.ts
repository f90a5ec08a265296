/** Anthropic's messages, in the types of its SDK. */
import type Anthropic from "@anthropic-ai/sdk";
import {
  type Asked,
  answersCall,
  type Format,
  InvalidRequest,
  piecesOf,
  type Refusal,
  type Reply,
  type Stream,
  TOKENS,
} from "./format.ts";

const CALL_ID = "toolu_stub";

type Blocks = readonly Anthropic.ContentBlockParam[];

const blocksOf = ({ content }: Anthropic.MessageParam): Blocks =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

function imageOf({ source }: Anthropic.ImageBlockParam): NonNullable<Asked["image"]> {
  if (source.type !== "base64") throw new InvalidRequest("The stub takes images as base64.");
  return { mimeType: source.media_type, base64: source.data };
}

function textOf({ content = "" }: Anthropic.ToolResultBlockParam): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function read(body: string, _url: URL, header: (name: string) => string | undefined): Asked {
  if (!/^20\d\d-\d\d-\d\d$/.test(header("anthropic-version") ?? "")) {
    throw new InvalidRequest("anthropic-version: header is required");
  }
  const {
    model,
    max_tokens,
    messages,
    stream,
    tools = [],
    output_config,
  }: Anthropic.MessageCreateParams = JSON.parse(body);
  if (!Number.isInteger(max_tokens)) throw new InvalidRequest("max_tokens: Field required");
  const said = messages.filter(({ role }) => role === "user").flatMap(blocksOf);
  const results = said.filter((block) => block.type === "tool_result");
  for (const { tool_use_id } of results) answersCall(tool_use_id, CALL_ID);
  const [tool] = tools.flatMap((one) => ("input_schema" in one ? [one] : []));
  return {
    model,
    isStream: stream === true,
    prompt: said.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
    image: said.filter((block) => block.type === "image").map(imageOf)[0],
    tool: tool && { name: tool.name, schema: tool.input_schema },
    toolResult: results.map(textOf)[0],
    schema: output_config?.format?.schema,
  };
}

const textBlock = (text: string): Anthropic.TextBlock => ({ type: "text", text, citations: null });
const useBlock = (name: string, input: object): Anthropic.ToolUseBlock => ({
  type: "tool_use",
  id: CALL_ID,
  name,
  input,
  caller: { type: "direct" },
});

const stopOf = ({ kind }: Reply) => (kind === "text" ? "end_turn" : "tool_use");

function messageOf(model: string, content: Anthropic.ContentBlock[], stop_reason: Anthropic.StopReason | null) {
  return {
    id: "msg_stub",
    type: "message",
    role: "assistant",
    model,
    content,
    container: null,
    diagnostics: null,
    stop_details: null,
    stop_reason,
    stop_sequence: null,
    usage: {
      input_tokens: TOKENS.input,
      output_tokens: stop_reason === null ? 0 : TOKENS.output,
      output_tokens_details: null,
      cache_creation: null,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      inference_geo: null,
      server_tool_use: null,
      service_tier: "standard",
      speed: null,
    },
  } satisfies Anthropic.Message;
}

function stream(reply: Reply, { model }: Asked): Stream {
  const event = (data: Anthropic.RawMessageStreamEvent) => ({ name: data.type, data });
  const deltas: Anthropic.RawContentBlockDelta[] =
    reply.kind === "text"
      ? piecesOf(reply.text).map((text) => ({ type: "text_delta", text }))
      : piecesOf(JSON.stringify(reply.args)).map((partial_json) => ({ type: "input_json_delta", partial_json }));
  const begun = reply.kind === "text" ? textBlock("") : useBlock(reply.name, {});
  const usage: Anthropic.MessageDeltaUsage = {
    input_tokens: TOKENS.input,
    output_tokens: TOKENS.output,
    output_tokens_details: null,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    server_tool_use: null,
  };
  const end = { container: null, stop_details: null, stop_reason: stopOf(reply), stop_sequence: null } as const;
  return {
    opening: [
      event({ type: "message_start", message: messageOf(model, [], null) }),
      event({ type: "content_block_start", index: 0, content_block: begun }),
    ],
    deltas: deltas.map((delta) => event({ type: "content_block_delta", index: 0, delta })),
    closing: [
      event({ type: "content_block_stop", index: 0 }),
      event({ type: "message_delta", delta: end, usage }),
      event({ type: "message_stop" }),
    ],
  };
}

const TYPES: Readonly<Record<Refusal, Anthropic.ErrorType>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  429: "rate_limit_error",
};

export const MESSAGES: Format = {
  read,
  whole: (reply, { model }) => {
    const block = reply.kind === "text" ? textBlock(reply.text) : useBlock(reply.name, reply.args);
    return messageOf(model, [block], stopOf(reply));
  },
  stream,
  error: (status, message) => ({ type: "error", error: { type: TYPES[status], message }, request_id: "req_stub" }),
};
