import type { FastifyInstance } from "fastify";
import { defined } from "../../domain/defined.ts";
import { callMemory } from "../../server/libraries/call-memory.ts";
import type { LibraryUser } from "../../server/libraries/library-use.ts";
import { ownReach, reachOfCall } from "../../server/libraries/reach-of-call.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import type { Db } from "../../store/database/change.ts";
import { NO_ATOM, requireLibrary } from "../call/problems.ts";
import type { QuestionEmbedder } from "../embedding/question.ts";
import type { CursorScope } from "../request/cursor.ts";
import { cursorFilter, readFilter } from "../request/filters.ts";
import { readAtomJson, revisionJson } from "../shown/atom-json.ts";
import { hiddenByExclusions } from "../shown/hidden-atoms.ts";
import { page, position } from "../shown/paging.ts";
import { ATOM, ATOM_PAGE, NEIGHBOUR_PAGE, REVISION_PAGE, SEARCH_RESULT } from "../shown/response-schemas.ts";
import { listAtoms } from "../store/lists/atom-list.ts";
import { listRevisions } from "../store/lists/atom-revisions.ts";
import { listNeighbours } from "../store/lists/neighbours.ts";
import { positionOf } from "../store/rows/atom-order.ts";
import { findAtoms } from "../store/rows/atoms.ts";
import { searchAtoms } from "../store/search/atom-search.ts";
import { questionSpaces } from "../store/search/candidates/nearest.ts";
import { isPlainSearch, spaced } from "../store/search/words/search-words.ts";
import {
  ATOM_LIST_QUERY,
  type AtomListQuery,
  type AtomPageQuery,
  filtersOf,
  PAGE_QUERY,
  SEARCH_QUERY,
  type SearchQuery,
  tagsOf,
} from "./request-schemas.ts";

const QUOTE_IT = 'A word after "-" is excluded: to look for a minus sign as text, quote it, as in "-v".';

/** Adds the routes that read and find atoms. Every statement carries the key's team and libraries. */
export function memoryReadRoutes(app: FastifyInstance, deps: ServerDeps, questions: QuestionEmbedder): void {
  addAtomList(app, deps);
  addAtomSearch(app, deps, questions);
  addAtom(app, deps);
  addRevisions(app, deps);
  addNeighbours(app, deps);
}

function addAtomList(app: FastifyInstance, deps: ServerDeps): void {
  app.get<{ Querystring: AtomListQuery }>(
    "/atoms",
    {
      config: {
        operation: "atoms.list",
        docs: {
          summary:
            "List atoms, the newest first but for another `sort`: a page may hold fewer than limit and have a successor",
          response: ATOM_PAGE,
          refusals: ["not_found"],
        },
      },
      schema: { querystring: ATOM_LIST_QUERY },
    },
    (request, reply) =>
      callMemory(deps, request, reply, async (db, user, reach) => {
        const { library: named, own, sort, limit, cursor } = request.query;
        const library = named ? await requireLibrary(db, user, named) : null;
        const filter = readFilter(filtersOf(request.query), { anyTags: tagsOf(request.query) });
        const scope: CursorScope = {
          ...{ list: "atoms", reach, library },
          filter: cursorFilter(filter, sort),
        };
        const after = position(scope, cursor);
        const asked = { ...filter, libraryId: library?.id ?? null, sort, after, limit };
        return page(await listAtoms(db, own ? ownReach(reach) : reach, asked), {
          scope,
          positionOf: (atom) => positionOf(sort, atom),
          json: (atom) => readAtomJson(user, atom),
        });
      }),
  );
}

