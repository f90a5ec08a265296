import { MAX_LINKS } from "../store/rows/atom.ts";
import { SORTS } from "../store/rows/atom-order.ts";

/**
 * Pattern of a text that the database stores as it is: without NUL characters and halves of surrogate pairs. The JSON
 * Schemas here are of what REST and MCP take; their limits are those of docs/decisions/memory-api.md.
 */
const TEXT = "^[^\\u0000\\ud800-\\udfff]*$";

/** JSON Schema of a library as callers name it: two names of Kubernetes objects and a slash at most. */
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
  description: "Labels to filter by.",
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
/** JSON Schema of metadata; the limit on the bytes of all of it is in atom-fields.ts. */
export const METADATA = {
  type: "object",
  maxProperties: 16,
  propertyNames: { minLength: 1, maxLength: 64, pattern: TEXT },
  additionalProperties: { type: ["string", "number", "boolean"], maxLength: 4_096, pattern: TEXT },
  description: "For programs: at most 16 names, of 4 KiB in all.",
} as const;
export const RFC3339 =
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$";
export const EXPIRES_AT = {
  type: ["string", "null"],
  maxLength: 64,
  pattern: RFC3339,
  description: "When the atom is forgotten by itself, such as 2027-01-31T00:00:00Z; null for never.",
} as const;
const VALIDITY = { type: ["string", "null"], maxLength: 64, pattern: RFC3339 } as const;
export const VALID_FROM = { ...VALIDITY, description: "When it becomes true in the world." } as const;
export const VALID_TO = { ...VALIDITY, description: "When it is true no longer." } as const;
/** JSON Schema of a time, in a filter or of an atom that comes from elsewhere. */
export const TIME = { type: "string", maxLength: 64, pattern: RFC3339 } as const;
/** JSON Schemas of the filters of a list or a search, beside tags. */
export const FILTERS = {
  since: {
    ...TIME,
    description: "Only atoms that were saved or changed at this time or later, such as 2026-11-01T00:00:00Z.",
  },
  until: { ...TIME, description: "Only atoms that were last changed before this time." },
  source: {
    type: "string",
    minLength: 1,
    maxLength: 512,
    pattern: TEXT,
    description: "Only atoms whose source begins with this.",
  },
  importance: { type: "number", minimum: 0, maximum: 10, description: "Only atoms of at least this importance." },
  asOf: {
    ...TIME,
    description: "Only atoms whose statement is true at this time, by their validFrom and validTo as they are now.",
  },
} as const;
const SORT_TEXT = "newest, oldest: by when made; updated: last changed first; importance: most important first";
export const SORT = {
  type: "string",
  enum: SORTS,
  default: "newest",
  description: `${SORT_TEXT}.`,
} as const;
export const SEARCH_SORT = {
  type: "string",
  enum: ["rank", ...SORTS],
  default: "rank",
  description: `rank: closest first; ${SORT_TEXT}.`,
} as const;
export const ATOM_ID = {
  type: "string",
  minLength: 1,
  maxLength: 64,
  pattern: TEXT,
  description: "The atom's id.",
} as const;
export const LINKS = {
  type: "array",
  maxItems: MAX_LINKS,
  uniqueItems: true,
  items: {
    type: "object",
    additionalProperties: false,
    required: ["rel", "id"],
    properties: {
      rel: {
        ...TAG,
        description:
          "What the other atom is to this one, such as explains or source. What an atom of the library replaces stands behind it where it is found, and is marked.",
      },
      id: ATOM_ID,
    },
  },
  description: "Other atoms it has to do with; rel replaces: what it makes outdated.",
} as const;
/** JSON Schemas of the fields that a writer sets of an atom. */
export const ATOM_INPUT = {
  content: CONTENT,
  tags: TAGS,
  source: SOURCE,
  importance: IMPORTANCE,
  metadata: METADATA,
  links: LINKS,
  expiresAt: EXPIRES_AT,
  validFrom: VALID_FROM,
  validTo: VALID_TO,
} as const;

/** Returns the schema of several atoms of one call; `fields` are the schemas of each atom's fields. */
export function atomListSchema(maxItems: number, fields: Readonly<Record<string, object>> = ATOM_INPUT) {
  const items = { type: "object", additionalProperties: false, required: ["content"], properties: fields } as const;
  return { type: "array", minItems: 1, maxItems, items } as const;
}

export const REVISION = { type: "integer", minimum: 1, maximum: 2_147_483_647 } as const;
export const QUERY_TEXT = { type: "string", minLength: 1, maxLength: 1_000, pattern: TEXT } as const;
export const EXCLUDE = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 100, pattern: TEXT },
  maxItems: 10,
  description: "Words or phrases that no result has.",
} as const;
export const CURSOR = { type: "string", maxLength: 512, description: "nextCursor of the page before." } as const;
const DEFAULT_LIMIT = 20;
export const LIMIT = { type: "integer", minimum: 1, maximum: 100, default: DEFAULT_LIMIT } as const;
