import type { KeyRecord } from "../../domain/access/key-record.ts";
import { listAtoms } from "../../store/memory/atom-list.ts";
import { positionOf, type Sort } from "../../store/memory/atom-order.ts";
import { type AtomsWithin, readInOrder } from "../../store/memory/atoms-within.ts";
import { recallAtoms } from "../../store/memory/search/atom-recall.ts";
import { type SearchSort, searchAtoms } from "../../store/memory/search/atom-search.ts";
import { isPlainSearch, searchExcept } from "../../store/memory/search/search-words.ts";
import { type AtomJson, atomJson } from "../memory/atom-json.ts";
import type { CursorScope } from "../memory/cursor.ts";
import { cursorFilter, type FilterInput, readFilter } from "../memory/filters.ts";
import { reachOf } from "../memory/libraries.ts";
import { fittingItems, page } from "../memory/paging.ts";
import {
  ATOM_ID,
  CURSOR,
  EXCLUDE,
  FILTERS,
  LIBRARY,
  QUERY_TEXT,
  SEARCH_SORT,
  SORT,
  TAG,
  TAGS,
} from "../memory/schemas.ts";
import { ATOMS_OUTPUT, atomsText, atomText, shownBytes } from "./atom-text.ts";
import { nothingFound, partialMatchesNotice } from "./nothing-found.ts";
import {
  defineTool,
  LIST_LIMIT,
  libraryOf,
  NEXT_CURSOR,
  nextPageHint,
  placeOfCursor,
  READ_ANNOTATIONS,
  ToolFault,
} from "./tool.ts";

const SEMANTIC = {
  type: "boolean",
  description: "Whether atoms were looked for by their meaning too, and not by their words alone.",
} as const;

const ANY_TAGS = { ...TAGS, description: "Only atoms with one of these tags." } as const;
const TAGS_AND_FILTERS = {
  tags: { ...TAGS, description: "Only atoms with all of these tags." },
  anyTags: ANY_TAGS,
  ...FILTERS,
} as const;
type Filters = FilterInput & { library?: string; limit: number; tags?: string[]; anyTags?: string[] };

export const memorySearch = defineTool<
  Filters & { query: string; exclude?: string[]; sort: SearchSort; cursor?: string }
>(
  {
    operation: "mcp.memory_search",
    title: "Search memory",
    description:
      'Search over the atoms (remembered statements) of one library, closest match first, with snippets. Use it when you look for something specific and know words that occur in it, or parts of them: of words, identifiers, paths, URLs, sources and tags, in any language. Atoms with all the words come first, then those with similar ones (other forms, accents, typos); where there are none, the nearest. In a library that is embedded, atoms that mean the same in other words are among them. "Quoted phrases" and or work; a minus sign is text, so that flags such as -v are found. For everything worth knowing about a topic use memory_recall.',
    annotations: READ_ANNOTATIONS,
    input: {
      query: { ...QUERY_TEXT, description: "What to look for." },
      exclude: EXCLUDE,
      ...{ library: LIBRARY, limit: LIST_LIMIT, ...TAGS_AND_FILTERS, sort: SEARCH_SORT, cursor: CURSOR },
    },
    requires: ["query"],
    output: { items: ATOMS_OUTPUT, nextCursor: NEXT_CURSOR, semantic: SEMANTIC },
    // What is sorted by more than closeness is looked for by its words.
    questionOf: (args) =>
      args.sort === "rank" && isPlainSearch(searchExcept(args.query, args.exclude ?? [])) ? args : undefined,
  },
  async (context, { query, exclude = [], library: named, limit, sort, cursor, ...given }) => {
    const { db, key, meaning } = context;
    const library = await libraryOf(context, named);
    const filter = readFilter(given, given);
    const search = searchExcept(query, exclude);
    const scope: CursorScope = {
      ...{ list: "search", teamId: key.teamId, library },
      filter: cursorFilter(filter, sort, search),
    };
    const after = placeOfCursor(scope, cursor);
    const asked = {
      ...filter,
      query: search,
      libraryId: library.id,
      sort,
      after,
      limit,
      ...(meaning && { meaning }),
    };
    const hits = await searchAtoms(db, reachOf(key), asked);
    const { items, nextCursor } = page(hits, {
      scope,
      positionOf: ({ place, atom: { id } }) => ({ at: place, id }),
      json: ({ atom, rank, match, snippet }) => ({ ...atomJson(key, atom), rank, match, snippet }),
      bytesOf: shownBytes(atomText),
    });
    const semantic = meaning !== undefined;
    if (items.length === 0 && after === null) {
      const text = await nothingFound(context, { library, query, search, filter });
      return { structured: { items, nextCursor, semantic }, text };
    }
    const before = items.every(({ match }) => match === "nearest" || match === "meaning")
      ? partialMatchesNotice(query)
      : "";
    return {
      structured: { items, nextCursor, semantic },
      text: before + atomsText(items, "There is no more.") + nextPageHint(nextCursor),
    };
  },
);

