import { BodyFault, malformed } from "../../http/bodies/json-scanner.ts";

/** Meaning of a member: a model's name; another way to name a model, which is refused; or an object to look into. */
export type ModelMember = "model" | "refused" | ModelMembers;
/** State of the search within a value of the body. */
export type SearchContext = {
  readonly meaning: ModelMember;
  /** Members that this object has had so far, a bit each. */
  seen: number;
  /** True if an array is being looked through. An array within it is not looked through. */
  readonly inArray: boolean;
};
/** A member to look for. */
type MemberEntry = {
  readonly bytes: Buffer;
  readonly meaning: ModelMember;
  /** Context of its value, which no search changes: an object in it has one of its own. */
  readonly value: SearchContext;
  /** Bit of its own among the members of the same object; 0 for a member that is refused, or may be there twice. */
  readonly bit: number;
  /** True if the name must be spelt exactly so: a model that is checked has one spelling. */
  readonly isExact: boolean;
};
/** Members to look for. Arrays are looked through: `requests: MEMBERS` means those members of each element. */
export type ModelMembers = {
  readonly entries: ReadonlyMap<string, MemberEntry>;
  /** 1 for each first byte of a name that may be one of these members. */
  readonly firstBytes: Uint8Array;
  /** True if a value is refused that is neither an object nor a list of objects. */
  readonly isObjects: boolean;
  /** True for what a conversation consists of: it may have any number of members, also twice, as each is looked through. */
  readonly isConversation: boolean;
};

/** Bytes of a member's name at most: no format has a longer one, and a longer one can hide its meaning from us. */
export const MAX_MEMBER_NAME = 256;

function membersOf(members: Readonly<Record<string, ModelMember>>, isObjects = false): ModelMembers {
  // Whatever is no ASCII letter or digit may be an escape, or be passed over or folded by some parser.
  const firstBytes = new Uint8Array(256).map((_, byte) => (isPlainByte(byte) ? 0 : 1));
  for (const name of Object.keys(members)) {
    const first = name.charCodeAt(0);
    firstBytes[first] = 1;
    firstBytes[first ^ 0x20] = 1;
  }
  let bits = 0;
  const entries = Object.entries(members).map(([name, meaning]) => {
    const isExact = meaning === "model" || (typeof meaning === "object" && meaning.entries.has("model"));
    const mayRepeat = meaning === "refused" || (typeof meaning === "object" && meaning.isConversation);
    const bit = mayRepeat ? 0 : 1 << bits++;
    const value = { meaning, seen: 0, inArray: false };
    return [foldedName(name), { bytes: Buffer.from(name), meaning, value, bit, isExact }] as const;
  });
  return { entries: new Map(entries), firstBytes, isObjects, isConversation: false };
}

/**
 * Other members that name a model, which some upstreams read beside `model` or before it: lists to choose from, or to
 * fall back on; the names that a deployment of a model goes by; what says anew which model a name stands for; a prompt
 * that has a model of its own (LiteLLM); and what is loaded to go with a model (mlx-lm, SGLang, llama.cpp).
 */
const OTHER_NAMES = [
  ...(["models", "model_id", "model_list", "model_name", "deployment", "deployment_id", "engine"] as const),
  ...(["fallbacks", "fallback_models", "context_window_fallbacks", "context_window_fallback_dict"] as const),
  ...(["content_policy_fallbacks", "user_config", "router_settings_override", "prompt_id"] as const),
  ...(["draft_model", "adapters", "lora_path", "lora"] as const),
] as const;
const ALTERNATIVES = Object.fromEntries(OTHER_NAMES.map((name): [string, ModelMember] => [name, "refused"]));
/**
 * Members by which OpenRouter's fusion, advisor and subagent ask models beside the request's, as plugins and as tools
 * that run there.
 */
const PANEL = membersOf({ model: "refused", models: "refused", analysis_models: "refused" });
/** Members of OpenRouter: a preset may have models to fall back on, and tools that run others. */
const OPENROUTER: Readonly<Record<string, ModelMember>> = { plugins: PANEL, preset: "refused" };
/**
 * Members of an object that an upstream adds to the request that it makes of this one, where they overrule the members
 * beside the object.
 */
const OVERRULING_MEMBERS = membersOf({
  ...{ model: "refused", extra_body: "refused" },
  ...{ ...ALTERNATIVES, ...OPENROUTER },
});
const OVERRULING = {
  ...ALTERNATIVES,
  ...OPENROUTER,
  extra_body: OVERRULING_MEMBERS,
  // Of the Vercel AI Gateway, whose `models` it falls back on.
  providerOptions: membersOf({ gateway: OVERRULING_MEMBERS }),
  // Of Groq's systems that ask several models.
  compound_custom: OVERRULING_MEMBERS,
};

