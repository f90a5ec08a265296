import type { AtomChanges, AtomInput } from "../request/atom-fields.ts";
import type { FilterInput } from "../request/filters.ts";
import {
  ATOM_ID,
  ATOM_INPUT,
  atomListSchema,
  CURSOR,
  FILTERS,
  LIBRARY,
  LIMIT,
  QUERY_TEXT,
  REVISION,
  SEARCH_SORT,
  SORT,
  TAG,
  TIME,
} from "../request/schemas.ts";
import { type ConversationMessage, MAX_CONVERSATION, ROLES } from "../rules/conversation.ts";
import type { Sort } from "../store/rows/atom-order.ts";
import type { SearchSort } from "../store/search/atom-search.ts";
import { type DuplicatePolicy, MAX_BATCH } from "../writes/save-atoms.ts";

/** Query of a page. The REST routes take what the schemas here let through; the types are of what has passed them. */
export type AtomPageQuery = { limit: number; cursor?: string };
type Filtered = Omit<FilterInput, "metadata"> & { library?: string; tag?: string | string[] } & {
  [name: `metadata.${string}`]: unknown;
};
export type AtomListQuery = AtomPageQuery & Filtered & { own?: boolean; sort: Sort };
export type CreateBody = AtomInput & { library?: string };
export type BatchBody = { atoms: AtomInput[]; library?: string };
/** Fields of {@link AtomInput}, with the id that the atom had elsewhere and its times. */
export type ImportedInput = AtomInput & { id?: string; created?: string; updated?: string };
export type ImportBody = { atoms: ImportedInput[]; library?: string; upsert?: boolean };
export type ExportQuery = { library?: string; own?: boolean };
export type SaveQuery = { duplicates: DuplicatePolicy };
export type ExtractBody = { messages: ConversationMessage[]; library?: string };
export type UpdateBody = AtomChanges & { id: string; revision: number };
export type SearchQuery = AtomPageQuery & Filtered & { q: string; sort: SearchSort };

/** Returns the tags of a query, of which an atom has one; the parameter is given once, or several times. */
export function tagsOf({ tag = [] }: Filtered): string[] {
  return [tag].flat();
}

const METADATA_PREFIX = "metadata.";

/** Returns the filters of a list, with all parameters for metadata as one object. */
export function filtersOf(query: Filtered): FilterInput {
  const given = Object.entries(query).filter(
    ([name, value]) => name.startsWith(METADATA_PREFIX) && value !== undefined,
  );
  return {
    ...query,
    metadata: Object.fromEntries(given.map(([name, value]) => [name.slice(METADATA_PREFIX.length), value])),
  };
}

const METADATA_FILTERS = {
  "^metadata\\.": {
    description:
      "Only atoms whose metadata has this name with this value, as text: metadata.ticket=OPS-12. Named several times, with all of them.",
  },
} as const;

/** JSON Schemas of a query's filters. The parameter `key`, beside them, carries the credential, and is no filter. */
const QUERY_FILTERS = {
  library: LIBRARY,
  tag: {
    ...TAG,
    type: ["string", "array"],
    items: TAG,
    maxItems: 32,
    description: "Only atoms with this tag; named several times, with one of them.",
  },
  ...FILTERS,
} as const;
const PAGE = { limit: LIMIT, cursor: CURSOR, key: {} } as const;
export const PAGE_QUERY = { type: "object", additionalProperties: false, properties: PAGE } as const;
const OWN = {
  type: "boolean",
  description: "In a call for a subject: true for that subject's atoms alone, without what all share.",
} as const;
export const ATOM_LIST_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: { ...QUERY_FILTERS, own: OWN, sort: SORT, ...PAGE },
  patternProperties: METADATA_FILTERS,
} as const;
export const EXPORT_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: { library: QUERY_FILTERS.library, own: OWN, key: {} },
} as const;
export const SEARCH_QUERY = {
  type: "object",
  additionalProperties: false,
  required: ["q"],
  properties: { q: QUERY_TEXT, ...QUERY_FILTERS, sort: SEARCH_SORT, ...PAGE },
  patternProperties: METADATA_FILTERS,
} as const;

export const CREATE_BODY = {
  type: "object",
  additionalProperties: false,
  required: ["content"],
  properties: { library: LIBRARY, ...ATOM_INPUT },
} as const;
export const BATCH_BODY = {
  type: "object",
  additionalProperties: false,
  required: ["atoms"],
  properties: { library: LIBRARY, atoms: atomListSchema(MAX_BATCH) },
} as const;
/** Number of atoms of one import. */
const MAX_IMPORT = 100;
export const IMPORT_BODY = {
  type: "object",
  additionalProperties: false,
  required: ["atoms"],
  properties: {
    library: LIBRARY,
    upsert: {
      type: "boolean",
      default: false,
      description:
        "Whether an atom whose id was imported into the library before, or is that of one of its atoms, is that atom again: left as it is where the same is said of it, and else corrected.",
    },
    atoms: atomListSchema(MAX_IMPORT, {
      id: {
        ...ATOM_ID,
        description: "What the atom was called, and no other of the import: by it links of the same import lead to it.",
      },
      ...ATOM_INPUT,
      created: TIME,
      updated: TIME,
    }),
  },
} as const;
export const SAVE_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: {
    duplicates: {
      type: "string",
      enum: ["allow", "report", "refuse"],
      default: "allow",
      description:
        "What to do with a statement that nearly repeats one of the library: save it, save and report it, or refuse it with 409. One with another number, sign or negation is saved, and reported by the latter two.",
    },
    key: {},
  },
} as const;
export const EXTRACT_BODY = {
  type: "object",
  additionalProperties: false,
  required: ["messages"],
  properties: {
    library: LIBRARY,
    messages: {
      type: "array",
      minItems: 1,
      maxItems: 10_000,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["role", "content"],
        properties: {
          role: {
            type: "string",
            enum: ROLES,
            description: "Who says it. Of user and assistant atoms are made, of tool and system none.",
          },
          content: { type: "string", pattern: "^[^\\u0000]*$" },
        },
      },
      description: `The conversation, in its order: at most ${MAX_CONVERSATION.toLocaleString("en")} characters of what user and assistant say, as JSON.`,
    },
  },
} as const;
/** JSON Schema of the query for a job, which is named by its path. */
export const JOB_QUERY = { type: "object", additionalProperties: false, properties: { key: {} } } as const;
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
export const BATCH_EXAMPLE = {
  atoms: [{ content: "The deploy freeze ends on Monday." }, { content: "Anna is on call in May.", tags: ["ops"] }],
} as const;
export const IMPORT_EXAMPLE = {
  atoms: [
    { id: "a", content: "The deploy freeze ends on Monday.", created: "2026-11-20T09:00:00Z" },
    { id: "b", content: "Anna decides on freezes.", links: [{ rel: "explains", id: "a" }] },
  ],
} as const;
export const EXTRACT_EXAMPLE = {
  messages: [
    { role: "user", content: "We deploy on Mondays from now on." },
    { role: "assistant", content: "Understood." },
  ],
} as const;
export const UPDATE_EXAMPLE = { id: "...", revision: 1, content: "The deploy freeze ended on Monday." } as const;