export const memoryRecall = defineTool<Filters & { query?: string; ids?: string[] }>(
  {
    operation: "mcp.memory_recall",
    title: "Recall memory",
    description:
      "Gives what is remembered about a topic, in full: atoms that share any word with it, or a similar one, weighed by closeness, importance and age. Use it before you answer or act on something that may have come up before. Or pass ids to read those atoms in full, whichever library they are in. An answer ends at 1 MiB: atoms that it has no room for are named in omitted, to be asked for by their ids.",
    annotations: READ_ANNOTATIONS,
    input: {
      query: { ...QUERY_TEXT, description: "The topic, in plain words." },
      ids: {
        type: "array",
        items: ATOM_ID,
        minItems: 1,
        maxItems: 100,
        description: "Atoms to read, instead of a topic.",
      },
      library: LIBRARY,
      limit: LIST_LIMIT,
      ...TAGS_AND_FILTERS,
    },
    output: {
      items: ATOMS_OUTPUT,
      missing: { type: "array", items: { type: "string" }, description: "The ids that no atom was found by." },
      omitted: {
        type: "array",
        items: { type: "string" },
        description: "Atoms that were found, and that this answer has no room for: pass these as ids to read them.",
      },
      semantic: SEMANTIC,
    },
    questionOf: ({ query, library }) => (query === undefined ? undefined : { query, library }),
  },
  async (context, { query, ids, library: named, limit, ...given }) => {
    const { db, key, meaning } = context;
    if ((query === undefined) === (ids === undefined)) {
      throw new ToolFault('memory_recall takes either "query", a topic, or "ids", the atoms to read.');
    }
    if (query === undefined) {
      const { items, omitted } = recalled(key, await readInOrder(db, reachOf(key), ids ?? []));
      const found = new Set([...items.map(({ id }) => id), ...omitted]);
      const missing = (ids ?? []).filter((id) => !found.has(id));
      return {
        structured: { items, missing, omitted, semantic: false },
        text: atomsText(items, "There are no atoms of these ids for this key.") + notShown(omitted),
      };
    }
    const library = await libraryOf(context, named);
    const filter = readFilter(given, given);
    const asked = { ...filter, query, libraryId: library.id, limit, ...(meaning && { meaning }) };
    const { items, omitted } = recalled(key, await recallAtoms(db, reachOf(key), asked));
    const none = items.length > 0 ? "" : await nothingFound(context, { library, query, filter });
    return {
      structured: { items, missing: [], omitted, semantic: meaning !== undefined },
      text: atomsText(items, none) + notShown(omitted),
    };
  },
);

/** The atoms that an answer has room for, and the ids of the others. */
function recalled(key: KeyRecord, { atoms, cut }: AtomsWithin): { items: AtomJson[]; omitted: string[] } {
  const items = fittingItems(atoms, (atom) => atomJson(key, atom), shownBytes(atomText));
  return { items, omitted: [...atoms.slice(items.length).map(({ id }) => id), ...cut] };
}

/** The text for a model about atoms that have no room behind the others. */
function notShown(omitted: readonly string[]): string {
  if (omitted.length === 0) return "";
  return `\n\nFound too, but this answer has no room for them: call memory_recall with these ids: ${omitted.join(", ")}`;
}

export const memoryList = defineTool<Filters & { tag?: string; sort: Sort; cursor?: string }>(
  {
    operation: "mcp.memory_list",
    title: "List memory",
    description:
      "Lists the atoms of one library page by page, newest first or in another order; pass nextCursor on until it is null. Use it to go through everything, or everything with a tag, of a time or from a source; to find something use memory_search or memory_recall.",
    annotations: READ_ANNOTATIONS,
    input: {
      tag: { ...TAG, description: "Only atoms with this tag." },
      ...{ library: LIBRARY, limit: LIST_LIMIT, ...TAGS_AND_FILTERS, sort: SORT, cursor: CURSOR },
    },
    output: { items: ATOMS_OUTPUT, nextCursor: NEXT_CURSOR },
  },
  async (context, { library: named, tag, limit, sort, cursor, ...given }) => {
    const { db, key } = context;
    const library = await libraryOf(context, named);
    const { tags = [], anyTags } = given;
    const filter = readFilter(given, { tags: tag === undefined ? tags : [...tags, tag], anyTags });
    const scope: CursorScope = { list: "atoms", teamId: key.teamId, library, filter: cursorFilter(filter, sort) };
    const asked = { ...filter, libraryId: library.id, sort, after: placeOfCursor(scope, cursor), limit };
    const { items, nextCursor } = page(await listAtoms(db, reachOf(key), asked), {
      scope,
      positionOf: (atom) => positionOf(sort, atom),
      json: (atom) => atomJson(key, atom),
      bytesOf: shownBytes(atomText),
    });
    return {
      structured: { items, nextCursor },
      text: atomsText(items, "There are no such atoms.") + nextPageHint(nextCursor),
    };
  },
);
