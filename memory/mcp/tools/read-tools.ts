import { defined } from "../../../domain/defined.ts";
import type { CursorScope } from "../../request/cursor.ts";
import { cursorFilter, type FilterInput, readFilter } from "../../request/filters.ts";
import { ATOM_ID, CURSOR, EXCLUDE, FILTERS, QUERY_TEXT, SEARCH_SORT, SORT, TAG, TAGS } from "../../request/schemas.ts";
import { listAtoms } from "../../store/lists/atom-list.ts";
import type { Atom } from "../../store/rows/atom.ts";
import { positionOf, type Sort } from "../../store/rows/atom-order.ts";
import { readInOrder } from "../../store/rows/atoms-within.ts";
import { findReplacements } from "../../store/rows/replaced-atoms.ts";
import { recallAtoms } from "../../store/search/atom-recall.ts";
import { type SearchSort, searchAtoms } from "../../store/search/atom-search.ts";
import { isPlainSearch, searchExcept } from "../../store/search/words/search-words.ts";
import { MAX_SNIPPET_SOURCE } from "../../store/search/words/snippet.ts";
import { shownNeighbours } from "../answer/neighbours.ts";
import { nothingFound, partialMatchesNotice } from "../answer/nothing-found.ts";
import { type Recalled, recalled, recalledText } from "../answer/recalled.ts";
import { ATOMS_OUTPUT, NEIGHBOURS_OUTPUT, shownAtom, shownFacts } from "../answer/shown-atom.ts";
import { pageText, type ShownPage, shownPage } from "../answer/shown-page.ts";
import { readSize } from "../definition/budget.ts";
import {
  defineTool,
  LIBRARY_TO_READ,
  LIST_LIMIT,
  libraryToRead,
  PAGE_OUTPUT,
  positionOfCursor,
  READ_ANNOTATIONS,
  ToolFault,
  TRUNCATED,
} from "../definition/tool.ts";

const SEMANTIC = {
  type: "boolean",
  description: "Whether atoms were looked for by their meaning too, and not by their words alone.",
} as const;

const ANY_TAGS = { ...TAGS, description: "With one of these." } as const;
const TAGS_AND_FILTERS = {
  tags: { ...TAGS, description: "With all of these." },
  anyTags: ANY_TAGS,
  since: { ...FILTERS.since, description: "Changed then or later, such as 2026-11-01." },
  until: { ...FILTERS.until, description: "Changed before." },
  source: { ...FILTERS.source, description: "Source begins with this." },
  importance: { ...FILTERS.importance, description: "At least." },
  asOf: { ...FILTERS.asOf, description: "True at this time." },
  metadata: { type: "object", description: "With these values." },
} as const;
const ORDER = { ...SORT, description: "updated: last changed first." } as const;
const SEARCH_ORDER = { ...SEARCH_SORT, description: "rank: closest first; updated: last changed first." } as const;
type Filters = FilterInput & {
  library?: string;
  limit: number;
  tags?: string[];
  anyTags?: string[];
};
type SearchArgs = Filters & { query: string; exclude?: string[]; sort: SearchSort; cursor?: string };
type RecallArgs = Filters & { query?: string; ids?: string[]; id?: string; offset?: number; cursor?: string };
type ListArgs = Filters & { tag?: string; sort: Sort; cursor?: string };

/** Longest search, in characters: each alternative of an `or` has the exclusions beside it (threats b61). */
const MAX_SEARCH = 4_000;
const TOO_LONG = 'The search is too long: "exclude" counts for each side of each "or". Leave some of either out.';

