import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { permits } from "../../domain/access/authorize.ts";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Atom, AtomFields } from "../../store/memory/atom.ts";
import type { ServerDeps } from "../deps.ts";
import { problem } from "../http/errors.ts";
import { requireJsonType } from "../http/json-body.ts";
import { atomFields } from "./atom-fields.ts";
import { atomJson } from "./atom-json.ts";
import { callMemory } from "./call-memory.ts";
import { reachOf } from "./libraries.ts";
import { noLibrary, requireLibrary } from "./problems.ts";
import {
  BATCH_BODY,
  BATCH_EXAMPLE,
  type BatchBody,
  CREATE_BODY,
  CREATE_EXAMPLE,
  type CreateBody,
  SAVE_QUERY,
  type SaveQuery,
} from "./request-schemas.ts";
import { SAVED_ATOM, SAVED_ATOMS } from "./response-schemas.ts";
import { type DuplicatePolicy, type FoundDuplicate, findDuplicates, insertion } from "./save-atoms.ts";
import { writeAs } from "./write-as.ts";

/** Atoms to save, one or many: decided again behind the write, by the database. */
export function memorySaveRoutes(app: FastifyInstance, deps: ServerDeps): void {
  const { clock } = deps;

  app.post<{ Body: CreateBody; Querystring: SaveQuery }>(
    "/atoms",
    {
      config: {
        operation: "atoms.create",
        docs: {
          summary: "Save an atom",
          status: 201,
          response: SAVED_ATOM,
          example: CREATE_EXAMPLE,
          refusals: ["not_found", "conflict"],
        },
      },
      onRequest: requireJsonType,
      schema: { body: CREATE_BODY, querystring: SAVE_QUERY },
    },
    async (request, reply) => {
      const { library, ...input } = request.body;
      const atoms = [atomFields(input, clock.now())];
      const { saved, reported } = await save(request, reply, { atoms, named: library, ...request.query });
      return reply.code(201).send({ ...saved[0], ...reported });
    },
  );

  app.post<{ Body: BatchBody; Querystring: SaveQuery }>(
    "/atoms/batch",
    {
      config: {
        operation: "atoms.create_batch",
        docs: {
          summary: "Save many atoms, all of them or none",
          status: 201,
          response: SAVED_ATOMS,
          example: BATCH_EXAMPLE,
          refusals: ["not_found", "conflict"],
        },
      },
      onRequest: requireJsonType,
      schema: { body: BATCH_BODY, querystring: SAVE_QUERY },
    },
    async (request, reply) => {
      const atoms = request.body.atoms.map((input) => atomFields(input, clock.now()));
      const batch = { atoms, named: request.body.library, ...request.query };
      const { saved, reported } = await save(request, reply, batch);
      return reply.code(201).send({ items: saved, ...reported });
    },
  );

  type Batch = { atoms: readonly AtomFields[]; named: string | undefined; duplicates: DuplicatePolicy };

  async function save(request: FastifyRequest, reply: FastifyReply, { atoms, named, duplicates }: Batch) {
    const saved = await callMemory(deps, request, reply, async (db, key) => {
      requireRead(key, duplicates);
      const library = await requireLibrary(db, key, named);
      const contents = atoms.map(({ content }) => content);
      const asked = { libraryId: library.id, contents, policy: duplicates };
      const near = await findDuplicates(db, reachOf(key), asked);
      if (duplicates === "refuse" && near.length > 0) throw problem("conflict", refusal(near));
      const stored = await writeAs(deps, db, request, insertion(atoms, library.id, clock.now()));
      return stored && { stored, near };
    });
    if (saved === undefined) throw noLibrary(named);
    const { stored, near } = saved;
    return {
      saved: stored.map((atom: Atom) => atomJson(request.principal, atom)),
      reported: duplicates === "report" ? { nearDuplicates: near.map(duplicateJson) } : {},
    };
  }
}

/** A key that only writes learns nothing of what is there. */
function requireRead(key: KeyRecord, duplicates: DuplicatePolicy): void {
  if (duplicates === "allow" || permits(key, "atoms.get")) return;
  throw problem("forbidden", 'To be told of duplicates needs the scope memory:read: leave "duplicates" out.');
}

function duplicateJson({ index, atom, similarity }: FoundDuplicate) {
  return { index, id: atom.id, similarity };
}

function refusal(near: readonly FoundDuplicate[]): string {
  const which = near.slice(0, 5).map(({ index, atom }) => `${index} as ${atom.id}`);
  return `Nothing was saved: the library has almost the same statements, counted from 0: ${which.join(", ")}. Correct what is there by PATCH, or save with duplicates=allow.`;
}
