import { sql } from "kysely";
import type { Spec } from "../../../domain/kinds/kinds.ts";
import type { Labels } from "../../../domain/manifest/document/labels.ts";
import type { Db } from "../../database/change.ts";

/** Declaration of a key that was last applied. */
export type KeyDeclaration = {
  readonly ownerUid: string;
  readonly generation: number;
  /** Specification; null if it is too long to be kept. */
  readonly spec: Spec<"PlatformKey"> | null;
  /** Labels by which usage may be added up. */
  readonly labels: Labels;
};

/**
 * Records how a key is declared, unless a later generation of the same declaration, or this same state, is recorded. It
 * needs no fence: the only decisions by it are the interval by which the key rotates while an edit is held, and whether it
 * outlives its declaration.
 */
export async function recordKeyDeclaration(db: Db, keyId: string, found: KeyDeclaration): Promise<void> {
  const { ownerUid, generation, spec, labels } = found;
  const columns = {
    ...{ owner_uid: ownerUid, generation, labels: JSON.stringify(labels) },
    spec: spec === null ? null : JSON.stringify(spec),
  };
  await db
    .insertInto("key_declarations")
    .values({ key_id: keyId, ...columns })
    .onConflict((conflict) =>
      conflict
        .column("key_id")
        .doUpdateSet(columns)
        .where(({ eb, or }) =>
          or([
            eb("key_declarations.owner_uid", "<>", ownerUid),
            eb("key_declarations.generation", "<", generation),
            sql<boolean>`key_declarations.generation = ${generation} and key_declarations.labels <> excluded.labels`,
          ]),
        ),
    )
    .execute();
}

/** Finds the recorded declaration of a key; undefined if none is recorded, as for a key that was made by hand. */
export async function findKeyDeclaration(db: Db, keyId: string): Promise<KeyDeclaration | undefined> {
  const row = await db.selectFrom("key_declarations").selectAll().where("key_id", "=", keyId).executeTakeFirst();
  return row && { ownerUid: row.owner_uid, generation: row.generation, spec: row.spec, labels: row.labels };
}