export const memorySearch = defineTool<SearchArgs, ShownPage>(
  {
    operation: "mcp.memory_search",
    title: "Search memory",
    description:
      'Searches the atoms (remembered statements), closest first, with snippets. Use it when you know words that occur in what you look for, or parts of them: words, identifiers, paths, URLs, sources and tags, in any language. Similar words are found too; where these are few, the nearest. "Quoted phrases" and or work; a minus sign is text. For a topic, or an atom by its id, use memory_recall.',
    annotations: READ_ANNOTATIONS,
    input: {
      query: { ...QUERY_TEXT, description: "What to look for." },
      exclude: EXCLUDE,
      ...{ library: LIBRARY_TO_READ, limit: LIST_LIMIT, ...TAGS_AND_FILTERS, sort: SEARCH_ORDER, cursor: CURSOR },
    },
    requires: ["query"],
    output: { items: ATOMS_OUTPUT, semantic: SEMANTIC, ...PAGE_OUTPUT },
    text: pageText,
    // A search in another order goes by words alone.
    questionOf: (args) =>
      args.sort === "rank" && !args.exclude?.length && isPlainSearch(searchExcept(args.query, [])) ? args : undefined,
  },
  async (context, { query, exclude = [], library: named, limit, sort, cursor, maxTokens, ...given }) => {
    const { db, reach, meaning } = context;
    const library = await libraryToRead(context, named);
    const filter = readFilter(given, given);
    const search = searchExcept(query, exclude);
    if (search.length > MAX_SEARCH) throw new ToolFault(TOO_LONG);
    const scope: CursorScope = {
      ...{ list: "search", reach, library },
      filter: cursorFilter(filter, sort, search),
    };
    const after = positionOfCursor(scope, cursor);
    const asked = {
      ...filter,
      query: search,
      libraryId: library?.id ?? null,
      sort,
      after,
      limit,
      ...defined({ meaning }),
    };
    const hits = await searchAtoms(db, reach, { ...asked, characters: MAX_SNIPPET_SOURCE });
    return shownPage(hits, {
      ...{ scope, maxTokens, semantic: meaning !== undefined },
      positionOf: ({ position, atom: { id } }) => ({ at: position, id }),
      show: ({ atom, match, snippet, replacedBy }) => {
        const { content: _content, ...facts } = shownFacts(context, atom);
        return shownAtom({ ...facts, match, snippet, replacedBy });
      },
      notes: await notesOn(),
    });

    async function notesOn(): Promise<string[]> {
      if (hits.items.length === 0) {
        return [after === null ? await nothingFound(context, { library, query, search, filter }) : "There is no more."];
      }
      const isNear = hits.items.every(({ match }) => match === "nearest" || match === "meaning");
      return isNear ? [partialMatchesNotice(query)] : [];
    }
  },
);

