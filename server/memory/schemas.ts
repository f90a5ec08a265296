import type { AtomFields } from "../../store/memory/atom.ts";

/**
 * What REST and MCP take, as JSON Schema. The limits are those of docs/decisions/memory-api.md. The database stores no
 * NUL character, so none is let in.
 */
const TEXT = "^[^\\u0000]*$";

/** A library as callers name it: two names of Kubernetes objects and a slash at most. */
export const LIBRARY = {
  type: "string",
  minLength: 1,
  maxLength: 320,
  pattern: TEXT,
  description: 'The library\'s name, or "namespace/name" for one in another namespace of the team.',
} as const;
export const TAG = { type: "string", minLength: 1, maxLength: 64, pattern: TEXT } as const;
export const TAGS = {
  type: "array",
  items: TAG,
  maxItems: 32,
  uniqueItems: true,
  description: "Labels to filter by, at most 32 of 64 characters.",
} as const;
export const CONTENT = {
  type: "string",
  minLength: 1,
  maxLength: 65_536,
  pattern: TEXT,
  description: "The statement to remember, at most 65,536 characters.",
} as const;
export const SOURCE = {
  type: ["string", "null"],
  maxLength: 512,
  pattern: TEXT,
  description: "Where the statement comes from: a URL, a file, a person.",
} as const;
export const IMPORTANCE = {
  type: "number",
  minimum: 0,
  maximum: 10,
  description: "From 0 (trivia) to 10 (never forget).",
} as const;
const DEFAULT_IMPORTANCE = 5;
export const ATOM_ID = {
  type: "string",
  minLength: 1,
  maxLength: 64,
  pattern: TEXT,
  description: "The atom's id.",
} as const;
export const REVISION = { type: "integer", minimum: 1, maximum: 2_147_483_647 } as const;
export const QUERY_TEXT = { type: "string", minLength: 1, maxLength: 1_000, pattern: TEXT } as const;
export const CURSOR = { type: "string", maxLength: 512, description: "nextCursor of the page before." } as const;
const DEFAULT_LIMIT = 20;
export const LIMIT = { type: "integer", minimum: 1, maximum: 100, default: DEFAULT_LIMIT } as const;

/** What may be changed of an atom. */
export type AtomInput = { content: string; tags?: string[]; source?: string | null; importance?: number };
export type AtomChanges = Partial<AtomInput>;

/** A new atom's fields, with what was left out. */
export function atomFields(input: AtomInput): AtomFields {
  return {
    content: input.content,
    tags: input.tags ?? [],
    source: input.source ?? null,
    importance: input.importance ?? DEFAULT_IMPORTANCE,
  };
}

/** What a caller is told that corrects nothing. */
export const NOTHING_CHANGED = "Give at least one of content, tags, source and importance: nothing would change.";

/** Only the fields that are given: to correct an atom. */
export function atomChanges({ content, tags, source, importance }: AtomChanges): Partial<AtomFields> {
  return {
    ...(content === undefined ? {} : { content }),
    ...(tags === undefined ? {} : { tags }),
    ...(source === undefined ? {} : { source }),
    ...(importance === undefined ? {} : { importance }),
  };
}