function addAtomSearch(app: FastifyInstance, deps: ServerDeps, questions: QuestionEmbedder): void {
  app.get<{ Querystring: SearchQuery }>(
    "/atoms/search",
    {
      config: {
        operation: "atoms.search",
        docs: {
          summary: "Search atoms by their text, and by their meaning where the library is embedded, the best first",
          response: SEARCH_RESULT,
          refusals: ["not_found"],
        },
      },
      schema: { querystring: SEARCH_QUERY },
    },
    async (request, reply) => {
      const { library: named, sort, limit, cursor } = request.query;
      const query = spaced(request.query.q);
      const libraryIn = async (db: Db, user: LibraryUser) => (named ? requireLibrary(db, user, named) : null);
      const question = { reach: reachOfCall(request.principal, request), text: query };
      // A search in another order goes by words alone.
      const meaning =
        sort === "rank" && isPlainSearch(query)
          ? await questions.vectorsOf(question, () =>
              callMemory(deps, request, reply, async (db, user, reach) =>
                questionSpaces(db, reach, (await libraryIn(db, user))?.id ?? null),
              ),
            )
          : undefined;
      return callMemory(deps, request, reply, async (db, user, reach) => {
        const library = await libraryIn(db, user);
        const filter = readFilter(filtersOf(request.query), { anyTags: tagsOf(request.query) });
        const scope: CursorScope = {
          ...{ list: "search", reach, library },
          filter: cursorFilter(filter, sort, query),
        };
        const after = position(scope, cursor);
        const asked = { ...filter, query, libraryId: library?.id ?? null };
        const paged = { ...asked, sort, after, limit, ...(meaning && { meaning }) };
        const hits = await searchAtoms(db, reach, paged);
        const found = page(hits, {
          scope,
          positionOf: ({ position, atom: { id } }) => ({ at: position, id }),
          json: ({ atom, rank, match, snippet, matches, replacedBy = null }) => ({
            ...readAtomJson(user, atom),
            ...{ rank, match, snippet, matches, replacedBy },
          }),
        });
        const isEmpty = found.items.length === 0 && after === null;
        const note = isEmpty ? await hiddenByExclusions(db, reach, asked, QUOTE_IT) : undefined;
        return { ...found, semantic: meaning !== undefined, ...defined({ note }) };
      });
    },
  );
}

function addAtom(app: FastifyInstance, deps: ServerDeps): void {
  app.get<{ Params: { id: string } }>(
    "/atoms/:id",
    { config: { operation: "atoms.get", docs: { summary: "Read an atom", response: ATOM } } },
    (request, reply) =>
      callMemory(deps, request, reply, async (db, user, reach) => {
        const [atom] = await findAtoms(db, reach, [request.params.id]);
        if (atom === undefined) throw NO_ATOM;
        return readAtomJson(user, atom);
      }),
  );
}

function addRevisions(app: FastifyInstance, deps: ServerDeps): void {
  app.get<{ Params: { id: string }; Querystring: AtomPageQuery }>(
    "/atoms/:id/revisions",
    {
      config: {
        operation: "atoms.revisions",
        docs: { summary: "List the earlier revisions of an atom", response: REVISION_PAGE },
      },
      schema: { querystring: PAGE_QUERY },
    },
    async (request, reply) => {
      const { principal, params, query } = request;
      const { id } = params;
      const { limit, cursor } = query;
      const reach = reachOfCall(principal, request);
      const scope: CursorScope = { list: "revisions", reach, library: null, filter: id };
      const before = position(scope, cursor)?.at ?? null;
      const revisions = await callMemory(deps, request, reply, async (db, { noteLibrary }, reach) => {
        const found = await listRevisions(db, reach, id, { before, limit });
        if (found === undefined) throw NO_ATOM;
        noteLibrary(found.libraryId);
        return found;
      });
      return page(revisions, {
        scope,
        positionOf: ({ revision }) => ({ at: revision, id: "" }),
        json: revisionJson,
      });
    },
  );
}

function addNeighbours(app: FastifyInstance, deps: ServerDeps): void {
  app.get<{ Params: { id: string }; Querystring: AtomPageQuery }>(
    "/atoms/:id/neighbours",
    {
      config: {
        operation: "atoms.neighbours",
        docs: {
          summary: "List the atoms that an atom links to, and those that link to it, the newest first",
          response: NEIGHBOUR_PAGE,
        },
      },
      schema: { querystring: PAGE_QUERY },
    },
    (request, reply) =>
      callMemory(deps, request, reply, async (db, user, reach) => {
        const { limit, cursor } = request.query;
        const [atom] = await findAtoms(db, reach, [request.params.id]);
        if (atom === undefined) throw NO_ATOM;
        user.noteLibrary(atom.library.id);
        const scope: CursorScope = { list: "neighbours", reach, library: null, filter: atom.id };
        const neighbours = await listNeighbours(db, reach, atom, { after: position(scope, cursor), limit });
        return page(neighbours, {
          scope,
          positionOf: (neighbour) => positionOf("newest", neighbour.atom),
          json: ({ atom: neighbour, relations }) => ({ ...readAtomJson(user, neighbour), relations }),
        });
      }),
  );
}
