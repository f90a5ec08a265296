import { BodyFault, malformed } from "../../http/bodies/json-scanner.ts";

/** What a member means: a model's name; another way to name one, which is refused; or an object that holds places. */
export type ModelPlace = "model" | "refused" | ModelPlaces;
/** A member to look for. */
type PlaceEntry = {
  readonly bytes: Buffer;
  readonly place: ModelPlace;
  /** Of its own among those of the same object; 0 for what is refused. */
  readonly bit: number;
  /** Whether it must be spelt as it is here: a model that is decided on has one spelling. */
  readonly isExact: boolean;
};
/** The members to look for. Arrays are looked through: `requests: PLACES` means those places of each element. */
export type ModelPlaces = {
  readonly entries: ReadonlyMap<string, PlaceEntry>;
  /** Whether a name may be a place's, by its first byte. */
  readonly firstBytes: Uint8Array;
};

/** No format has a member whose name is longer: one that is longer can hide what it means from us. In bytes. */
const MAX_NAME = 256;

function placesOf(members: Readonly<Record<string, ModelPlace>>): ModelPlaces {
  // Whatever is no ASCII letter or digit may be an escape, or be passed over or folded by some parser.
  const firstBytes = new Uint8Array(256).map((_, byte) => (isPlainByte(byte) ? 0 : 1));
  for (const name of Object.keys(members)) {
    const first = name.charCodeAt(0);
    firstBytes[first] = 1;
    firstBytes[first ^ 0x20] = 1;
  }
  let bits = 0;
  const entries = Object.entries(members).map(([name, place]) => {
    const isExact = place === "model" || (typeof place === "object" && place.entries.has("model"));
    const bit = place === "refused" ? 0 : 1 << bits++;
    return [foldedName(name), { bytes: Buffer.from(name), place, bit, isExact }] as const;
  });
  return { entries: new Map(entries), firstBytes };
}

/**
 * Other ways to name a model, which some upstreams read beside `model` or before it: lists to choose from, or to fall
 * back on, the names that a deployment of a model goes by, what says anew which model a name stands for, or a prompt
 * that has one of its own (LiteLLM), and what is loaded to go with a model (mlx-lm, SGLang, llama.cpp).
 */
const OTHER_NAMES = [
  ...(["models", "model_id", "model_list", "model_name", "deployment", "deployment_id", "engine"] as const),
  ...(["fallbacks", "fallback_models", "context_window_fallbacks", "context_window_fallback_dict"] as const),
  ...(["content_policy_fallbacks", "user_config", "router_settings_override", "prompt_id"] as const),
  ...(["draft_model", "adapters", "lora_path", "lora"] as const),
] as const;
const ALTERNATIVES = Object.fromEntries(OTHER_NAMES.map((name): [string, ModelPlace] => [name, "refused"]));
/** What OpenRouter's fusion, advisor and subagent ask beside the request's model, as plugins and as tools that run there. */
const PANEL = placesOf({ model: "refused", models: "refused", analysis_models: "refused" });
/** Of OpenRouter: a preset may have models to fall back on, and tools that run others. */
const OPENROUTER: Readonly<Record<string, ModelPlace>> = { plugins: PANEL, preset: "refused" };
/** Members that an upstream adds to the request that it makes of this one, where they overrule those beside them. */
const OVERRULING_MEMBERS = placesOf({
  ...{ model: "refused", extra_body: "refused" },
  ...{ ...ALTERNATIVES, ...OPENROUTER },
});
const OVERRULING = {
  ...ALTERNATIVES,
  ...OPENROUTER,
  extra_body: OVERRULING_MEMBERS,
  // Of the Vercel AI Gateway, whose `models` it falls back on.
  providerOptions: placesOf({ gateway: OVERRULING_MEMBERS }),
  // Of Groq's systems that ask several models.
  compound_custom: OVERRULING_MEMBERS,
};

/** A tool that the upstream runs may run a model too. */
const TOOL = placesOf({ model: "refused", parameters: PANEL });
/** Where OpenAI's and Anthropic's bodies name their model. */
export const TOP_LEVEL = placesOf({ model: "model", tools: TOOL, ...OVERRULING });

const ROUTING = { routingConfig: "refused", modelSelectionConfig: "refused" } as const;
const GEMINI_REQUEST = { model: "model", generationConfig: placesOf(ROUTING), ...OVERRULING } as const;
/** Where Gemini's bodies repeat the model of their path, or choose among several. */
export const GEMINI_REPEATS = placesOf({
  ...GEMINI_REQUEST,
  requests: placesOf(GEMINI_REQUEST),
  generateContentRequest: placesOf(GEMINI_REQUEST),
});

/** The {@link foldedName} names of all that names a model in a body, for where none may be named. */
export const MODEL_NAMES: ReadonlySet<string> = new Set(
  ["model", ...OTHER_NAMES, ...Object.keys(ROUTING)].map((name) => foldedName(name)),
);

/**
 * The place that a member's name means, if it means one. Some parsers match names in any case, with or without
 * underscores, or pass over what is no letter: a name that is a place's for any of them must be spelt as the place is.
 *
 * @param start of the name, its quote included
 */
export function placeAt(body: Buffer, start: number, end: number, places: ModelPlaces): PlaceEntry | undefined {
  const from = start + 1;
  const to = end - 1;
  if (to - from > MAX_NAME) throw new BodyFault(`A member's name is longer than ${MAX_NAME} bytes.`);
  const first = body[from];
  if (first === undefined || places.firstBytes[first] === 0) return undefined;
  const found = places.entries.get(foldedNameAt(body, start, end));
  if (found === undefined || !found.isExact) return found;
  const { bytes } = found;
  if (bytes.length !== to - from || bytes.compare(body, from, to) !== 0) {
    throw new BodyFault(`The body spells the member \`${bytes}\` in another way.`);
  }
  return found;
}

/** A name as the parser reads it that folds the most. */
export function foldedName(name: string): string {
  return name
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toUpperCase()
    .toLowerCase();
}

/** A name's {@link foldedName} text. Decoded and parsed only where it is not plain. */
function foldedNameAt(body: Buffer, start: number, end: number): string {
  let isPlain = true;
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = body[at] ?? 0;
    if (byte >= 0x80 || byte === BACKSLASH) return foldedName(upToNul(decodeString(body, start, end)));
    isPlain &&= isPlainByte(byte);
  }
  const name = body.toString("latin1", start + 1, end - 1);
  return isPlain ? name.toLowerCase() : foldedName(upToNul(name));
}

/** A name as parsers written in C may read it. One that begins with a NUL is none to them, and to others what follows. */
function upToNul(name: string): string {
  return name.replace(/(?<=[^\0])\0.*/s, "");
}

const BACKSLASH = 0x5c;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a JSON string, whose quotes are at its two ends. */
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
