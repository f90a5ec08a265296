import type { FastifyInstance } from "fastify";
import { type Correction, correctAtom, deleteAtom, insertAtom } from "../../store/memory/atom-writes.ts";
import type { ServerDeps } from "../deps.ts";
import { type Problem, problem } from "../http/errors.ts";
import { requireJsonType } from "../http/json-body.ts";
import { atomChanges, atomFields, NOTHING_CHANGED } from "./atom-fields.ts";
import { atomJson } from "./atom-json.ts";
import { callMemory } from "./call-memory.ts";
import { findDefaultLibrary, NO_DEFAULT_LIBRARY } from "./libraries.ts";
import { NO_ATOM, noLibrary, requireLibrary } from "./problems.ts";
import {
  CREATE_BODY,
  CREATE_EXAMPLE,
  type CreateBody,
  UPDATE_BODY,
  UPDATE_EXAMPLE,
  type UpdateBody,
} from "./request-schemas.ts";
import { ATOM } from "./response-schemas.ts";
import { correctedLibrary, deletedLibrary, writeAs } from "./write-as.ts";

/** Atoms to save, to correct and to delete: decided again behind the write, by the database. */
export function memoryWriteRoutes(app: FastifyInstance, deps: ServerDeps): void {
  const { clock } = deps;

  app.post<{ Body: CreateBody }>(
    "/atoms",
    {
      config: {
        operation: "atoms.create",
        docs: {
          summary: "Save an atom",
          status: 201,
          response: ATOM,
          example: CREATE_EXAMPLE,
          refusals: ["not_found"],
        },
      },
      onRequest: requireJsonType,
      schema: { body: CREATE_BODY },
    },
    async (request, reply) => {
      const { library: named, ...input } = request.body;
      const fields = atomFields(input, clock.now());
      const atom = await callMemory(deps, request, reply, async (db, key) => {
        const library = named === undefined ? await findDefaultLibrary(db, key) : await requireLibrary(db, key, named);
        if (library === undefined) return undefined;
        return writeAs(deps, db, request, {
          write: (tx, reach) => insertAtom(tx, reach, { ...fields, libraryId: library.id, at: clock.now() }),
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
        docs: {
          summary: "Correct an atom; its earlier revision is kept",
          response: ATOM,
          example: UPDATE_EXAMPLE,
          refusals: ["not_found", "conflict"],
        },
      },
      onRequest: requireJsonType,
      schema: { body: UPDATE_BODY },
    },
    async (request, reply) => {
      const { id, revision, ...input } = request.body;
      const changes = atomChanges(input, clock.now());
      if (Object.keys(changes).length === 0) throw problem("invalid_request", NOTHING_CHANGED);
      const correction = await callMemory(deps, request, reply, (db) =>
        writeAs(deps, db, request, {
          write: (tx, reach) => correctAtom(tx, reach, id, { ...changes, expected: revision, at: clock.now() }),
          libraryOf: correctedLibrary,
        }),
      );
      if (correction === undefined) throw NO_ATOM;
      if (correction.kind !== "corrected") throw notCorrected(correction, revision);
      return atomJson(request.principal, correction.atom);
    },
  );

  app.delete<{ Params: { id: string } }>(
    "/atoms/:id",
    { config: { operation: "atoms.delete", docs: { summary: "Delete an atom and its revisions", status: 204 } } },
    async (request, reply) => {
      const deletion = await callMemory(deps, request, reply, (db) =>
        writeAs(deps, db, request, {
          write: (tx, reach) => deleteAtom(tx, reach, request.params.id, null),
          libraryOf: deletedLibrary,
        }),
      );
      if (deletion?.kind !== "deleted") throw NO_ATOM;
      return reply.code(204).send();
    },
  );
}

function notCorrected(correction: Exclude<Correction, { kind: "corrected" }>, seen: number): Problem {
  if (correction.kind === "absent") return NO_ATOM;
  return problem(
    "conflict",
    `The atom is at revision ${correction.revision}, not ${seen}: read it again and send the change with that revision.`,
  );
}
