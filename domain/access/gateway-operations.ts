/**
 * Every operation of the gateway, one row for each. Longer than most files: decisions, paths, the parsing of requests
 * and
 * answers, traces and the API description know nothing of an operation but its row.
 */

import type { Dialect, OperationKind } from "./key-record.ts";
import type { Scope } from "./scopes.ts";

/**
 * Units in which some calls are counted beside tokens: `images` of an answer; `seconds` of the sound that a call has
 * sent, if its answer reports them; `characters` of a text that was spoken.
 */
export const UNITS = ["images", "seconds", "characters"] as const;
export type Unit = (typeof UNITS)[number];

/** Version of an API, as paths begin with it; Google's has versions of its own for uploads and downloads. */
export type ApiVersion = "v1" | "v1beta" | "upload/v1beta" | "download/v1beta";

/** Method and path of an operation behind `/g/<public id>/`. */
export type ServedAt = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path of the operation. `{model}` stands for the model, another name in braces for what an upstream keeps. */
  readonly path: `${ApiVersion}/${string}`;
  /** Format of the operation. Left out if formats share the path: the headers tell. */
  readonly dialect?: Dialect;
};

/** Names of the members of a request's body that bound how much a call may use, in the spelling of its format. */
export type BoundMembers = {
  /** Members for the maximum number of tokens of one answer; left out if no tokens are generated. */
  readonly most?: readonly string[];
  /** Members for the number of answers. */
  readonly answers?: readonly string[];
  /** Members for the prompts: each element of a list is answered by itself. */
  readonly prompts?: readonly string[];
  /** Members that contain the others, if these are not at the top level. */
  readonly within?: readonly string[];
  /** Members that refer to an input kept elsewhere: an id, or an object that has an id. */
  readonly references?: readonly string[];
  /** Members for the input items. An item with nothing but an id stands for a part of an earlier response. */
  readonly items?: readonly string[];
  /** Members by which the response comes before the answer is generated. */
  readonly background?: readonly string[];
  /** Member for the text that is spoken, whose characters are counted. */
  readonly spoken?: readonly string[];
  /** Members by which another model works on the answer too, whose usage is reported elsewhere. */
  readonly refused?: readonly string[];
};

/** Usage that is counted of an operation's calls. */
export type CountedUsage = {
  readonly bounds?: BoundMembers;
  /** Tokens of an answer whose call bounds none, if it is no text. */
  readonly usual?: number;
  /** Unit beside tokens. */
  readonly unit?: Unit;
  /** True if the answer names its model in another way than its format: its usage counts under the model of the body. */
  readonly asked?: true;
};

/**
 * Kinds of objects that an upstream keeps for every caller with its credential, and finds again by an id. An `output` is
 * a file that a batch has made: it is read and deleted as files are, and named in no body. A `store` is a vector store,
 * and an `addition` is several files that are added to one together. A `search store` has documents that Gemini searches, a
 * `profile` is a customer whom Anthropic may bill, and a `message` an answer from which a thread goes on: none of these is
 * recorded, so that each is unknown.
 */
export type KeptKind =
  | "response"
  | "conversation"
  | "item"
  | "file"
  | "upload"
  | "part"
  | "session"
  | "cache"
  | "batch"
  | "output"
  | "store"
  | "search store"
  | "addition"
  | "profile"
  | "message";

/**
 * Meaning of a member of a body that holds ids: an id, an object with one or a list of these; or a list of items that may
 * stand for others.
 */
export type ReferringMember = Exclude<KeptKind, "item"> | "items";

/**
 * Places in a body, by names of members as they are spelt, `*` for elements and `{}` for members that the caller names.
 * What stands at `opaque` is what a call's own tools have said, a schema or what an answer cited: no upstream looks a
 * file up there.
 */
export type OpaquePlaces = { readonly [member: string]: OpaquePlaces | "opaque" };

/**
 * Objects that an upstream keeps, as an operation's calls name, make and delete them. A call reaches those of its own
 * team alone.
 */
export type KeptObjects = {
  /** Kind of the object that the path names by its first placeholder; left out if it names none. */
  readonly named?: Exclude<KeptKind, "item">;
  /** Kind of the object that the path names by its last placeholder, if that is held to the team by itself. */
  readonly within?: Exclude<KeptKind, "item">;
  /** Members that a body may have, where others would have some upstream do more; left out if it may have any. */
  readonly members?: readonly string[];
  /** Members of the body that hold ids, in the spelling of its format; left out if the body is not read for them. */
  readonly referring?: Readonly<Record<string, ReferringMember>>;
  /** Members that hold ids wherever in the body they stand, but for some places; left out if there are none. */
  readonly mentioned?: { readonly members: Readonly<Record<string, KeptKind>>; readonly but: OpaquePlaces };
  /** Objects whose ids an answer brings as it passes; left out if a call makes none in this way. */
  readonly made?: {
    /** Kind of the object that the answer is. */
    readonly object?: Exclude<KeptKind, "item">;
    /** Member of the answer with a list of items. */
    readonly items?: string;
    /** Member of the body by which nothing is kept if it is false. */
    readonly unless?: string;
  };
  /** Object that an answer brings that is read whole: the answer itself, or its member `within`; left out for none. */
  readonly brought?: { readonly kind: KeptKind; readonly within?: string };
  /** True if calls are those of Google's resumable uploads: the first begins a session, which the query of others names. */
  readonly resumes?: true;
  /** True if the answer is an object in which a URL may stand that is to lead to the gateway. */
  readonly shown?: true;
  /** True if the answer has the results of a batch, whose usage is counted once, before any of it leaves. */
  readonly results?: true;
  /**
   * Members of the object that is shown, or of each in a list, that hold ids of what it has made, with the members around
   * them in front; left out for none.
   */
  readonly yields?: Readonly<Record<string, KeptKind>>;
  /**
   * Query to ask the upstream with, in place of the client's; left out for the client's. Google's APIs may read there
   * the name that the path has.
   */
  readonly query?: string;
  /** Kind of the objects that the answer lists, of which those of the team are shown; left out if it is no list. */
  readonly listed?: KeptKind;
  /** Kind of the object that the last placeholder names, and that is gone after a success; left out for none. */
  readonly ended?: KeptKind;
};

