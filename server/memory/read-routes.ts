import type { FastifyInstance } from "fastify";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Db } from "../../store/database/change.ts";
import { listRevisions } from "../../store/memory/atom-revisions.ts";
import { searchAtoms } from "../../store/memory/atom-search.ts";
import { findAtoms, listAtoms } from "../../store/memory/atoms.ts";
import { questionSpaces } from "../../store/memory/embedding/nearest.ts";
import { isPlainSearch } from "../../store/memory/search-words.ts";
import type { ServerDeps } from "../deps.ts";
import { atomJson, revisionJson } from "./atom-json.ts";
import { callMemory } from "./call-memory.ts";
import type { CursorScope } from "./cursor.ts";
import { reachOf } from "./libraries.ts";
import { page, position } from "./paging.ts";
import { NO_ATOM, requireLibrary } from "./problems.ts";
import {
  LIST_QUERY,
  type ListQuery,
  PAGE_QUERY,
  type PageQuery,
  SEARCH_QUERY,
  type SearchQuery,
} from "./request-schemas.ts";
import { ATOM, ATOM_PAGE, REVISION_PAGE, SEARCH_RESULT } from "./response-schemas.ts";

/** Atoms to read, and to find. Every statement carries the key's team and libraries. */
export function memoryReadRoutes(app: FastifyInstance, deps: ServerDeps): void {
  app.get<{ Querystring: ListQuery }>(
    "/atoms",
    {
      config: {
        operation: "atoms.list",
        docs: { summary: "List atoms, the newest first", response: ATOM_PAGE, refusals: ["not_found"] },
      },
      schema: { querystring: LIST_QUERY },
    },
    (request, reply) =>
      callMemory(deps, request, reply, async (db, principal) => {
        const { library: named, tag, limit, cursor } = request.query;
        const library = named ? await requireLibrary(db, principal, named) : null;
        const scope: CursorScope = { list: "atoms", teamId: principal.teamId, library, filter: tag || null };
        const atoms = await listAtoms(db, reachOf(principal), {
          libraryId: library?.id ?? null,
          tag: tag || null,
          after: position(scope, cursor),
          limit: limit + 1,
        });
        return page(atoms, limit, {
          scope,
          positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
          json: (atom) => atomJson(principal, atom),
        });
      }),
  );

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
      const { q, library: named, tag, limit } = request.query;
      const libraryIn = async (db: Db, key: KeyRecord) => (named ? (await requireLibrary(db, key, named)).id : null);
      const question = { teamId: request.principal.teamId, text: q };
      const meaning = isPlainSearch(q)
        ? await deps.questions.meaningOf(question, () =>
            callMemory(deps, request, reply, async (db, key) =>
              questionSpaces(db, reachOf(key), await libraryIn(db, key)),
            ),
          )
        : undefined;
      return callMemory(deps, request, reply, async (db, key) => {
        const search = { query: q, libraryId: await libraryIn(db, key), tags: tag ? [tag] : [], limit };
        const hits = await searchAtoms(db, reachOf(key), { ...search, ...(meaning && { meaning }) });
        const items = hits.map(({ atom, ...found }) => ({ ...atomJson(key, atom), ...found }));
        return { items, semantic: meaning !== undefined };
      });
    },
  );

  app.get<{ Params: { id: string } }>(
    "/atoms/:id",
    { config: { operation: "atoms.get", docs: { summary: "Read an atom", response: ATOM } } },
    async (request, reply) => {
      const [atom] = await callMemory(deps, request, reply, (db, key) =>
        findAtoms(db, reachOf(key), [request.params.id]),
      );
      if (atom === undefined) throw NO_ATOM;
      return atomJson(request.principal, atom);
    },
  );

  app.get<{ Params: { id: string }; Querystring: PageQuery }>(
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
      const scope: CursorScope = { list: "revisions", teamId: principal.teamId, library: null, filter: id };
      const before = position(scope, cursor)?.at ?? null;
      const revisions = await callMemory(deps, request, reply, (db, key) =>
        listRevisions(db, reachOf(key), id, { before, limit: limit + 1 }),
      );
      if (revisions === undefined) throw NO_ATOM;
      return page(revisions, limit, {
        scope,
        positionOf: ({ revision }) => ({ at: revision, id: "" }),
        json: revisionJson,
      });
    },
  );
}