export const memoryRecall = defineTool<RecallArgs, Recalled>(
  {
    operation: "mcp.memory_recall",
    title: "Recall memory",
    description:
      "Gives what is remembered about a topic: atoms that share any word with it, weighed by closeness, importance and age. Use it before you answer or act on what may have come up before. Or pass ids to read atoms in full; what an answer has no room for is named in omitted. By id you get its neighbours too: what it links to, and what links to it. To read on in a truncated atom, pass its id and its nextOffset as offset.",
    annotations: READ_ANNOTATIONS,
    input: {
      query: { ...QUERY_TEXT, description: "The topic, in plain words." },
      ids: {
        type: "array",
        items: ATOM_ID,
        minItems: 1,
        maxItems: 100,
        description: "Atoms to read.",
      },
      id: { ...ATOM_ID, description: "One atom to read." },
      offset: { type: "integer", minimum: 0, maximum: 131_072, description: "Where to read on in the atom of id." },
      library: LIBRARY_TO_READ,
      limit: LIST_LIMIT,
      ...TAGS_AND_FILTERS,
      cursor: { ...CURSOR, description: "nextCursor: more neighbours of id." },
    },
    output: {
      items: ATOMS_OUTPUT,
      missing: { type: "array", items: { type: "string" }, description: "The ids that no atom was found by." },
      omitted: {
        type: "array",
        items: { type: "string" },
        description: "Atoms that were found, and that this answer has no room for: pass these as ids to read them.",
      },
      neighbours: NEIGHBOURS_OUTPUT,
      nextCursor: { type: "string", description: "To be passed as cursor, with the id, for more neighbours." },
      semantic: SEMANTIC,
      truncated: TRUNCATED,
    },
    questionOf: ({ query, library }) => (query === undefined ? undefined : { query, library }),
    text: recalledText,
  },
  async (context, { query, ids, id, offset, cursor, library: named, limit, maxTokens, ...given }) => {
    const { db, reach, meaning } = context;
    if ([query, ids, id].filter((subject) => subject !== undefined).length !== 1) {
      throw new ToolFault(
        'memory_recall takes one of "query", a topic, "ids", the atoms to read, and "id", one of them.',
      );
    }
    if (offset !== undefined && id === undefined) {
      throw new ToolFault('memory_recall takes "offset" beside "id" alone: which atom does it read on in?');
    }
    if (cursor !== undefined && (id === undefined || offset !== undefined)) {
      throw new ToolFault(
        'memory_recall takes "cursor" beside "id" alone: it reads on in the neighbours of that atom.',
      );
    }
    const showWith = (replacements: ReadonlyMap<string, string>) => (atom: Atom) =>
      shownAtom({ ...shownFacts(context, atom), replacedBy: replacements.get(atom.id) });
    if (query === undefined) {
      const asked = ids ?? [id].flatMap((only) => only ?? []);
      const size = offset === undefined ? readSize(maxTokens) : {};
      const found = await readInOrder(db, reach, asked, size);
      const known = new Set([...found.atoms.map((atom) => atom.id), ...found.cut]);
      const missing = asked.filter((each) => !known.has(each));
      const notes = known.size === 0 ? ["There are no atoms of these ids for this key."] : [];
      const show = showWith(await findReplacements(db, reach, [...known]));
      const [only] = found.atoms;
      const isAlone = only !== undefined && id !== undefined && offset === undefined;
      const beside = isAlone ? await shownNeighbours(context, only, { limit, maxTokens, cursor }) : {};
      const atoms = cursor === undefined ? found.atoms : [];
      return recalled({ ...found, atoms, beside, missing, notes, maxTokens, show, offset });
    }
    const library = await libraryToRead(context, named);
    const filter = readFilter(given, given);
    const asked = {
      ...filter,
      query,
      libraryId: library?.id ?? null,
      limit,
      ...readSize(maxTokens),
      ...defined({ meaning }),
    };
    const found = await recallAtoms(db, reach, asked);
    const notes = found.atoms.length > 0 ? [] : [await nothingFound(context, { library, query, filter })];
    const show = showWith(found.replacements);
    return recalled({
      ...found,
      notes,
      maxTokens,
      show,
      briefingAt: context.clock.now(),
      semantic: meaning !== undefined,
    });
  },
);

export const memoryList = defineTool<ListArgs, ShownPage>(
  {
    operation: "mcp.memory_list",
    title: "List memory",
    description:
      "Lists atoms page by page. Use it to go through everything, or everything with a tag, of a time or from a source; to find something use memory_search or memory_recall.",
    annotations: READ_ANNOTATIONS,
    input: {
      tag: { ...TAG, description: "Only atoms with this tag." },
      ...{ library: LIBRARY_TO_READ, limit: LIST_LIMIT, ...TAGS_AND_FILTERS, sort: ORDER, cursor: CURSOR },
    },
    output: { items: ATOMS_OUTPUT, ...PAGE_OUTPUT },
    text: pageText,
  },
  async (context, { library: named, tag, limit, sort, cursor, maxTokens, ...given }) => {
    const { db, reach } = context;
    const library = await libraryToRead(context, named);
    const { tags = [], anyTags } = given;
    const filter = readFilter(given, { tags: tag === undefined ? tags : [...tags, tag], anyTags });
    const scope: CursorScope = { list: "atoms", reach, library, filter: cursorFilter(filter, sort) };
    const asked = { ...filter, libraryId: library?.id ?? null, sort, after: positionOfCursor(scope, cursor), limit };
    const found = await listAtoms(db, reach, { ...asked, ...readSize(maxTokens) });
    return shownPage(found, {
      ...{ scope, maxTokens, notes: found.items.length === 0 ? ["There are no such atoms."] : [] },
      positionOf: (atom) => positionOf(sort, atom),
      show: (atom) => shownAtom(shownFacts(context, atom)),
    });
  },
);