export type OperationRow = {
  readonly scope: Scope;
  /** Kind of the operation: a gateway serves the kinds that it names. */
  readonly kind: OperationKind;
  readonly served: readonly ServedAt[];
  /**
   * Origin of the answer: `json`, `media` and `bytes` pass unchanged from an upstream; the gateway makes the others.
   * Usage is read of `json`, and of `media` where its media type is JSON or an event stream.
   */
  readonly answer: "json" | "media" | "bytes" | "route list" | "route";
  /**
   * Place of the model's name, which a call may leave out of a body. A key or gateway that is restricted to models
   * refuses a call without one, and so every call with `none`; calls with `unused` ask no model, so that the restriction
   * does not matter. Requests in a body, and in a file that a body names, name the same one each.
   */
  readonly models: "in the body" | "in the requests" | "in the file" | "in the path" | "none" | "unused";
  /** Period in which a route's next upstream may be asked: until the client has received something, or never. */
  readonly fallback: "until answered" | "never";
  /** Objects that upstreams keep; left out if its calls have nothing to do with them. */
  readonly kept?: KeptObjects;
  /** True if what a call uses is known long after it, so that no limit of tokens and no budget can hold it. */
  readonly isLate?: true;
  /** True if the lines of a batch's file may ask for the operation, by its path. */
  readonly isBatched?: true;
  /** Operation that all requests of a batch ask for, whose scope and kind it takes too; left out if they name theirs. */
  readonly asks?: `gateway.${string}`;
  /** Operation name by OpenTelemetry's conventions; left out if they have none: then it is the operation's own name. */
  readonly span?: "chat" | "text_completion" | "generate_content" | "embeddings";
  readonly summary: string;
  /** Example of a body that an SDK may send. */
  readonly example?: object;
} & (
  | {
      readonly body: "json" | "form";
      /** Usage that is counted; `unread` if nothing of it is, in usage and in advice. */
      readonly usage: "unread" | CountedUsage;
    }
  /** The client's body is not passed on. */
  | { readonly body: "none"; readonly usage: "unread" }
);

const ASKED = { body: "json", answer: "json", fallback: "until answered" } as const;
const IN_BODY = { ...ASKED, models: "in the body" } as const;
const IN_FORM = { ...IN_BODY, body: "form" } as const;
const IN_PATH = { ...ASKED, models: "in the path" } as const;
const ROUTES = {
  scope: "gateway:routes",
  kind: "models",
  body: "none",
  models: "none",
  usage: "unread",
  fallback: "never",
} as const;
/** Tokens of a large picture in high quality, of a speech as long as it may be, and of a long transcript. */
const [IMAGE_TOKENS, SPEECH_TOKENS, TRANSCRIPT_TOKENS] = [6_240, 4_096, 2_000];
const IMAGES = {
  scope: "gateway:generate",
  kind: "images",
  usage: { bounds: { answers: ["n"], refused: ["svg"] }, usual: IMAGE_TOKENS, unit: "images" },
} as const;
const AUDIO = { scope: "gateway:generate", kind: "audio", answer: "media" } as const;
const HEARD = { ...AUDIO, usage: { bounds: {}, usual: TRANSCRIPT_TOKENS, unit: "seconds" } } as const;
const KEPT_HERE = {
  scope: "gateway:generate",
  kind: "responses",
  answer: "json",
  models: "unused",
  usage: "unread",
  fallback: "never",
} as const;
const READ_BACK = { ...KEPT_HERE, body: "none" } as const;
const OF_RESPONSE = { ...READ_BACK, kept: { named: "response" } } as const;
const OF_CONVERSATION = { ...READ_BACK, kept: { named: "conversation" } } as const;
const SENT = { ...KEPT_HERE, body: "json" } as const;
const OF_FILES = { ...KEPT_HERE, scope: "gateway:files", kind: "files" } as const;
const OF_FILE = { ...OF_FILES, body: "none", kept: { named: "file" } } as const;
const OF_BATCH = { ...READ_BACK, kind: "batches" } as const;
const OF_UPLOAD = { ...OF_FILES, kept: { named: "upload" } } as const;
/**
 * Gemini's cached content and file search stores, which gateways in front of it, and its own of OpenAI's format, take in
 * other formats too. No call makes such a store, so that each is unknown.
 */
