import { recallAtoms, searchAtoms } from "../../store/memory/atom-search.ts";
import { findAtoms, listAtoms } from "../../store/memory/atoms.ts";
import { isPlainSearch } from "../../store/memory/search-words.ts";
import { atomJson } from "../memory/atom-json.ts";
import { type CursorScope, readCursor, writeCursor } from "../memory/cursor.ts";
import { reachOf } from "../memory/libraries.ts";
import { ATOM_ID, CURSOR, LIBRARY, QUERY_TEXT, TAG, TAGS } from "../memory/schemas.ts";
import { ATOMS_OUTPUT, atomsText } from "./atom-text.ts";
import { nearestOnly, nothingFound } from "./nothing-found.ts";
import { defineTool, FEW, libraryOf, NEXT_CURSOR, READS, ToolFault, WRONG_CURSOR } from "./tool.ts";

const SEMANTIC = {
  type: "boolean",
  description: "Whether atoms were looked for by their meaning too, and not by their words alone.",
} as const;

export const memorySearch = defineTool<{ query: string; library?: string; limit: number; tags?: string[] }>(
  {
    operation: "mcp.memory_search",
    title: "Search memory",
    description:
      'Search over the atoms (remembered statements) of one library, closest match first, with snippets. Use it when you look for something specific and know words that occur in it, or parts of them: of words, identifiers, paths, URLs, sources and tags, in any language. Atoms with all the words come first, then those with similar ones (other forms, accents, typos); where there are none, the nearest. In a library that is embedded, atoms that mean the same in other words are among them. "Quoted phrases", or, and -exclusions work. For everything worth knowing about a topic use memory_recall.',
    annotations: READS,
    input: { query: { ...QUERY_TEXT, description: "What to look for." }, library: LIBRARY, limit: FEW, tags: TAGS },
    requires: ["query"],
    output: { items: ATOMS_OUTPUT, semantic: SEMANTIC },
    questionOf: (args) => (isPlainSearch(args.query) ? args : undefined),
  },
  async (context, { query, library: named, limit, tags = [] }) => {
    const { db, key, meaning } = context;
    const library = await libraryOf(context, named);
    const search = { query, libraryId: library.id, tags, limit, ...(meaning && { meaning }) };
    const hits = await searchAtoms(db, reachOf(key), search);
    const semantic = meaning !== undefined;
    const items = hits.map(({ atom, rank, match, snippet }) => ({ ...atomJson(key, atom), rank, match, snippet }));
    if (items.length === 0) {
      return {
        structured: { items, semantic },
        text: await nothingFound(context, { library, query, isNarrowed: tags.length > 0 }),
      };
    }
    const before = items.every(({ match }) => match === "nearest" || match === "meaning") ? nearestOnly(query) : "";
    return { structured: { items, semantic }, text: before + atomsText(items, "") };
  },
);

export const memoryRecall = defineTool<{
  query?: string;
  ids?: string[];
  library?: string;
  limit: number;
  tags?: string[];
}>(
  {
    operation: "mcp.memory_recall",
    title: "Recall memory",
    description:
      "Gives what is remembered about a topic, in full: atoms that share any word with it, or a similar one, weighed by closeness, importance and age. Use it before you answer or act on something that may have come up before. Or pass ids to read those atoms in full, whichever library they are in.",
    annotations: READS,
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
      limit: FEW,
      tags: TAGS,
    },
    output: {
      items: ATOMS_OUTPUT,
      missing: { type: "array", items: { type: "string" }, description: "The ids that no atom was found by." },
      semantic: SEMANTIC,
    },
    questionOf: ({ query, library }) => (query === undefined ? undefined : { query, library }),
  },
  async (context, { query, ids, library: named, limit, tags = [] }) => {
    const { db, key, meaning } = context;
    if ((query === undefined) === (ids === undefined)) {
      throw new ToolFault('memory_recall takes either "query", a topic, or "ids", the atoms to read.');
    }
    if (query === undefined) {
      const items = (await findAtoms(db, reachOf(key), ids ?? [])).map((atom) => atomJson(key, atom));
      const missing = (ids ?? []).filter((id) => !items.some((atom) => atom.id === id));
      return {
        structured: { items, missing, semantic: false },
        text: atomsText(items, "There are no atoms of these ids for this key."),
      };
    }
    const library = await libraryOf(context, named);
    const topic = { query, libraryId: library.id, tags, limit, ...(meaning && { meaning }) };
    const atoms = await recallAtoms(db, reachOf(key), topic);
    const items = atoms.map((atom) => atomJson(key, atom));
    const none = items.length > 0 ? "" : await nothingFound(context, { library, query, isNarrowed: tags.length > 0 });
    return { structured: { items, missing: [], semantic: meaning !== undefined }, text: atomsText(items, none) };
  },
);

export const memoryList = defineTool<{ library?: string; tag?: string; limit: number; cursor?: string }>(
  {
    operation: "mcp.memory_list",
    title: "List memory",
    description:
      "Lists the atoms of one library page by page, newest first. Use it to go through everything, or everything with one tag; to find something use memory_search or memory_recall.",
    annotations: READS,
    input: { library: LIBRARY, tag: { ...TAG, description: "Only atoms with this tag." }, limit: FEW, cursor: CURSOR },
    output: { items: ATOMS_OUTPUT, nextCursor: NEXT_CURSOR },
  },
  async (context, { library: named, tag, limit, cursor }) => {
    const { db, key } = context;
    const library = await libraryOf(context, named);
    const scope: CursorScope = { list: "atoms", teamId: key.teamId, library, filter: tag ?? null };
    const after = cursor ? readCursor(scope, cursor) : null;
    if (typeof after === "string") throw new ToolFault(WRONG_CURSOR);
    const page = { libraryId: library.id, tag: tag ?? null, after, limit: limit + 1 };
    const atoms = await listAtoms(db, reachOf(key), page);
    const items = atoms.slice(0, limit).map((atom) => atomJson(key, atom));
    const last = atoms.length > limit ? atoms[limit - 1] : undefined;
    const nextCursor = last === undefined ? null : writeCursor(scope, { at: last.createdAt, id: last.id });
    const more = nextCursor === null ? "" : `\n\nThere is more: pass cursor ${nextCursor}`;
    return { structured: { items, nextCursor }, text: atomsText(items, "There are no such atoms.") + more };
  },
);
