import type { FastifyInstance } from "fastify";
import { requireJsonType } from "../../server/http/bodies/json-body.ts";
import { type Problem, problem } from "../../server/http/problems/problem.ts";
import { callMemory } from "../../server/libraries/call-memory.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import { NO_ATOM, SHARED_ATOM } from "../call/problems.ts";
import { atomChanges, NOTHING_CHANGED } from "../request/atom-fields.ts";
import { correctedJson } from "../shown/atom-json.ts";
import { CORRECTED_ATOM } from "../shown/response-schemas.ts";
import { type Correction, correctAtom, deleteAtom } from "../store/writes/atom-writes.ts";
import { DAYS_KEPT, restoreAtom } from "../store/writes/forgotten-atoms.ts";
import { correctedLibrary, deletedLibrary, writeAs } from "../writes/write-as.ts";
import { UPDATE_BODY, UPDATE_EXAMPLE, type UpdateBody } from "./request-schemas.ts";

const NOT_KEPT = problem(
  "not_found",
  `There is no atom of this id to restore for this key: one that was forgotten is kept for ${DAYS_KEPT} days, and one that was deleted is gone.`,
);

/** Adds the routes that correct, delete and restore atoms. Access is decided again after the write, by the database. */
export function memoryChangeRoutes(app: FastifyInstance, deps: ServerDeps): void {
  const { clock } = deps;

  app.patch<{ Body: UpdateBody }>(
    "/atoms",
    {
      config: {
        operation: "atoms.update",
        docs: {
          summary: "Correct an atom; its earlier revision is kept",
          response: CORRECTED_ATOM,
          example: UPDATE_EXAMPLE,
          refusals: ["not_found", "conflict", "insufficient_storage"],
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
      return correctedJson(request.principal, correction.atom, input);
    },
  );

  app.delete<{ Params: { id: string } }>(
    "/atoms/:id",
    {
      config: {
        operation: "atoms.delete",
        docs: {
          summary: "Delete an atom and its revisions, for ever; also one that was forgotten and is kept",
          status: 204,
          refusals: ["insufficient_storage"],
        },
      },
    },
    async (request, reply) => {
      const deletion = await callMemory(deps, request, reply, (db) =>
        writeAs(deps, db, request, {
          write: (tx, reach) => deleteAtom(tx, reach, request.params.id, null),
          libraryOf: deletedLibrary,
        }),
      );
      if (deletion?.kind === "shared") throw problem("forbidden", SHARED_ATOM);
      if (deletion?.kind !== "deleted") throw NO_ATOM;
      return reply.code(204).send();
    },
  );

  app.post<{ Params: { id: string } }>(
    "/atoms/:id/restore",
    {
      config: {
        operation: "atoms.restore",
        docs: {
          summary: "Restore an atom that memory_forget_atom has forgotten, with its revisions; one that is there stays",
          response: CORRECTED_ATOM,
          refusals: ["insufficient_storage"],
        },
      },
    },
    async (request, reply) => {
      const atom = await callMemory(deps, request, reply, (db) =>
        writeAs(deps, db, request, {
          write: (tx, reach) => restoreAtom(tx, reach, request.params.id),
          libraryOf: (restored) => restored?.library.id,
        }),
      );
      if (atom === undefined) throw NOT_KEPT;
      return correctedJson(request.principal, atom, {});
    },
  );
}

function notCorrected(correction: Exclude<Correction, { kind: "corrected" }>, seen: number): Problem {
  if (correction.kind === "absent") return NO_ATOM;
  if (correction.kind === "shared") return problem("forbidden", SHARED_ATOM);
  return problem(
    "conflict",
    `The atom is at revision ${correction.revision}, not ${seen}: read it again and send the change with that revision.`,
  );
}
