import type { GatewayOperation } from "../../../domain/access/operations.ts";

/** Names of members, and these as parsers may take them that look less closely. */
export type Names = { readonly exact: ReadonlySet<string>; readonly folded: ReadonlySet<string> };

/** Where a format says how much a call may use. */
export type BoundPlaces = {
  /** The most tokens of one answer; left out where none is written. */
  readonly most?: Names;
  /** How many answers there are to be. */
  readonly answers?: Names;
  /** What is answered, each element of a list by itself. */
  readonly prompts?: Names;
  /** What these are within where they are not at the top. */
  readonly within?: Names;
  /** What names a text to read that is kept elsewhere: an id, or an object that has one. */
  readonly references?: Names;
  /** The items to read, of which one that says nothing but its id stands for a part of an earlier response. */
  readonly items?: Names;
  /** What has the answer come before it is written. */
  readonly background?: Names;
};

const GEMINI: BoundPlaces = {
  most: namesOf("maxOutputTokens", "max_output_tokens"),
  answers: namesOf("candidateCount", "candidate_count"),
  within: namesOf("generationConfig", "generation_config"),
  references: namesOf("cachedContent", "cached_content"),
};

/** Of each operation whose body is read for it. */
export const BOUND_PLACES: Readonly<Partial<Record<GatewayOperation, BoundPlaces>>> = {
  "gateway.chat_completions": {
    most: namesOf("max_tokens", "max_completion_tokens"),
    answers: namesOf("n"),
    // Of LiteLLM.
    references: namesOf("prompt_id"),
  },
  "gateway.completions": {
    most: namesOf("max_tokens"),
    answers: namesOf("n", "best_of"),
    prompts: namesOf("prompt"),
  },
  "gateway.responses": {
    most: namesOf("max_output_tokens"),
    references: namesOf("previous_response_id", "conversation", "prompt"),
    items: namesOf("input"),
    background: namesOf("background"),
  },
  "gateway.messages": { most: namesOf("max_tokens") },
  "gateway.generate_content": GEMINI,
  "gateway.stream_generate_content": GEMINI,
  "gateway.embed_content": {},
  "gateway.batch_embed_contents": {},
};

/** What llama.cpp goes by before the most that a format has. */
export const OVERRULING: Names = namesOf("n_predict");
/** Members that LiteLLM writes over those beside it. */
export const EXTRA_MEMBERS: Names = namesOf("extra_body");
/** Schemas, in which any name may be described that is no reference. */
export const TOOL_SCHEMAS: Names = namesOf("tools");
/** What names a file, wherever it stands. */
const FILES = namesOf("file_id", "file_url", "file_uri");
/** What says of an item that it is a part of the text, or else {@link ITEM_REFERENCE}. */
export const ITEM_KIND: Names = namesOf("type");
export const ITEM_AUTHOR: Names = namesOf("role");
export const ITEM_REFERENCE = "item_reference";

/** Whether a name that begins so may be a file's. @param byte its first, behind the quote */
export function mayNameFile(byte = 0): boolean {
  return (byte | 0x20) === 0x66 || byte === BACKSLASH || byte === UNDERSCORE || byte >= 0x80;
}
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;

/** Whether it names a file. */
export function namesFile(name: string): boolean {
  return FILES.folded.has(fold(name));
}

function namesOf(...names: readonly string[]): Names {
  return { exact: new Set(names), folded: new Set(names.map(fold)) };
}

/**
 * A name as parsers may take it that ignore its case, as Go's do, or which of two styles it is in, as Gemini's, or that
 * take it to end at a NUL, as C's do.
 */
export function fold(name: string): string {
  return name.replace(/\0.*/s, "").replaceAll("_", "").toUpperCase().toLowerCase();
}
