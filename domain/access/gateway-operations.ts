/**
 * Every operation of the gateway, a row each. Longer than most files: the rows are all that the decisions, the paths, the
 * reading of requests and answers, the traces and the description of the API know of an operation.
 */
import type { Dialect } from "./key-record.ts";
import type { Scope } from "./scopes.ts";

/** Where an operation is served, behind `/g/<public id>/`. */
export type ServedAt = {
  readonly method: "GET" | "POST" | "DELETE";
  /** With `{model}` where it names the model, or another name in braces where it names what an upstream keeps. */
  readonly path: `${"v1" | "v1beta"}/${string}`;
  /** Left out where the formats share the path, and the gateway answers: the caller's head says which is meant. */
  readonly dialect?: Dialect;
};

/** The members that say how much a call may use, as its format spells them. */
export type BoundMembers = {
  /** The most tokens of one answer; left out where none is written. */
  readonly most?: readonly string[];
  /** How many answers there are to be. */
  readonly answers?: readonly string[];
  /** What is answered, each element of a list by itself. */
  readonly prompts?: readonly string[];
  /** What these are within where they are not at the top. */
  readonly within?: readonly string[];
  /** What names a text to read that is kept elsewhere: an id, or an object that has one. */
  readonly references?: readonly string[];
  /** The items to read, of which one that says nothing but its id stands for a part of an earlier response. */
  readonly items?: readonly string[];
  /** What has the answer come before it is written. */
  readonly background?: readonly string[];
};

export type OperationRow = {
  readonly scope: Scope;
  readonly served: readonly ServedAt[];
  /** `json` and `bytes` come from an upstream and pass as they are; the others the gateway makes of its own routes. */
  readonly answer: "json" | "bytes" | "route list" | "route";
  /** Where the model is named; with `none` there is none, and a key or a gateway that is held to models refuses. */
  readonly models: "in the body" | "in the path" | "none";
  /** When a route's next upstream may be asked: as long as the client has got nothing, or never. */
  readonly fallback: "until answered" | "never";
  /** By OpenTelemetry's conventions; the operation's own name where they have none. */
  readonly span?: "chat" | "text_completion" | "generate_content" | "embeddings";
  readonly summary: string;
  /** A body that an SDK may send. */
  readonly example?: object;
} & (
  | {
      /** Where tokens are counted, a form is refused: what a model has to read of it is not known. */
      readonly body: "json" | "form";
      /** What bounds that which an answer reports; `unread` where a call uses nothing that is counted. */
      readonly usage: "unread" | { readonly bounds?: BoundMembers };
    }
  /** What the client sends is not passed on. */
  | { readonly body: "none"; readonly usage: "unread" }
);

const ASKED = { body: "json", answer: "json", fallback: "until answered" } as const;
const IN_BODY = { ...ASKED, models: "in the body" } as const;
const IN_PATH = { ...ASKED, models: "in the path" } as const;
const ROUTES = { scope: "gateway:routes", body: "none", models: "none", usage: "unread", fallback: "never" } as const;
const MESSAGES = [{ role: "user", content: "Hello" }];
const CONTENTS = [{ role: "user", parts: [{ text: "Hello" }] }];
const GEMINI_BOUNDS: BoundMembers = {
  most: ["maxOutputTokens", "max_output_tokens"],
  answers: ["candidateCount", "candidate_count"],
  within: ["generationConfig", "generation_config"],
  references: ["cachedContent", "cached_content"],
};

function post(path: ServedAt["path"], dialect: Dialect): readonly ServedAt[] {
  return [{ method: "POST", path, dialect }];
}

/** What may be done with a model of Gemini's. */
function action(name: string): readonly ServedAt[] {
  return (["v1", "v1beta"] as const).flatMap((version) => post(`${version}/models/{model}:${name}`, "gemini"));
}