const GEMINI_MEMBERS = { cachedContent: "cache", fileSearchStoreNames: "search store" } as const;
/** Files in an input of OpenAI's formats. What an item cites, found or printed has ids of files that are not read. */
export const FILE_MEMBERS = {
  ...({ file_id: "file", file_ids: "file", vector_store_id: "store", vector_store_ids: "store" } as const),
  ...GEMINI_MEMBERS,
};
const FILES_OF_PROMPTS: KeptObjects = { mentioned: { members: FILE_MEMBERS, but: { metadata: "opaque" } } };
const SCHEMAS_OF_TOOL: OpaquePlaces = { parameters: "opaque", output_schema: "opaque", input_schema: "opaque" };
const SCHEMAS_OF_TOOLS: OpaquePlaces = {
  "*": { ...SCHEMAS_OF_TOOL, function: SCHEMAS_OF_TOOL, tools: { "*": SCHEMAS_OF_TOOL } },
};
const CITED_ITEMS: OpaquePlaces = {
  "*": {
    ...{ content: { "*": { annotations: "opaque" } }, results: "opaque", outputs: "opaque" },
    ...{ arguments: "opaque", tools: SCHEMAS_OF_TOOLS },
  },
};
const FILES_OF_CHAT: KeptObjects = {
  mentioned: {
    members: FILE_MEMBERS,
    but: {
      ...{ metadata: "opaque", tools: SCHEMAS_OF_TOOLS, functions: SCHEMAS_OF_TOOLS },
      messages: { "*": { annotations: "opaque" } },
      response_format: { json_schema: { schema: "opaque" } },
    },
  },
};
const FILES_OF_RESPONSES: KeptObjects["mentioned"] = {
  members: { ...FILE_MEMBERS, comparison_response_id: "response" },
  but: {
    ...{ metadata: "opaque", tools: SCHEMAS_OF_TOOLS, input: CITED_ITEMS, text: { format: { schema: "opaque" } } },
    // A variable's value may be a part of an input, and its name is none of a part's members.
    prompt: { variables: { "{}": {} } },
  },
};
const FILES_OF_ITEMS: KeptObjects["mentioned"] = {
  members: FILE_MEMBERS,
  but: { metadata: "opaque", items: CITED_ITEMS },
};
const DEFINED_TOOL: OpaquePlaces = { input_schema: "opaque", input_examples: "opaque" };
const ADDED_TOOL: OpaquePlaces = { tool: { definition: DEFINED_TOOL } };
const ANTHROPIC_MEMBERS = { ...FILE_MEMBERS, previous_message_id: "message", user_profile_id: "profile" } as const;
/**
 * Files in an input of Anthropic's format, and the message that a thread goes on from. Diagnostics compare a call with an
 * earlier one, and show nothing of that. The result of code of Anthropic's lists what it made; that of a fetch is a
 * document, which may name a file. Citations say in which file an answer has found something, or if a document may be
 * cited.
 */
const FILES_OF_MESSAGES: KeptObjects = {
  mentioned: {
    members: ANTHROPIC_MEMBERS,
    but: {
      diagnostics: "opaque",
      messages: {
        "*": {
          content: {
            "*": {
              ...{ input: "opaque", content: { content: { "*": "opaque" } }, citations: "opaque" },
              ...{ tools: { "*": DEFINED_TOOL }, ...ADDED_TOOL, tool_changes: { "*": ADDED_TOOL } },
            },
          },
        },
      },
      tools: { "*": DEFINED_TOOL },
      ...{ output_format: { schema: "opaque" }, output_config: { format: { schema: "opaque" } } },
    },
  },
};
/**
 * Files in an input of Gemini's format; what a function was given and has answered, and a schema, name none. A tool of
 * Google's own may process a file that its call names.
 */
const CALLED = { args: "opaque" } as const;
const ANSWERED = { response: "opaque" } as const;
const SCHEMAS_OF_FUNCTIONS: OpaquePlaces = {
  "*": {
    ...{ parameters: "opaque", parametersJsonSchema: "opaque", parameters_json_schema: "opaque" },
    ...{ response: "opaque", responseJsonSchema: "opaque", response_json_schema: "opaque" },
  },
};
const SCHEMAS_OF_ANSWER: OpaquePlaces = {
  ...{ responseSchema: "opaque", response_schema: "opaque" },
  ...{ responseJsonSchema: "opaque", response_json_schema: "opaque" },
};
const OPAQUE_IN_CONTENTS: OpaquePlaces = {
  tools: { "*": { functionDeclarations: SCHEMAS_OF_FUNCTIONS, function_declarations: SCHEMAS_OF_FUNCTIONS } },
  ...{ generationConfig: SCHEMAS_OF_ANSWER, generation_config: SCHEMAS_OF_ANSWER },
  contents: {
    "*": {
      parts: {
        "*": {
          ...{ functionCall: CALLED, function_call: CALLED },
          ...{ functionResponse: ANSWERED, function_response: ANSWERED },
        },
      },
    },
  },
};
const FILES_OF_CONTENTS: KeptObjects = {
  mentioned: { members: { fileUri: "file", ...GEMINI_MEMBERS }, but: OPAQUE_IN_CONTENTS },
};
/** Files in what is counted, which may be the whole request to generate. */
const FILES_OF_COUNT: KeptObjects = {
  mentioned: {
    members: { fileUri: "file", ...GEMINI_MEMBERS },
    but: {
      ...OPAQUE_IN_CONTENTS,
      ...{ generateContentRequest: OPAQUE_IN_CONTENTS, generate_content_request: OPAQUE_IN_CONTENTS },
    },
  },
};
/** Files in a cached content, which may not be named as another is. */
const FILES_OF_CACHE: KeptObjects = {
  referring: { name: "cache" },
  mentioned: { members: { fileUri: "file", ...GEMINI_MEMBERS }, but: OPAQUE_IN_CONTENTS },
};
/** Files and messages in the requests of a batch of Anthropic's. */
const FILES_OF_BATCH: KeptObjects = {
  referring: {},
  mentioned: {
    members: ANTHROPIC_MEMBERS,
    but: { requests: { "*": { params: FILES_OF_MESSAGES.mentioned?.but ?? "opaque" } } },
  },
};
/** Vector store of a path; and the files that a body adds to one. */
const OF_STORES = { ...OF_FILES, kind: "vectorStores" } as const;
const OF_STORE = { ...OF_STORES, body: "none", kept: { named: "store" } } as const;
const OF_ADDITION = { ...OF_STORES, body: "none", kept: { named: "store", within: "addition" } } as const;
const OF_FILE_IN_STORE = { ...OF_STORES, body: "none", kept: { named: "store", within: "file" } } as const;
const FILES_OF_STORE: KeptObjects = {
  referring: {},
  mentioned: {
    members: FILE_MEMBERS,
    but: { metadata: "opaque", attributes: "opaque", files: { "*": { attributes: "opaque" } } },
  },
};
/**
 * File of a batch of OpenAI's, whose lines are its requests. By other members, some upstreams take the requests from
 * elsewhere, put their results elsewhere, or ask another provider.
 */
