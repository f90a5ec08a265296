import type { FastifyInstance } from "fastify";
import { permits } from "../../domain/access/authorize.ts";
import { requireJsonType } from "../../server/http/bodies/json-body.ts";
import { callMemory } from "../../server/libraries/call-memory.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import { InvalidAtomError } from "../../store/database/errors.ts";
import { noLibrary, requireLibrary } from "../call/problems.ts";
import { atomFields, faultOfOne } from "../request/atom-fields.ts";
import { readTime } from "../request/times.ts";
import { IMPORT_RESULT } from "../shown/response-schemas.ts";
import { type ImportedAtom, importAtoms } from "../store/writes/import-atoms.ts";
import { markSaved, repeatableSave, saveOnce } from "../writes/save-once.ts";
import { rollBack } from "../writes/write-as.ts";
import { IMPORT_BODY, IMPORT_EXAMPLE, type ImportBody, type ImportedInput } from "./request-schemas.ts";

/**
 * Adds the import of atoms that come from elsewhere, with their own times. Access is decided again after the write, by
 * the database.
 */
export function memoryImportRoutes(app: FastifyInstance, deps: ServerDeps): void {
  app.post<{ Body: ImportBody }>(
    "/atoms/import",
    {
      config: {
        operation: "atoms.import",
        docs: {
          summary: "Import atoms with their times and links, all of them or none",
          status: 201,
          response: IMPORT_RESULT,
          example: IMPORT_EXAMPLE,
          refusals: ["not_found", "insufficient_storage"],
          idempotent: { replay: IMPORT_RESULT },
        },
      },
      onRequest: requireJsonType,
      schema: { body: IMPORT_BODY },
    },
    async (request, reply) => {
      const { library: named, upsert = false, atoms } = request.body;
      assertNoIdTwice(atoms);
      const known = repeatableSave(request, request.body);
      const { made, isReplayed } = await callMemory(deps, request, reply, async (db, user) => {
        const saved = await saveOnce(deps, db, request, {
          known,
          async prepare() {
            const now = deps.clock.now();
            const lasting = atoms.map((input, index) => importedAtom(input, index, now));
            const { id: libraryId } = await requireLibrary(db, user, named);
            return {
              libraryId,
              async write(tx, reach) {
                const kept = lasting.filter((atom) => atom !== undefined);
                const mayRead = permits(user.key, "atoms.get");
                const target = { libraryId, upsertAt: upsert ? now : null, mayRead };
                const { ids, outcomes, droppedLinks } = (await importAtoms(tx, reach, target, kept)) ?? rollBack();
                const indexes = lasting.map((atom) => (atom === undefined ? -1 : kept.indexOf(atom)));
                return {
                  atomIds: indexes.map((index) => ids[index] ?? null),
                  beside: { outcomes: indexes.map((index) => outcomes[index] ?? "expired"), droppedLinks },
                };
              },
            };
          },
          recall: async (_tx, _reach, made) => made,
        });
        if (saved === undefined) throw await noLibrary(db, user.key, named);
        return saved;
      });
      return markSaved(reply, isReplayed).send({ ids: made.atomIds, ...made.beside });
    },
  );
}

/** @throws InvalidAtomError for two atoms of one id, since a link could lead to either */
function assertNoIdTwice(atoms: readonly ImportedInput[]): void {
  const first = new Map<string, number>();
  for (const [index, { id }] of atoms.entries()) {
    if (id === undefined) continue;
    const before = first.get(id);
    if (before !== undefined) {
      throw new InvalidAtomError(
        `"atoms.${index}" has the "id" of "atoms.${before}", and links could lead to either: give each its own, or leave one out.`,
      );
    }
    first.set(id, index);
  }
}

/** Reads an imported atom; undefined if it has expired meanwhile. */
function importedAtom(input: ImportedInput, index: number, now: number): ImportedAtom | undefined {
  const { id, created, updated, expiresAt = null, ...rest } = input;
  try {
    if (expiresAt !== null && readTime("expiresAt", expiresAt) <= now) return undefined;
    const fields = atomFields({ ...rest, expiresAt }, now);
    const updatedAt = updated === undefined ? undefined : readTime("updated", updated);
    const createdAt = created === undefined ? (updatedAt ?? now) : readTime("created", created);
    // Lists rely on it: a filter by the time of changes bounds the time of creation too.
    if (updatedAt !== undefined && updatedAt < createdAt) {
      throw new InvalidAtomError('"updated" is before "created": nothing is changed before it is made.');
    }
    return { ...fields, formerId: id ?? null, createdAt, updatedAt: updatedAt ?? createdAt };
  } catch (error) {
    throw faultOfOne(error, index);
  }
}
