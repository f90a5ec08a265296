import type { FastifyInstance } from "fastify";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Db } from "../../store/database/change.ts";
import { searchAtoms } from "../../store/memory/atom-search.ts";
import {
  type Correction,
  correctAtom,
  deleteAtom,
  findAtoms,
  insertAtom,
  listAtoms,
  listRevisions,
} from "../../store/memory/atoms.ts";
import type { ReachableLibrary } from "../../store/memory/reachable-libraries.ts";
import type { ServerDeps } from "../deps.ts";
import { type Problem, problem } from "../http/errors.ts";
import { parseJsonOnly, requireJsonType } from "../http/json-body.ts";
import { validateStrictly } from "../http/validation.ts";
import { atomJson, revisionJson } from "./atom-json.ts";
import { callMemory } from "./call-memory.ts";
import type { CursorScope } from "./cursor.ts";
import { findDefaultLibrary, findNamedLibrary, NO_DEFAULT_LIBRARY, noSuchLibrary, reachOf } from "./libraries.ts";
import { page, position } from "./paging.ts";
import {
  CREATE_BODY,
  type CreateBody,
  LIST_QUERY,
  type ListQuery,
  PAGE_QUERY,
  type PageQuery,
  SEARCH_QUERY,
  type SearchQuery,
  UPDATE_BODY,
  type UpdateBody,
} from "./request-schemas.ts";
import { ATOM, ATOM_PAGE, REVISION_PAGE, SEARCH_RESULT } from "./response-schemas.ts";
import { atomChanges, atomFields, NOTHING_CHANGED } from "./schemas.ts";
import { correctedLibrary, writeAs } from "./write-as.ts";

const NO_ATOM = problem("not_found", "There is no atom of this id for this key.");

/**
 * The memory over REST (spec §3, docs/decisions/memory-api.md). Every statement carries the key's team and libraries,
 * so that what a key may not reach is not there.
 */
export function memoryRoutes(app: FastifyInstance, deps: ServerDeps): void {
  const { clock } = deps;
  parseJsonOnly(app);
  validateStrictly(app);

  app.get<{ Querystring: ListQuery }>(
    "/atoms",
    {
      config: { operation: "atoms.list", docs: { summary: "List atoms, the newest first", response: ATOM_PAGE } },
      schema: { querystring: LIST_QUERY },
    },
    (request, reply) =>
      callMemory(deps, request, reply, async (db, principal) => {
        const { library: named, tag, limit, cursor } = request.query;
        const library = named ? await libraryNamed(db, principal, named) : null;
        const scope: CursorScope = { list: "atoms", teamId: principal.teamId, library, filter: tag || null };
        const atoms = await listAtoms(db, reachOf(principal), {
          libraryId: library?.id ?? null,
          tag: tag || null,
          after: position(scope, cursor),
          limit: limit + 1,
        });
        return page(
          scope,
          atoms,
          limit,
          (atom) => ({ at: atom.createdAt, id: atom.id }),
          (atom) => atomJson(principal, atom),
        );
      }),
  );

  app.get<{ Querystring: SearchQuery }>(
    "/atoms/search",
    {
      config: {
        operation: "atoms.search",
        docs: { summary: "Search atoms by their text, the best first", response: SEARCH_RESULT },
      },
      schema: { querystring: SEARCH_QUERY },
    },
    (request, reply) =>
      callMemory(deps, request, reply, async (db, principal) => {
        const { q, library: named, tag, limit } = request.query;
        const library = named ? await libraryNamed(db, principal, named) : null;
        const hits = await searchAtoms(db, reachOf(principal), {
          query: q,
          libraryId: library?.id ?? null,
          tags: tag ? [tag] : [],
          limit,
        });
        return { items: hits.map(({ atom, rank, snippet }) => ({ ...atomJson(principal, atom), rank, snippet })) };
      }),
  );

  app.post<{ Body: CreateBody }>(
    "/atoms",
    {
      config: { operation: "atoms.create", docs: { summary: "Save an atom", status: 201, response: ATOM } },
      onRequest: requireJsonType,
      schema: { body: CREATE_BODY },
    },
    async (request, reply) => {
      const { library: named, ...input } = request.body;
      const atom = await callMemory(deps, request, reply, async (db, key) => {
        const library = named === undefined ? await findDefaultLibrary(db, key) : await libraryNamed(db, key, named);
        if (library === undefined) return undefined;
        return writeAs(deps, db, request, {
          write: (tx, reach) => insertAtom(tx, reach, library.id, atomFields(input), clock.now()),
          libraryOf: (saved) => saved?.library.id,
        });
      });
      if (atom === undefined)
        throw named === undefined ? problem("invalid_request", NO_DEFAULT_LIBRARY) : noLibrary(named);
      return reply.code(201).send(atomJson(request.principal, atom));
    },
  );

  app.patch<{ Body: UpdateBody }>(
    "/atoms",
    {
      config: {
        operation: "atoms.update",
        docs: { summary: "Correct an atom; its earlier revision is kept", response: ATOM },
      },
      onRequest: requireJsonType,
      schema: { body: UPDATE_BODY },
    },
    async (request, reply) => {
      const { id, revision, ...input } = request.body;
      const changes = atomChanges(input);
      if (Object.keys(changes).length === 0) throw problem("invalid_request", NOTHING_CHANGED);
      const correction = await callMemory(deps, request, reply, (db) =>
        writeAs(deps, db, request, {
          write: (tx, reach) => correctAtom(tx, reach, id, revision, changes, clock.now()),
          libraryOf: correctedLibrary,
        }),
      );
      if (correction === undefined) throw NO_ATOM;
      if (correction.kind !== "corrected") throw notCorrected(correction, revision);
      return atomJson(request.principal, correction.atom);
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
      return page(scope, revisions, limit, ({ revision }) => ({ at: revision, id: "" }), revisionJson);
    },
  );

  app.delete<{ Params: { id: string } }>(
    "/atoms/:id",
    { config: { operation: "atoms.delete", docs: { summary: "Delete an atom and its revisions", status: 204 } } },
    async (request, reply) => {
      const library = await callMemory(deps, request, reply, (db) =>
        writeAs(deps, db, request, {
          write: (tx, reach) => deleteAtom(tx, reach, request.params.id),
          libraryOf: (deleted) => deleted,
        }),
      );
      if (library === undefined) throw NO_ATOM;
      return reply.code(204).send();
    },
  );

  async function libraryNamed(db: Db, key: KeyRecord, named: string): Promise<ReachableLibrary> {
    const library = await findNamedLibrary(db, key, named);
    if (library === undefined) throw noLibrary(named);
    return library;
  }
}

function noLibrary(named: string): Problem {
  return problem("not_found", noSuchLibrary(named));
}

function notCorrected(correction: Exclude<Correction, { kind: "corrected" }>, seen: number): Problem {
  if (correction.kind === "absent") return NO_ATOM;
  return problem(
    "conflict",
    `The atom is at revision ${correction.revision}, not ${seen}: read it again and send the change with that revision.`,
  );
}
