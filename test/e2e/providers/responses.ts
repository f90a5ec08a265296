/** OpenAI's responses, in the types of its SDK. */
import type OpenAI from "openai";
import { openaiError } from "./chat-completions.ts";
import {
  type Asked,
  answersCall,
  type Format,
  imageOf,
  piecesOf,
  type Reply,
  type Stream,
  type StreamEvent,
  TOKENS,
} from "./format.ts";

type Params = OpenAI.Responses.ResponseCreateParams;
type Item = OpenAI.Responses.ResponseInputItem;
type Part = OpenAI.Responses.ResponseInputContent;
type OutputItem = OpenAI.Responses.ResponseOutputMessage | OpenAI.Responses.ResponseFunctionToolCall;
/** The SDK adds `output_text` itself. */
type Response = Omit<OpenAI.Responses.Response, "output_text">;
type Status = "in_progress" | "completed";

const MESSAGE_ID = "msg_stub";
const ITEM_ID = "fc_stub";
const CALL_ID = "call_stub";
const USAGE: OpenAI.Responses.ResponseUsage = {
  input_tokens: TOKENS.input,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: TOKENS.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: TOKENS.total,
};

function partsOf(item: Item): readonly Part[] {
  if (!("role" in item) || item.role !== "user") return [];
  return typeof item.content === "string" ? [{ type: "input_text", text: item.content }] : item.content;
}

function read(body: string): Asked {
  const { model = "", input = [], stream, tools = [], text }: Params = JSON.parse(body);
  const items: Item[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const parts = items.flatMap(partsOf);
  const results = items.flatMap((item) => ("type" in item && item.type === "function_call_output" ? [item] : []));
  for (const { call_id } of results) answersCall(call_id ?? undefined, CALL_ID);
  const [output] = results.map((result) => result.output);
  const [tool] = tools.filter((one) => one.type === "function");
  const images = parts.flatMap((part) => (part.type === "input_image" ? [part.image_url ?? ""] : []));
  return {
    model,
    isStream: stream === true,
    prompt: parts.map((part) => (part.type === "input_text" ? part.text : "")).join("\n"),
    image: images.map(imageOf)[0],
    tool: tool && { name: tool.name, schema: tool.parameters },
    toolResult: typeof output === "object" ? JSON.stringify(output) : output,
    schema: text?.format?.type === "json_schema" ? text.format.schema : undefined,
  };
}

const partOf = (text: string): OpenAI.Responses.ResponseOutputText => ({
  type: "output_text",
  text,
  annotations: [],
  logprobs: [],
});

function messageOf(status: Status, texts: readonly string[]): OpenAI.Responses.ResponseOutputMessage {
  return { type: "message", id: MESSAGE_ID, role: "assistant", status, content: texts.map(partOf) };
}

function callOf(status: Status, name: string, args: string): OpenAI.Responses.ResponseFunctionToolCall {
  return { type: "function_call", id: ITEM_ID, call_id: CALL_ID, name, arguments: args, status };
}

const itemOf = (reply: Reply): OutputItem =>
  reply.kind === "text"
    ? messageOf("completed", [reply.text])
    : callOf("completed", reply.name, JSON.stringify(reply.args));

function responseOf(status: Status, output: OutputItem[], { model }: Asked): Response {
  return {
    id: "resp_stub",
    object: "response",
    created_at: 1_767_225_600,
    access_programs: null,
    status,
    model,
    output,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    ...(status === "completed" && { usage: USAGE }),
  };
}

/** The number of an event is its place in the stream, which what sends it knows. */
const event = <E extends OpenAI.Responses.ResponseStreamEvent>(data: Omit<E, "sequence_number">): StreamEvent => ({
  name: (data as E).type,
  data: { ...data, sequence_number: 0 },
});

function stream(reply: Reply, asked: Asked): Stream {
  const begun = responseOf("in_progress", [], asked) as OpenAI.Responses.Response;
  const ended = responseOf("completed", [itemOf(reply)], asked) as OpenAI.Responses.Response;
  const created = event<OpenAI.Responses.ResponseCreatedEvent>({ type: "response.created", response: begun });
  const completed = event<OpenAI.Responses.ResponseCompletedEvent>({ type: "response.completed", response: ended });
  const added = (item: OutputItem) =>
    event<OpenAI.Responses.ResponseOutputItemAddedEvent>({ type: "response.output_item.added", output_index: 0, item });
  const done = event<OpenAI.Responses.ResponseOutputItemDoneEvent>({
    type: "response.output_item.done",
    output_index: 0,
    item: itemOf(reply),
  });
  if (reply.kind === "call") {
    const at = { item_id: ITEM_ID, output_index: 0 };
    const args = JSON.stringify(reply.args);
    return {
      opening: [created, added(callOf("in_progress", reply.name, ""))],
      deltas: piecesOf(args).map((delta) =>
        event<OpenAI.Responses.ResponseFunctionCallArgumentsDeltaEvent>({
          type: "response.function_call_arguments.delta",
          ...at,
          delta,
        }),
      ),
      closing: [
        event<OpenAI.Responses.ResponseFunctionCallArgumentsDoneEvent>({
          type: "response.function_call_arguments.done",
          ...at,
          arguments: args,
        }),
        done,
        completed,
      ],
    };
  }
  const at = { item_id: MESSAGE_ID, output_index: 0, content_index: 0 };
  return {
    opening: [
      created,
      added(messageOf("in_progress", [])),
      event<OpenAI.Responses.ResponseContentPartAddedEvent>({
        type: "response.content_part.added",
        ...at,
        part: partOf(""),
      }),
    ],
    deltas: piecesOf(reply.text).map((delta) =>
      event<OpenAI.Responses.ResponseTextDeltaEvent>({
        type: "response.output_text.delta",
        ...at,
        delta,
        logprobs: [],
      }),
    ),
    closing: [
      event<OpenAI.Responses.ResponseTextDoneEvent>({
        type: "response.output_text.done",
        ...at,
        text: reply.text,
        logprobs: [],
      }),
      event<OpenAI.Responses.ResponseContentPartDoneEvent>({
        type: "response.content_part.done",
        ...at,
        part: partOf(reply.text),
      }),
      done,
      completed,
    ],
  };
}

export const RESPONSES: Format = {
  read,
  whole: (reply, asked) => responseOf("completed", [itemOf(reply)], asked),
  stream,
  error: openaiError,
};