/** Member of an object by which a model beside the request's is asked, as for OpenAI's images as SVG. */
const BESIDE = membersOf({ model: "refused" });
/** Members of a tool: a tool that the upstream runs may run a model too. */
const TOOL = membersOf({ model: "refused", parameters: PANEL, svg: BESIDE });
/** Members by which OpenAI's and Anthropic's bodies and forms name their model. */
const NAMING = { model: "model", tools: TOOL, svg: BESIDE, ...OVERRULING } as const;
/** Members by which a form names its model. */
export const OF_FORM = membersOf(NAMING);
/** Members by which a message or an item, or a block of its content, brings tools into the conversation. */
const ADDED_TOOLS = { tools: TOOL, tool: membersOf({ definition: TOOL }) } as const;
const CONTENT = { ...membersOf({ ...ADDED_TOOLS, tool_changes: membersOf(ADDED_TOOLS) }), isConversation: true };
const ITEM = { ...membersOf({ ...ADDED_TOOLS, content: CONTENT }), isConversation: true };
/** Members by which OpenAI's and Anthropic's bodies name their model. */
export const TOP_LEVEL = membersOf({ ...NAMING, moderation: BESIDE, input: ITEM, messages: ITEM });
/** Members by which the items of a conversation name models that are asked beside those of the calls that use it. */
export const IN_ITEMS = membersOf({ items: ITEM });

/** Members by which the requests of a batch of Anthropic's name their models. */
export const IN_REQUESTS = membersOf({
  ...{ model: "refused", ...OVERRULING },
  requests: membersOf({ model: "refused", ...OVERRULING, params: { ...TOP_LEVEL, isObjects: true } }, true),
});

/** Members by which the body of a batch of OpenAI's would name a model beside those in its file. */
export const IN_FILE = membersOf({ model: "refused", ...OVERRULING });

const ROUTING = { routingConfig: "refused", modelSelectionConfig: "refused" } as const;
const GEMINI_REQUEST = { model: "model", generationConfig: membersOf(ROUTING), ...OVERRULING } as const;
/** Members by which Gemini's bodies repeat the model of their path, or choose among several. */
export const GEMINI_REPEATS = membersOf({
  ...GEMINI_REQUEST,
  requests: membersOf(GEMINI_REQUEST),
  generateContentRequest: membersOf(GEMINI_REQUEST),
});

/** Members by which a batch of Gemini's, and the requests in it, repeat the model of their path. */
export const GEMINI_BATCH = membersOf({
  ...{ model: "refused", ...OVERRULING },
  batch: membersOf({
    ...{ model: "model", ...OVERRULING },
    inputConfig: membersOf({
      requests: membersOf({
        requests: membersOf({ request: { ...membersOf(GEMINI_REQUEST), isObjects: true } }, true),
      }),
    }),
  }),
});

/**
 * Names of all members that name a model, as {@link foldedName} returns them, for requests in which none may be named.
 */
export const MODEL_NAMES: ReadonlySet<string> = new Set(
  ["model", ...OTHER_NAMES, ...Object.keys(ROUTING)].map((name) => foldedName(name)),
);

/**
 * Finds the member that a name means, if it is one to look for. Some parsers match names in any case, with or without
 * underscores, or skip what is no letter: a name that is such a member for any of them must be spelt as the member is.
 *
 * @param start position of the name, its quote included
 * @throws BodyFault if the name is too long, or is spelt in another way
 */
export function memberAt(body: Buffer, start: number, end: number, members: ModelMembers): MemberEntry | undefined {
  const from = start + 1;
  const to = end - 1;
  if (to - from > MAX_MEMBER_NAME) throw new BodyFault(`A member's name is longer than ${MAX_MEMBER_NAME} bytes.`);
  const first = body[from];
  if (first === undefined || members.firstBytes[first] === 0) return undefined;
  const found = members.entries.get(foldedNameAt(body, start, end));
  if (found === undefined || !found.isExact) return found;
  const { bytes } = found;
  if (bytes.length !== to - from || bytes.compare(body, from, to) !== 0) {
    throw new BodyFault(`The body spells the member \`${bytes}\` in another way.`);
  }
  return found;
}

/** Returns a name as the parser reads it that folds the most: its letters and digits in lower case. */
export function foldedName(name: string): string {
  return name
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toUpperCase()
    .toLowerCase();
}

/** Returns a name in the body as {@link foldedName} does. It is decoded and parsed only if it is not plain. */
export function foldedNameAt(body: Buffer, start: number, end: number): string {
  let isPlain = true;
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = body[at] ?? 0;
    if (byte >= 0x80 || byte === BACKSLASH) return foldedName(upToNul(decodeString(body, start, end)));
    isPlain &&= isPlainByte(byte);
  }
  const name = body.toString("latin1", start + 1, end - 1);
  return isPlain ? name.toLowerCase() : foldedName(upToNul(name));
}

/**
 * Cuts a name at a NUL, as parsers written in C do, unless it comes first: to them the name is empty then, and to
 * others it is the text that follows.
 */
function upToNul(name: string): string {
  return name.replace(/(?<=[^\0])\0.*/s, "");
}

const BACKSLASH = 0x5c;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes a JSON string, whose quotes are its first and its last byte. */
export function decodeString(body: Buffer, start: number, end: number): string {
  try {
    const text: unknown = JSON.parse(utf8.decode(body.subarray(start, end)));
    if (typeof text === "string") return text;
  } catch {
    // Falls through: neither the decoder's nor the parser's words are for a client.
  }
  throw malformed();
}

function isPlainByte(byte: number): boolean {
  const folded = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (folded >= 0x61 && folded <= 0x7a && byte < 0x80);
}