const FILE_OF_BATCH: KeptObjects = {
  members: ["input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"],
  referring: {},
  mentioned: { members: { input_file_id: "file", ...FILE_MEMBERS }, but: { metadata: "opaque" } },
};
/** Files in the requests of a batch of Gemini's; the one in which they stand is found at its one place. */
const REQUESTS_OF_GEMINI: OpaquePlaces = {
  requests: { requests: { "*": { metadata: "opaque", request: OPAQUE_IN_CONTENTS } } },
};
const FILES_OF_GEMINI_BATCH: KeptObjects = {
  referring: {},
  mentioned: {
    members: { fileUri: "file", ...GEMINI_MEMBERS },
    but: { batch: { inputConfig: REQUESTS_OF_GEMINI, input_config: REQUESTS_OF_GEMINI } },
  },
};
/** File that a batch of Gemini's has made: an answer names it in two places. */
const OUTPUTS_OF_GEMINI = { "response.responsesFile": "output", "metadata.output.responsesFile": "output" } as const;
/** Batch of Gemini's, all of whose requests ask for one operation. */
const GEMINI_BATCH = {
  ...IN_PATH,
  scope: "gateway:generate",
  kind: "batches",
  fallback: "never",
  usage: "unread",
  isLate: true,
  kept: { ...FILES_OF_GEMINI_BATCH, brought: { kind: "batch" }, yields: OUTPUTS_OF_GEMINI, query: "" },
} as const;
/** Files that a batch of OpenAI's has made. */
const OUTPUTS = { output_file_id: "output", error_file_id: "output" } as const;
const MESSAGES = [{ role: "user", content: "Hello" }];
const CONTENTS = [{ role: "user", parts: [{ text: "Hello" }] }];
const GEMINI_BOUNDS: BoundMembers = {
  most: ["maxOutputTokens", "max_output_tokens"],
  answers: ["candidateCount", "candidate_count"],
  within: ["generationConfig", "generation_config"],
  references: ["cachedContent", "cached_content"],
};

/** Returns the input of a batch of Gemini's with one request. */
const REQUESTS = (request: object): object => ({ requests: { requests: [{ request, metadata: { key: "1" } }] } });

function post(path: ServedAt["path"], dialect: Dialect): readonly ServedAt[] {
  return [{ method: "POST", path, dialect }];
}

/** Returns the path of what an upstream of OpenAI's API keeps. */
function openai(method: ServedAt["method"], path: ServedAt["path"]): readonly ServedAt[] {
  return [{ method, path, dialect: "openai" }];
}

/** Returns a path of OpenAI's vector stores. */
function stores(method: ServedAt["method"], path: "" | `/{id}${string}` = ""): readonly ServedAt[] {
  return openai(method, `v1/vector_stores${path}`);
}

/** Returns a path of Anthropic's batches. */
function batches(
  method: ServedAt["method"],
  path: "" | `/{id}${"" | "/cancel" | "/results"}` = "",
): readonly ServedAt[] {
  return [{ method, path: `v1/messages/batches${path}`, dialect: "anthropic" }];
}

/** Returns a path of Gemini's batches. */
function geminiBatches(method: ServedAt["method"], path: "" | `/{id}${"" | ":cancel"}` = ""): readonly ServedAt[] {
  return [{ method, path: `v1beta/batches${path}`, dialect: "gemini" }];
}

/** Returns a path of Gemini's cached contents. */
function cachedContents(method: ServedAt["method"], path: "" | "/{id}" = ""): readonly ServedAt[] {
  return [{ method, path: `v1beta/cachedContents${path}`, dialect: "gemini" }];
}

/** Returns the paths of an action on a Gemini model. */
function action(name: string): readonly ServedAt[] {
  return (["v1", "v1beta"] as const).flatMap((version) => post(`${version}/models/{model}:${name}`, "gemini"));
}