const ROWS = {
  "gateway.chat_completions": {
    ...IN_BODY,
    scope: "gateway:generate",
    served: post("v1/chat/completions", "openai"),
    // `prompt_id` is LiteLLM's.
    usage: { bounds: { most: ["max_tokens", "max_completion_tokens"], answers: ["n"], references: ["prompt_id"] } },
    span: "chat",
    summary: "Generate, as OpenAI's chat completions",
    example: { model: "fast-chat", messages: MESSAGES },
  },
  "gateway.completions": {
    ...IN_BODY,
    scope: "gateway:generate",
    served: post("v1/completions", "openai"),
    usage: { bounds: { most: ["max_tokens"], answers: ["n", "best_of"], prompts: ["prompt"] } },
    span: "text_completion",
    summary: "Generate, as OpenAI's completions",
    example: { model: "fast-chat", prompt: "Hello" },
  },
  "gateway.responses": {
    ...IN_BODY,
    scope: "gateway:generate",
    served: post("v1/responses", "openai"),
    usage: {
      bounds: {
        most: ["max_output_tokens"],
        references: ["previous_response_id", "conversation", "prompt"],
        items: ["input"],
        background: ["background"],
      },
    },
    span: "chat",
    summary: "Generate, as OpenAI's responses",
    example: { model: "fast-chat", input: "Hello" },
  },
  "gateway.embeddings": {
    ...IN_BODY,
    scope: "gateway:embed",
    served: post("v1/embeddings", "openai"),
    // What is embedded is all in the body, and nothing is written.
    usage: {},
    span: "embeddings",
    summary: "Embed, as OpenAI",
    example: { model: "embed", input: "Hello" },
  },
  "gateway.messages": {
    ...IN_BODY,
    scope: "gateway:generate",
    served: post("v1/messages", "anthropic"),
    usage: { bounds: { most: ["max_tokens"] } },
    span: "chat",
    summary: "Generate, as Anthropic's messages",
    example: { model: "fast-chat", max_tokens: 256, messages: MESSAGES },
  },
  "gateway.count_message_tokens": {
    ...IN_BODY,
    scope: "gateway:generate",
    served: post("v1/messages/count_tokens", "anthropic"),
    usage: "unread",
    summary: "Count tokens, as Anthropic's messages",
    example: { model: "fast-chat", messages: MESSAGES },
  },
  "gateway.generate_content": {
    ...IN_PATH,
    scope: "gateway:generate",
    served: action("generateContent"),
    usage: { bounds: GEMINI_BOUNDS },
    span: "generate_content",
    summary: "Generate, as Gemini",
    example: { contents: CONTENTS },
  },
  "gateway.stream_generate_content": {
    ...IN_PATH,
    scope: "gateway:generate",
    served: action("streamGenerateContent"),
    usage: { bounds: GEMINI_BOUNDS },
    span: "generate_content",
    summary: "Generate as a stream, as Gemini",
    example: { contents: CONTENTS },
  },
  "gateway.count_tokens": {
    ...IN_PATH,
    scope: "gateway:generate",
    served: action("countTokens"),
    usage: "unread",
    summary: "Count tokens, as Gemini",
    example: { contents: CONTENTS },
  },
  "gateway.embed_content": {
    ...IN_PATH,
    scope: "gateway:embed",
    served: action("embedContent"),
    usage: { bounds: {} },
    span: "embeddings",
    summary: "Embed, as Gemini",
    example: { content: CONTENTS[0] },
  },
  "gateway.batch_embed_contents": {
    ...IN_PATH,
    scope: "gateway:embed",
    served: action("batchEmbedContents"),
    usage: { bounds: {} },
    span: "embeddings",
    summary: "Embed several, as Gemini",
    example: { requests: [{ model: "models/embed", content: CONTENTS[0] }] },
  },
  "gateway.list_models": {
    ...ROUTES,
    served: [
      { method: "GET", path: "v1/models" },
      { method: "GET", path: "v1beta/models", dialect: "gemini" },
    ],
    answer: "route list",
    summary: "List the gateway's logical routes",
  },
  "gateway.get_model": {
    ...ROUTES,
    served: [
      { method: "GET", path: "v1/models/{model}" },
      { method: "GET", path: "v1beta/models/{model}", dialect: "gemini" },
    ],
    answer: "route",
    summary: "Read one of the gateway's logical routes",
  },
} as const satisfies Readonly<Record<`gateway.${string}`, OperationRow>>;

/** An operation that has a path. */
export type ServedOperation = keyof typeof ROWS;

export const GATEWAY_OPERATIONS: Readonly<Record<ServedOperation, OperationRow>> = ROWS;

export const SERVED_OPERATIONS = Object.keys(GATEWAY_OPERATIONS) as readonly ServedOperation[];

/** Whether the gateway asks an upstream for the answer. */
export function isForwarded({ answer }: OperationRow): boolean {
  return answer === "json" || answer === "bytes";
}

/** Whether the answers to an operation may report what the call used. */
export function reportsUsage({ usage }: OperationRow): boolean {
  return usage !== "unread";
}
