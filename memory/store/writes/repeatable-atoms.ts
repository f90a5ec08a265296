import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Db, Tx } from "../../../store/database/change.ts";
import { fromDigest, toDigest } from "../../../store/database/digest.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import type { Atom } from "../rows/atom.ts";
import { atomsById } from "../rows/atoms.ts";
import { replacedAmong } from "../rows/replaced-atoms.ts";
import { KEPT } from "./repeatable-saves.ts";

/** Caller whose atoms are recognized by their content, and its library. */
type AtomSaver = {
  /** Name of the key that saves, and of the way in which it does: no other save meets its records. */
  readonly caller: string;
  /** Row that its atoms are stored under, as `openLibrary` gives it. */
  readonly libraryId: string;
  /** True if the caller has capacity for records; else it leaves none, and its saves are not recognized. */
  readonly hasCapacity: boolean;
};

/**
 * Returns the atom that a caller has saved before by the same digest, if it is still as it was saved.
 *
 * @param digest SHA-256 of all that is saved, 32 latin1 characters
 */
export async function findSavedAtom(db: Db, reach: Reach, caller: string, digest: string): Promise<Atom | undefined> {
  const saved = await db
    .selectFrom("repeatable_saves")
    .select(["key", sql<string | null>`atom_ids[1]::text`.as("id")])
    .where("caller", "=", caller)
    .where("key", "=", toDigest(digest))
    .where(sql<boolean>`made_at >= clock_timestamp() - ${KEPT}`)
    .execute();
  return (await unchangedAtoms(db, reach, saved)).get(digest);
}

/**
 * Begins to save atoms, and returns the atoms that the caller has saved before and that are still as they were saved.
 * Of two saves of the same atom at once the second waits for the first. {@link endAtoms} follows in the same
 * transaction.
 *
 * @param digests of each atom that is to be saved, none twice
 */
export async function beginAtoms(
  tx: Tx,
  reach: Reach,
  { caller, libraryId, hasCapacity }: AtomSaver,
  digests: readonly string[],
): Promise<ReadonlyMap<string, Atom>> {
  const keys = sql`decode(unnest(${digests.map(toHex)}::text[]), 'hex')`;
  // In one order, so that no two transactions wait for each other.
  const begun = await sql`${preparedStatement} insert into repeatable_saves (caller, key, request, library_id)
    select ${caller}, saved.key, saved.key, libraries.id from libraries, (select ${keys} as key) saved
    where libraries.id = ${libraryId} and ${hasCapacity}::boolean
    order by saved.key on conflict (caller, key) do nothing returning 1`.execute(tx);
  if (begun.rows.length === digests.length) return new Map();
  const { rows } = await sql<SavedRow & { is_known: boolean }>`
    select key, atom_ids[1]::text as id, made_at >= clock_timestamp() - ${KEPT} as is_known from repeatable_saves
    where caller = ${caller} and key in (select ${keys}) order by key for update`.execute(tx);
  const known = rows.filter((row) => row.is_known);
  return unchangedAtoms(tx, reach, known);
}

/** Records atoms that were saved, by their digests. */
export async function endAtoms(tx: Tx, caller: string, saved: ReadonlyMap<string, Atom>): Promise<void> {
  if (saved.size === 0) return;
  const ids = [...saved.values()].map(({ id }) => id);
  await sql`${preparedStatement} update repeatable_saves set atom_ids = array[saved.id], made_at = clock_timestamp()
    from unnest(${[...saved.keys()].map(toHex)}::text[], ${ids}::uuid[]) saved (key, id)
    where repeatable_saves.caller = ${caller} and repeatable_saves.key = decode(saved.key, 'hex')`.execute(tx);
}

type SavedRow = { readonly key: Uint8Array; readonly id: string | null };

/** Returns the recorded atoms by digest, without those that were corrected, deleted, replaced, or have expired. */
async function unchangedAtoms(db: Db, reach: Reach, rows: readonly SavedRow[]): Promise<ReadonlyMap<string, Atom>> {
  const atoms = await atomsById(
    db,
    reach,
    rows.flatMap(({ id }) => id ?? []),
  );
  const replaced = await replacedAmong(db, reach, [...atoms.keys()]);
  return new Map(
    rows.flatMap(({ key, id }) => {
      const atom = id === null ? undefined : atoms.get(id);
      return atom?.revision === 1 && !replaced.has(atom.id) ? [[fromDigest(key), atom] as const] : [];
    }),
  );
}

function toHex(digest: string): string {
  return toDigest(digest).toString("hex");
}
