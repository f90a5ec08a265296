import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { permits } from "../../domain/access/authorize.ts";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import { requireJsonType } from "../../server/http/bodies/json-body.ts";
import { problem } from "../../server/http/problems/problem.ts";
import { callMemory } from "../../server/libraries/call-memory.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import { noLibrary, requireLibrary } from "../call/problems.ts";
import { type AtomInput, fieldsOfAll } from "../request/atom-fields.ts";
import { atomJson } from "../shown/atom-json.ts";
import { REPLAYED_ATOM, REPLAYED_ATOMS, SAVED_ATOM, SAVED_ATOMS } from "../shown/response-schemas.ts";
import type { Atom } from "../store/rows/atom.ts";
import { atomsById } from "../store/rows/atoms.ts";
import type { MadeAtoms } from "../store/writes/repeatable-saves.ts";
import {
  type DuplicatePolicy,
  type FoundDuplicate,
  findDuplicateAtoms,
  insertion,
  refusing,
} from "../writes/save-atoms.ts";
import { markSaved, repeatableSave, saveOnce } from "../writes/save-once.ts";
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

/** Adds the routes that save atoms, one or many. Access is decided again after the write, by the database. */
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
          refusals: ["not_found", "conflict", "insufficient_storage"],
          idempotent: { replay: REPLAYED_ATOM },
        },
      },
      onRequest: requireJsonType,
      schema: { body: CREATE_BODY, querystring: SAVE_QUERY },
    },
    async (request, reply) => {
      const { library, ...input } = request.body;
      const { items, beside } = await save(request, reply, { inputs: [input], named: library, ...request.query });
      return reply.send({ ...items[0], ...beside });
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
          refusals: ["not_found", "conflict", "insufficient_storage"],
          idempotent: { replay: REPLAYED_ATOMS },
        },
      },
      onRequest: requireJsonType,
      schema: { body: BATCH_BODY, querystring: SAVE_QUERY },
    },
    async (request, reply) => {
      const { atoms: inputs, library: named } = request.body;
      const { items, beside } = await save(request, reply, { inputs, named, ...request.query });
      return reply.send({ items, ...beside });
    },
  );

  type Batch = { inputs: readonly AtomInput[]; named: string | undefined; duplicates: DuplicatePolicy };

  async function save(request: FastifyRequest, reply: FastifyReply, { inputs, named, duplicates }: Batch) {
    const known = repeatableSave(request, { body: request.body, duplicates });
    const { made, isReplayed } = await callMemory(deps, request, reply, async (db, user, reach) => {
      const { key } = user;
      requireRead(key, duplicates);
      const saved = await saveOnce(deps, db, request, {
        known,
        async prepare() {
          const atoms = fieldsOfAll(inputs, clock.now());
          const { id: libraryId } = await requireLibrary(db, user, named);
          const near = await findDuplicateAtoms(db, reach, { libraryId, atoms, policy: duplicates });
          const refused = duplicates === "refuse" ? refusing(near) : [];
          if (refused.length > 0) throw problem("conflict", refusal(refused));
          const beside = duplicates === "allow" ? {} : { nearDuplicates: near.map(duplicateJson) };
          const { write } = insertion(atoms, libraryId, clock.now());
          return { libraryId, write: async (tx, reach) => madeOf(await write(tx, reach), beside) };
        },
        recall: async (tx, reach, made) => ({ ...made, atoms: await atomsById(tx, reach, idsOf(made)) }),
      });
      if (saved === undefined) throw await noLibrary(db, key, named);
      return saved;
    });
    markSaved(reply, isReplayed);
    return {
      items: idsOf(made).map((id) => savedJson(request.principal, id, made.atoms.get(id))),
      beside: made.beside,
    };
  }
}

/** Atoms that a save has made, with those of them that are still there. */
type MadeHere = MadeAtoms & { readonly atoms: ReadonlyMap<string, Atom> };

function madeOf(atoms: readonly Atom[], beside: MadeAtoms["beside"]): MadeHere {
  return { atomIds: atoms.map(({ id }) => id), beside, atoms: new Map(atoms.map((atom) => [atom.id, atom])) };
}

function idsOf({ atomIds }: MadeAtoms): string[] {
  return atomIds.filter((id) => id !== null);
}

/**
 * Returns an atom as it was saved, or, if it was corrected since, its id alone: the key may not be allowed to read it.
 */
function savedJson(key: KeyRecord, id: string, atom: Atom | undefined) {
  return atom?.revision === 1 ? atomJson(key, atom) : { id };
}

/** Refuses reports of duplicates to a key that only writes: it learns nothing of what is there. */
function requireRead(key: KeyRecord, duplicates: DuplicatePolicy): void {
  if (duplicates === "allow" || permits(key, "atoms.get")) return;
  throw problem("forbidden", 'Reporting duplicates needs the scope memory:read: leave "duplicates" out.');
}

function duplicateJson({ index, atom, similarity, otherNumbers }: FoundDuplicate) {
  const { id, isShared } = atom;
  return { index, id, similarity, ...(otherNumbers && { otherNumbers }), ...(isShared && { shared: true }) };
}

function adviceOn(near: readonly FoundDuplicate[]): string {
  const shared = near.filter(({ atom }) => atom.isShared);
  if (shared.length === 0) return "Correct what is there by PATCH, or save with duplicates=allow.";
  const keep = "save what applies to this subject with duplicates=allow";
  if (shared.length === near.length)
    return `All of it is shared by all subjects, and changed by no call for one: ${keep}.`;
  return `Correct what is the subject's own by PATCH; what is shared by all subjects no call for one changes: ${keep}.`;
}

function refusal(near: readonly FoundDuplicate[]): string {
  const which = near.slice(0, 5).map(({ index, atom }) => `${index} as ${atom.id}`);
  return `Nothing was saved: the library has almost the same statements, counted from 0: ${which.join(", ")}. ${adviceOn(near)}`;
}
