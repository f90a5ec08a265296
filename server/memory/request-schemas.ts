import type { AtomChanges, AtomInput } from "./atom-fields.ts";
import { ATOM_ID, ATOM_INPUT, CURSOR, LIBRARY, LIMIT, QUERY_TEXT, REVISION, TAG } from "./schemas.ts";

/** What the REST routes take: a schema, and the type of what has passed it. */
export type PageQuery = { limit: number; cursor?: string };
export type ListQuery = PageQuery & { library?: string; tag?: string };
export type CreateBody = AtomInput & { library?: string };
export type UpdateBody = AtomChanges & { id: string; revision: number };
export type SearchQuery = { q: string; library?: string; tag?: string; limit: number };

/** A parameter that is there and empty counts as left out. `key` is the credential's carrier, and no one's filter. */
const FILTERS = { library: { ...LIBRARY, minLength: 0 }, tag: { ...TAG, minLength: 0 } } as const;
const PAGE = { limit: LIMIT, cursor: CURSOR, key: {} } as const;
export const PAGE_QUERY = { type: "object", additionalProperties: false, properties: PAGE } as const;
export const LIST_QUERY = { type: "object", additionalProperties: false, properties: { ...FILTERS, ...PAGE } } as const;
export const SEARCH_QUERY = {
  type: "object",
  additionalProperties: false,
  required: ["q"],
  properties: { q: QUERY_TEXT, ...FILTERS, limit: LIMIT, key: {} },
} as const;

export const CREATE_BODY = {
  type: "object",
  additionalProperties: false,
  required: ["content"],
  properties: { library: LIBRARY, ...ATOM_INPUT },
} as const;
export const UPDATE_BODY = {
  type: "object",
  additionalProperties: false,
  required: ["id", "revision"],
  properties: { id: ATOM_ID, revision: REVISION, ...ATOM_INPUT },
} as const;

export const CREATE_EXAMPLE = {
  content: "The deploy freeze ends on Monday.",
  tags: ["deploy"],
  importance: 7,
} as const;
export const UPDATE_EXAMPLE = { id: "...", revision: 1, content: "The deploy freeze ended on Monday." } as const;