const ROWS = {
  "gateway.chat_completions": {
    ...IN_BODY,
    isBatched: true,
    scope: "gateway:generate",
    kind: "generate",
    served: post("v1/chat/completions", "openai"),
    // `prompt_id` is LiteLLM's.
    usage: { bounds: { most: ["max_tokens", "max_completion_tokens"], answers: ["n"], references: ["prompt_id"] } },
    kept: FILES_OF_CHAT,
    span: "chat",
    summary: "Generate, as OpenAI's chat completions",
    example: { model: "fast-chat", messages: MESSAGES },
  },
  "gateway.completions": {
    ...IN_BODY,
    isBatched: true,
    scope: "gateway:generate",
    kind: "generate",
    served: post("v1/completions", "openai"),
    usage: { bounds: { most: ["max_tokens"], answers: ["n", "best_of"], prompts: ["prompt"] } },
    kept: FILES_OF_PROMPTS,
    span: "text_completion",
    summary: "Generate, as OpenAI's completions",
    example: { model: "fast-chat", prompt: "Hello" },
  },
  "gateway.responses": {
    ...IN_BODY,
    isBatched: true,
    scope: "gateway:generate",
    kind: "generate",
    served: post("v1/responses", "openai"),
    usage: {
      bounds: {
        most: ["max_output_tokens"],
        references: ["previous_response_id", "conversation", "prompt"],
        items: ["input"],
        background: ["background"],
      },
    },
    kept: {
      // vLLM names the response by `request_id`, over one that it has by that name.
      referring: {
        ...{ previous_response_id: "response", request_id: "response" },
        ...{ conversation: "conversation", input: "items" },
      },
      mentioned: FILES_OF_RESPONSES,
      made: { object: "response", items: "output", unless: "store" },
    },
    span: "chat",
    summary: "Generate, as OpenAI's responses",
    example: { model: "fast-chat", input: "Hello" },
  },
  "gateway.embeddings": {
    ...IN_BODY,
    isBatched: true,
    scope: "gateway:embed",
    kind: "embed",
    served: post("v1/embeddings", "openai"),
    // The input is all in the body, and no tokens are generated.
    usage: {},
    span: "embeddings",
    summary: "Embed, as OpenAI",
    example: { model: "embed", input: "Hello" },
  },
  "gateway.messages": {
    ...IN_BODY,
    scope: "gateway:generate",
    kind: "generate",
    served: post("v1/messages", "anthropic"),
    usage: { bounds: { most: ["max_tokens"] } },
    kept: FILES_OF_MESSAGES,
    span: "chat",
    summary: "Generate, as Anthropic's messages",
    example: { model: "fast-chat", max_tokens: 256, messages: MESSAGES },
  },
  "gateway.count_message_tokens": {
    ...IN_BODY,
    scope: "gateway:generate",
    kind: "generate",
    served: post("v1/messages/count_tokens", "anthropic"),
    usage: "unread",
    kept: FILES_OF_MESSAGES,
    summary: "Count tokens, as Anthropic's messages",
    example: { model: "fast-chat", messages: MESSAGES },
  },
  "gateway.create_message_batch": {
    ...{ ...ASKED, scope: "gateway:generate", kind: "batches", models: "in the requests", fallback: "never" },
    served: batches("POST"),
    usage: "unread",
    isLate: true,
    kept: { ...FILES_OF_BATCH, brought: { kind: "batch" } },
    summary: "Have requests answered later, as Anthropic's message batches",
    example: { requests: [{ custom_id: "1", params: { model: "fast-chat", max_tokens: 256, messages: MESSAGES } }] },
  },
  "gateway.list_message_batches": {
    ...OF_BATCH,
    served: batches("GET"),
    kept: { listed: "batch" },
    summary: "List the team's batches, as Anthropic",
  },
  "gateway.get_message_batch": {
    ...OF_BATCH,
    served: batches("GET", "/{id}"),
    kept: { named: "batch", shown: true },
    summary: "Describe a batch, as Anthropic",
  },
  "gateway.cancel_message_batch": {
    ...OF_BATCH,
    served: batches("POST", "/{id}/cancel"),
    kept: { named: "batch", shown: true },
    summary: "Cancel a batch, as Anthropic",
  },
  "gateway.delete_message_batch": {
    ...OF_BATCH,
    served: batches("DELETE", "/{id}"),
    kept: { named: "batch", ended: "batch" },
    summary: "Delete a batch, as Anthropic",
  },
  "gateway.get_batch_results": {
    ...{ ...OF_BATCH, answer: "media" },
    served: batches("GET", "/{id}/results"),
    kept: { named: "batch", results: true },
    summary: "Read what the requests of a batch were answered, as Anthropic",
  },
  "gateway.create_batch": {
    ...{ ...ASKED, scope: "gateway:generate", kind: "batches", models: "in the file", fallback: "never" },
    served: openai("POST", "v1/batches"),
    usage: "unread",
    isLate: true,
    kept: { ...FILE_OF_BATCH, brought: { kind: "batch" }, yields: OUTPUTS },
    summary: "Have the requests in a file answered later, as OpenAI's batches",
    example: { input_file_id: "file-1", endpoint: "/v1/chat/completions", completion_window: "24h" },
  },
  "gateway.list_batches": {
    ...OF_BATCH,
    served: openai("GET", "v1/batches"),
    kept: { listed: "batch", yields: OUTPUTS },
    summary: "List the team's batches, as OpenAI",
  },
  "gateway.get_batch": {
    ...OF_BATCH,
    served: openai("GET", "v1/batches/{id}"),
    kept: { named: "batch", shown: true, yields: OUTPUTS },
    summary: "Describe a batch, as OpenAI",
  },
  "gateway.cancel_batch": {
    ...OF_BATCH,
    served: openai("POST", "v1/batches/{id}/cancel"),
    kept: { named: "batch", shown: true, yields: OUTPUTS },
    summary: "Cancel a batch, as OpenAI",
  },
  "gateway.generate_content": {
    ...IN_PATH,
    scope: "gateway:generate",
    kind: "generate",
    served: action("generateContent"),
    usage: { bounds: GEMINI_BOUNDS },
    span: "generate_content",
    kept: FILES_OF_CONTENTS,
    summary: "Generate, as Gemini",
    example: { contents: CONTENTS },
  },
  "gateway.stream_generate_content": {
    ...IN_PATH,
    scope: "gateway:generate",
    kind: "generate",
    served: action("streamGenerateContent"),
    usage: { bounds: GEMINI_BOUNDS },
    span: "generate_content",
    kept: FILES_OF_CONTENTS,
    summary: "Generate as a stream, as Gemini",
    example: { contents: CONTENTS },
  },
  "gateway.count_tokens": {
    ...IN_PATH,
    scope: "gateway:generate",
    kind: "generate",
    served: action("countTokens"),
    usage: "unread",
    kept: FILES_OF_COUNT,
    summary: "Count tokens, as Gemini",
    example: { contents: CONTENTS },
  },
  "gateway.embed_content": {
    ...IN_PATH,
    scope: "gateway:embed",
    kind: "embed",
    served: action("embedContent"),
    usage: { bounds: {} },
    span: "embeddings",
    kept: FILES_OF_CONTENTS,
    summary: "Embed, as Gemini",
    example: { content: CONTENTS[0] },
  },
  "gateway.batch_embed_contents": {
    ...IN_PATH,
    scope: "gateway:embed",
    kind: "embed",
    served: action("batchEmbedContents"),
    usage: { bounds: {} },
    span: "embeddings",
    kept: FILES_OF_CONTENTS,
    summary: "Embed several, as Gemini",
    example: { requests: [{ model: "models/embed", content: CONTENTS[0] }] },
  },
  "gateway.batch_generate_content": {
    ...GEMINI_BATCH,
    served: post("v1beta/models/{model}:batchGenerateContent", "gemini"),
    asks: "gateway.generate_content",
    summary: "Have requests answered later, as Gemini's batches",
    example: { batch: { displayName: "nightly", inputConfig: REQUESTS({ contents: CONTENTS }) } },
  },
  "gateway.async_batch_embed_content": {
    ...GEMINI_BATCH,
    served: post("v1beta/models/{model}:asyncBatchEmbedContent", "gemini"),
    asks: "gateway.embed_content",
    summary: "Have texts embedded later, as Gemini's batches",
    example: { batch: { displayName: "nightly", inputConfig: REQUESTS({ content: CONTENTS[0] }) } },
  },
  "gateway.list_gemini_batches": {
    ...OF_BATCH,
    served: geminiBatches("GET"),
    kept: { listed: "batch", yields: OUTPUTS_OF_GEMINI },
    summary: "List the team's batches, as Gemini",
  },
  "gateway.get_gemini_batch": {
    ...OF_BATCH,
    served: geminiBatches("GET", "/{id}"),
    kept: { named: "batch", results: true, yields: OUTPUTS_OF_GEMINI, query: "" },
    summary: "Describe a batch, with the results that it has in itself, as Gemini",
  },
  "gateway.cancel_gemini_batch": {
    ...OF_BATCH,
    served: geminiBatches("POST", "/{id}:cancel"),
    kept: { named: "batch", shown: true, yields: OUTPUTS_OF_GEMINI, query: "" },
    summary: "Cancel a batch, as Gemini",
  },
  "gateway.delete_gemini_batch": {
    ...OF_BATCH,
    served: geminiBatches("DELETE", "/{id}"),
    kept: { named: "batch", ended: "batch", shown: true, yields: OUTPUTS_OF_GEMINI, query: "" },
    summary: "Delete a batch, as Gemini",
  },
  "gateway.generate_images": {
    ...{ ...IN_BODY, ...IMAGES },
    served: post("v1/images/generations", "openai"),
    summary: "Generate images, as OpenAI",
    example: { model: "picture", prompt: "A lighthouse" },
  },
  "gateway.edit_images": {
    ...{ ...IN_FORM, ...IMAGES },
    served: post("v1/images/edits", "openai"),
    summary: "Edit images, as OpenAI",
    example: { model: "picture", image: "(file)", prompt: "By night" },
  },
  "gateway.vary_images": {
    ...{ ...IN_FORM, ...IMAGES },
    served: post("v1/images/variations", "openai"),
    summary: "Vary an image, as OpenAI",
    example: { model: "picture", image: "(file)" },
  },
  "gateway.speak": {
    ...{ ...IN_BODY, ...AUDIO },
    served: post("v1/audio/speech", "openai"),
    usage: { bounds: { spoken: ["input"] }, usual: SPEECH_TOKENS, unit: "characters" },
    summary: "Speak a text, as OpenAI",
    example: { model: "voice", input: "Hello", voice: "alloy" },
  },
  "gateway.transcribe": {
    ...{ ...IN_FORM, ...HEARD },
    served: post("v1/audio/transcriptions", "openai"),
    summary: "Transcribe speech, as OpenAI",
    example: { model: "ears", file: "(file)" },
  },
  "gateway.translate_speech": {
    ...{ ...IN_FORM, ...HEARD },
    served: post("v1/audio/translations", "openai"),
    summary: "Translate speech into English, as OpenAI",
    example: { model: "ears", file: "(file)" },
  },
  "gateway.moderate": {
    ...IN_BODY,
    ...{ scope: "gateway:generate", kind: "moderations", isBatched: true },
    served: post("v1/moderations", "openai"),
    usage: "unread",
    summary: "Judge texts and pictures, as OpenAI's moderations",
    example: { input: "Hello" },
  },
  "gateway.get_response": {
    ...OF_RESPONSE,
    served: openai("GET", "v1/responses/{id}"),
    summary: "Read a stored response back, also as a stream, as OpenAI",
  },
  "gateway.delete_response": {
    ...OF_RESPONSE,
    served: openai("DELETE", "v1/responses/{id}"),
    kept: { named: "response", ended: "response" },
    summary: "Delete a stored response, as OpenAI",
  },
  "gateway.cancel_response": {
    ...OF_RESPONSE,
    served: openai("POST", "v1/responses/{id}/cancel"),
    summary: "Cancel a response in the background, as OpenAI",
  },
  "gateway.list_input_items": {
    ...OF_RESPONSE,
    served: openai("GET", "v1/responses/{id}/input_items"),
    summary: "List what a stored response was made from, as OpenAI",
  },
  "gateway.create_conversation": {
    ...SENT,
    served: openai("POST", "v1/conversations"),
    // By others, Mistral's conversations have a model or an agent answer.
    kept: {
      members: ["items", "metadata"],
      ...{ referring: { items: "items" }, mentioned: FILES_OF_ITEMS, made: { object: "conversation" } },
    },
    summary: "Create a conversation, as OpenAI",
    example: { metadata: {} },
  },
  "gateway.get_conversation": {
    ...OF_CONVERSATION,
    served: openai("GET", "v1/conversations/{id}"),
    summary: "Read a conversation, as OpenAI",
  },
  "gateway.update_conversation": {
    ...SENT,
    served: openai("POST", "v1/conversations/{id}"),
    kept: { named: "conversation", members: ["metadata"], referring: {} },
    summary: "Change a conversation's metadata, as OpenAI",
    example: { metadata: {} },
  },
  "gateway.delete_conversation": {
    ...OF_CONVERSATION,
    served: openai("DELETE", "v1/conversations/{id}"),
    kept: { named: "conversation", ended: "conversation" },
    summary: "Delete a conversation, as OpenAI",
  },
  "gateway.create_items": {
    ...SENT,
    served: openai("POST", "v1/conversations/{id}/items"),
    // What the answer names may be what the body has named: none of it is recorded.
    kept: { named: "conversation", referring: { items: "items" }, mentioned: FILES_OF_ITEMS },
    summary: "Add items to a conversation, as OpenAI",
    example: { items: MESSAGES },
  },
  "gateway.list_items": {
    ...OF_CONVERSATION,
    served: openai("GET", "v1/conversations/{id}/items"),
    summary: "List the items of a conversation, as OpenAI",
  },
  "gateway.get_item": {
    ...OF_CONVERSATION,
    served: openai("GET", "v1/conversations/{id}/items/{item}"),
    summary: "Read an item of a conversation, as OpenAI",
  },
  "gateway.delete_item": {
    ...OF_CONVERSATION,
    served: openai("DELETE", "v1/conversations/{id}/items/{item}"),
    kept: { named: "conversation", ended: "item" },
    summary: "Delete an item of a conversation, as OpenAI",
  },
  "gateway.create_file": {
    ...{ ...OF_FILES, body: "form" },
    served: [{ method: "POST", path: "v1/files" }],
    kept: { brought: { kind: "file" } },
    summary: "Upload a file, as OpenAI or Anthropic",
    example: { purpose: "user_data", file: "(file)" },
  },
  "gateway.list_files": {
    ...{ ...OF_FILES, body: "none" },
    served: [{ method: "GET", path: "v1/files" }],
    kept: { listed: "file" },
    summary: "List the team's files, as OpenAI or Anthropic",
  },
  "gateway.get_file": {
    ...OF_FILE,
    served: [{ method: "GET", path: "v1/files/{id}" }],
    summary: "Describe a file, as OpenAI or Anthropic",
  },
  "gateway.delete_file": {
    ...OF_FILE,
    served: [{ method: "DELETE", path: "v1/files/{id}" }],
    kept: { named: "file", ended: "file" },
    summary: "Delete a file, as OpenAI or Anthropic",
  },
  "gateway.get_file_content": {
    ...{ ...OF_FILE, answer: "media" },
    served: [{ method: "GET", path: "v1/files/{id}/content" }],
    kept: { named: "file", results: true },
    summary: "Download a file, as OpenAI or Anthropic",
  },
  "gateway.upload_gemini_file": {
    ...{ ...OF_FILES, body: "json" },
    served: [{ method: "POST", path: "upload/v1beta/files", dialect: "gemini" }],
    kept: { resumes: true, brought: { kind: "file", within: "file" } },
    summary: "Upload a file by Google's resumable protocol, as Gemini",
    example: { file: { displayName: "a.pdf" } },
  },
  "gateway.list_gemini_files": {
    ...{ ...OF_FILES, body: "none" },
    served: [{ method: "GET", path: "v1beta/files", dialect: "gemini" }],
    kept: { listed: "file" },
    summary: "List the team's files, as Gemini",
  },
  "gateway.get_gemini_file": {
    ...OF_FILE,
    served: [{ method: "GET", path: "v1beta/files/{id}", dialect: "gemini" }],
    kept: { named: "file", shown: true, query: "" },
    summary: "Describe a file, as Gemini",
  },
  "gateway.delete_gemini_file": {
    ...OF_FILE,
    served: [{ method: "DELETE", path: "v1beta/files/{id}", dialect: "gemini" }],
    kept: { named: "file", ended: "file", query: "" },
    summary: "Delete a file, as Gemini",
  },
  "gateway.download_gemini_file": {
    ...{ ...OF_FILE, answer: "media" },
    served: (["v1beta", "download/v1beta"] as const).map((version) => ({
      ...{ method: "GET", path: `${version}/files/{id}:download`, dialect: "gemini" },
    })),
    kept: { named: "file", results: true, query: "alt=media" },
    summary: "Download a file, as Gemini",
  },
  "gateway.create_cached_content": {
    ...IN_BODY,
    ...{ scope: "gateway:files", kind: "files", fallback: "never" },
    served: cachedContents("POST"),
    usage: { bounds: {}, asked: true },
    kept: { ...FILES_OF_CACHE, brought: { kind: "cache" }, query: "" },
    summary: "Cache contents for later calls, as Gemini",
    example: { model: "models/fast-chat", contents: CONTENTS, ttl: "300s" },
  },
  "gateway.list_cached_contents": {
    ...{ ...OF_FILES, body: "none" },
    served: cachedContents("GET"),
    kept: { listed: "cache" },
    summary: "List the team's cached contents, as Gemini",
  },
  "gateway.get_cached_content": {
    ...{ ...OF_FILES, body: "none" },
    served: cachedContents("GET", "/{id}"),
    kept: { named: "cache", query: "" },
    summary: "Describe a cached content, as Gemini",
  },
  "gateway.update_cached_content": {
    ...{ ...OF_FILES, body: "json" },
    served: cachedContents("PATCH", "/{id}"),
    kept: { ...FILES_OF_CACHE, named: "cache", brought: { kind: "cache" }, query: "" },
    summary: "Change when a cached content ends, as Gemini",
    example: { ttl: "600s" },
  },
  "gateway.delete_cached_content": {
    ...{ ...OF_FILES, body: "none" },
    served: cachedContents("DELETE", "/{id}"),
    kept: { named: "cache", ended: "cache", query: "" },
    summary: "Delete a cached content, as Gemini",
  },
  "gateway.create_upload": {
    ...{ ...OF_FILES, body: "json" },
    served: openai("POST", "v1/uploads"),
    kept: { brought: { kind: "upload" } },
    summary: "Begin an upload in parts, as OpenAI",
    example: { filename: "a.pdf", purpose: "user_data", bytes: 3, mime_type: "application/pdf" },
  },
  "gateway.add_upload_part": {
    ...{ ...OF_UPLOAD, body: "form" },
    served: openai("POST", "v1/uploads/{id}/parts"),
    kept: { named: "upload", brought: { kind: "part" } },
    summary: "Add a part to an upload, as OpenAI",
    example: { data: "(file)" },
  },
  "gateway.complete_upload": {
    ...{ ...OF_UPLOAD, body: "json" },
    served: openai("POST", "v1/uploads/{id}/complete"),
    kept: {
      named: "upload",
      referring: {},
      mentioned: { members: { part_ids: "part" }, but: {} },
      brought: { kind: "file", within: "file" },
    },
    summary: "Make a file of an upload's parts, as OpenAI",
    example: { part_ids: ["part_1"] },
  },
  "gateway.cancel_upload": {
    ...{ ...OF_UPLOAD, body: "none" },
    served: openai("POST", "v1/uploads/{id}/cancel"),
    summary: "Cancel an upload, as OpenAI",
  },
  "gateway.create_vector_store": {
    ...{ ...OF_STORES, body: "json" },
    served: stores("POST"),
    kept: { ...FILES_OF_STORE, brought: { kind: "store" } },
    summary: "Create a vector store, as OpenAI",
    example: { name: "handbook", file_ids: ["file-1"] },
  },
  "gateway.list_vector_stores": {
    ...{ ...OF_STORES, body: "none" },
    served: stores("GET"),
    kept: { listed: "store" },
    summary: "List the team's vector stores, as OpenAI",
  },
  "gateway.get_vector_store": {
    ...OF_STORE,
    served: stores("GET", "/{id}"),
    summary: "Describe a vector store, as OpenAI",
  },
  "gateway.update_vector_store": {
    ...{ ...OF_STORES, body: "json" },
    served: stores("POST", "/{id}"),
    kept: { ...FILES_OF_STORE, named: "store" },
    summary: "Change a vector store's name, end or metadata, as OpenAI",
    example: { name: "handbook" },
  },
  "gateway.delete_vector_store": {
    ...OF_STORE,
    served: stores("DELETE", "/{id}"),
    kept: { named: "store", ended: "store" },
    summary: "Delete a vector store, as OpenAI",
  },
  "gateway.search_vector_store": {
    ...{ ...OF_STORES, body: "json" },
    served: stores("POST", "/{id}/search"),
    kept: { ...FILES_OF_STORE, named: "store" },
    summary: "Search a vector store, as OpenAI",
    example: { query: "holidays" },
  },
  "gateway.add_to_vector_store": {
    ...{ ...OF_STORES, body: "json" },
    served: stores("POST", "/{id}/files"),
    kept: { ...FILES_OF_STORE, named: "store" },
    summary: "Add a file to a vector store, as OpenAI",
    example: { file_id: "file-1" },
  },
  "gateway.list_files_in_vector_store": {
    ...OF_STORE,
    served: stores("GET", "/{id}/files"),
    summary: "List the files in a vector store, as OpenAI",
  },
  "gateway.get_file_in_vector_store": {
    ...OF_FILE_IN_STORE,
    served: stores("GET", "/{id}/files/{file}"),
    summary: "Describe a file in a vector store, as OpenAI",
  },
  "gateway.update_file_in_vector_store": {
    ...{ ...OF_STORES, body: "json" },
    served: stores("POST", "/{id}/files/{file}"),
    kept: { ...FILES_OF_STORE, named: "store", within: "file" },
    summary: "Change the attributes of a file in a vector store, as OpenAI",
    example: { attributes: {} },
  },
  "gateway.remove_from_vector_store": {
    ...OF_FILE_IN_STORE,
    served: stores("DELETE", "/{id}/files/{file}"),
    summary: "Take a file out of a vector store, as OpenAI",
  },
  "gateway.read_file_in_vector_store": {
    ...OF_FILE_IN_STORE,
    served: stores("GET", "/{id}/files/{file}/content"),
    summary: "Read what a vector store has of a file, as OpenAI",
  },
  "gateway.create_file_batch": {
    ...{ ...OF_STORES, body: "json" },
    served: stores("POST", "/{id}/file_batches"),
    kept: { ...FILES_OF_STORE, named: "store", brought: { kind: "addition" } },
    summary: "Add several files to a vector store, as OpenAI's file batches",
    example: { file_ids: ["file-1"] },
  },
  "gateway.get_file_batch": {
    ...OF_ADDITION,
    served: stores("GET", "/{id}/file_batches/{batch}"),
    summary: "Describe how far several files are added, as OpenAI",
  },
  "gateway.cancel_file_batch": {
    ...OF_ADDITION,
    served: stores("POST", "/{id}/file_batches/{batch}/cancel"),
    summary: "Stop adding several files, as OpenAI",
  },
  "gateway.list_files_of_batch": {
    ...OF_ADDITION,
    served: stores("GET", "/{id}/file_batches/{batch}/files"),
    summary: "List the files that are added together, as OpenAI",
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

/** Name of an operation that has a path. */
export type ServedOperation = keyof typeof ROWS;

export const GATEWAY_OPERATIONS: Readonly<Record<ServedOperation, OperationRow>> = ROWS;

export const SERVED_OPERATIONS = Object.keys(GATEWAY_OPERATIONS) as readonly ServedOperation[];

/** True for the name of an operation that is a row here. */
export function isServedOperation(name: string): name is ServedOperation {
  return Object.hasOwn(ROWS, name);
}

/** Paths behind the version that name no model, such as `chat/completions`, the longest first. */
export const FIXED_PATHS: readonly string[] = [
  ...new Set(
    Object.values(GATEWAY_OPERATIONS)
      .flatMap(({ served }) => served.map(({ path }) => path.slice(path.indexOf("/") + 1)))
      .filter((path) => !path.includes("{")),
  ),
].toSorted((a, b) => b.length - a.length);

/** True if the gateway asks an upstream for the answer. */
export function isForwarded({ answer }: OperationRow): boolean {
  return answer === "json" || answer === "media" || answer === "bytes";
}

/** Returns the unit that an operation's calls are counted in beside tokens; undefined for none. */
export function countedUnit({ usage }: OperationRow): Unit | undefined {
  return usage === "unread" ? undefined : usage.unit;
}

/** True if what an operation's calls use is counted under the model that their bodies name. */
export function countsAskedModel({ usage }: OperationRow): boolean {
  return usage !== "unread" && (usage.unit !== undefined || usage.asked === true);
}

/** True if the answers to an operation may report what the call used. */
export function reportsUsage({ usage }: OperationRow): boolean {
  return usage !== "unread";
}
