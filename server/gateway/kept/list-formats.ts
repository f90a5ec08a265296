import type { KeptKind } from "../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../domain/access/key-record.ts";
import { type JsonObject, objectOf } from "./whole-answer.ts";

/** Place in a list from which it goes on: behind an object, or at a page that only the upstream knows. */
export type Cursor = { readonly after: string } | { readonly token: string };

/** Form of a list of objects in a format, and of the query for it. */
export type ListFormat = {
  /** Parameter for the number of objects. */
  readonly limit: string;
  /** Objects that are asked of the upstream at a time, and are answered at most. */
  readonly most: number;
  /** Number of objects of a query that names none. */
  readonly usual: number;
  /** Parameter that names the object behind which the list begins; left out for none. */
  readonly after?: string;
  /** Parameter for a page, as an answer has named it; left out for none. */
  readonly page?: string;
  /** Parameters that name the objects, all on one page: upstreams take none for a number beside them. */
  readonly naming?: readonly string[];
  /** Other parameters that pass. */
  readonly passed: ReadonlySet<string>;
  /** Parameters that are not served, each with what to do. */
  readonly refused: Readonly<Record<string, string>>;
  /** Returns the objects of a page; undefined if it is no list. */
  readonly objectsOf: (answer: JsonObject) => readonly JsonObject[] | undefined;
  /** Returns the id of an object. */
  readonly idOf: (object: JsonObject) => string | undefined;
  /** Returns where the upstream's list goes on; undefined at its end. */
  readonly nextOf: (answer: JsonObject, lastId: string | undefined) => Cursor | undefined;
  /** True if an upstream that answers so names pages, and not the last object of each. */
  readonly namesPages: (answer: JsonObject) => boolean;
  /**
   * Returns the answer with these objects.
   *
   * @param next cursor for the client; undefined at the end
   * @param answer a page of the upstream's, whose form it has
   */
  readonly write: (objects: readonly JsonObject[], next: Cursor | undefined, answer: JsonObject) => JsonObject;
};

/** Sizes of OpenAI's lists but for those of files. */
const SHORT = { most: 100, usual: 20 } as const;
const OPENAI: ListFormat = {
  ...{ limit: "limit", most: 1_000, usual: 1_000, after: "after" },
  passed: new Set(["order", "purpose"]),
  refused: {},
  objectsOf: ({ data }) => objectsIn(data),
  idOf: ({ id }) => textOf(id),
  nextOf: ({ has_more: hasMore }, lastId) => (hasMore === true ? behind(lastId) : undefined),
  namesPages: () => false,
  write: (data, next) => ({
    ...{ object: "list", data, ...endsOf(data) },
    has_more: next !== undefined,
  }),
};
const ANTHROPIC: ListFormat = {
  ...{ limit: "limit", most: 1_000, usual: 20, after: "after_id", page: "page" },
  naming: ["ids", "ids[]"],
  passed: new Set(["ids", "ids[]", "scope_id", "beta"]),
  refused: { before_id: "the list goes forwards alone: use `after_id` or `page`" },
  objectsOf: ({ data }) => objectsIn(data),
  idOf: ({ id }) => textOf(id),
  nextOf: ({ has_more: hasMore, next_page: token }, lastId) =>
    typeof token === "string" && token !== "" ? { token } : hasMore === true ? behind(lastId) : undefined,
  namesPages: (answer) => Object.hasOwn(answer, "next_page"),
  write: (data, next, answer) => ({
    data,
    ...(Object.hasOwn(answer, "next_page") && {
      next_page: next !== undefined && "token" in next ? next.token : null,
    }),
    ...(Object.hasOwn(answer, "has_more") && { ...endsOf(data), has_more: next !== undefined }),
  }),
};
/** Forms of lists by format; those of Gemini's and of OpenAI's are of files. */
const LIST_FORMATS: Readonly<Record<Dialect, ListFormat>> = {
  openai: OPENAI,
  anthropic: ANTHROPIC,
  gemini: geminiList("files", { most: 100, usual: 10 }),
};
/** Forms of lists of another kind. */
const OTHER_FORMATS: Readonly<Partial<Record<`${Dialect} ${KeptKind}`, ListFormat>>> = {
  "openai batch": { ...OPENAI, ...SHORT, passed: new Set() },
  "openai store": {
    ...{ ...OPENAI, ...SHORT, passed: new Set(["order"]) },
    refused: { before: "the list goes forwards alone: use `after`" },
  },
  "anthropic batch": { ...ANTHROPIC, naming: [] },
  "gemini cache": geminiList("cachedContents", { most: 1_000, usual: 100 }),
  "gemini batch": geminiList("operations", { most: 100, usual: 50 }, "batches"),
};

/** Returns the form of a list of objects of a kind, and of the objects themselves. */
export function listFormat(dialect: Dialect, kind: KeptKind | undefined): ListFormat {
  return (kind && OTHER_FORMATS[`${dialect} ${kind}`]) ?? LIST_FORMATS[dialect];
}

/**
 * Returns the form of a list of Gemini's.
 *
 * @param collection member of an answer with the objects
 * @param named what the names of objects have in front
 */
function geminiList(collection: string, sizes: Pick<ListFormat, "most" | "usual">, named = collection): ListFormat {
  const prefix = `${named}/`;
  return {
    ...{ ...sizes, limit: "pageSize", page: "pageToken" },
    passed: new Set(),
    refused: {},
    // A list without objects is an empty one.
    objectsOf: ({ [collection]: objects = [] }) => objectsIn(objects),
    idOf: ({ name }) => (typeof name === "string" && name.startsWith(prefix) ? name.slice(prefix.length) : undefined),
    nextOf: ({ nextPageToken: token }) => (typeof token === "string" && token !== "" ? { token } : undefined),
    namesPages: () => true,
    write: (objects, next) => ({
      ...(objects.length > 0 && { [collection]: objects }),
      ...(next !== undefined && "token" in next && { nextPageToken: next.token }),
    }),
  };
}

function objectsIn(value: unknown): readonly JsonObject[] | undefined {
  return Array.isArray(value) ? value.map(objectOf).filter((each) => each !== undefined) : undefined;
}

function endsOf(data: readonly JsonObject[]): JsonObject {
  return { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function behind(id: string | undefined): Cursor | undefined {
  return id === undefined ? undefined : { after: id };
}
