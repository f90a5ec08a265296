import { type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { askByBitmaps } from "../../../store/database/bitmap-plans.ts";
import type { Db } from "../../../store/database/change.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import { findPart } from "../../../store/libraries/reachable-libraries.ts";
import { type Nearness, nearnessTo, type Sketch, sketchOf } from "../../rules/near-duplicate.ts";
import type { Atom } from "../rows/atom.ts";
import { findAtoms } from "../rows/atoms.ts";
import { findReplacements } from "../rows/replaced-atoms.ts";
import { yieldBetweenTexts } from "../search/words/yield-between-texts.ts";

/** Atom that says almost what is about to be saved, perhaps with other numbers. */
export type NearDuplicate = Nearness & { readonly atom: Atom };

/** Rows that are read for a statement: that say the same, that say it with other numbers, and that share a band. */
const MAX_SAME = 2;
const MAX_NUMBERLESS = 10;
const MAX_ALIKE = 20;
/** Number of near-duplicates that a caller is shown. */
export const MAX_SHOWN = 3;

/**
 * Finds the atoms of a library that say almost the same as a statement, the closest first, and those with other numbers
 * last. An atom that says exactly the same is left out if almost the same was saved since: saving it again changes what
 * holds. The same statement is found for certain; of similar statements, most are (docs/decisions/near-duplicates.md).
 *
 * @param validTo end of the statement's validity, in milliseconds since the epoch; of atoms whose validity has ended,
 * it is compared with those that ended then
 */
export async function findNearDuplicates(
  db: Db,
  reach: Reach,
  libraryId: string,
  content: string,
  validTo: number | null = null,
): Promise<NearDuplicate[]> {
  const sketch = sketchOf(content);
  const part = reach.subject === undefined ? undefined : await findPart(db, libraryId, reach.subject);
  const nearnessOf = nearnessTo(content);
  const yieldBefore = yieldBetweenTexts();
  const alike = new Map<string, NearDuplicate>();
  const compare = async (after?: number): Promise<void> => {
    const rows: { id: string }[] = [];
    for (const id of [libraryId, part])
      if (id !== undefined) rows.push(...(await alikeIn(db, id, { sketch, validTo, after })));
    const found = await findAtoms(
      db,
      reach,
      rows.map((row) => row.id),
    );
    for (const atom of found) {
      if (atom.library.id !== libraryId || alike.has(atom.id)) continue;
      await yieldBefore(atom.content);
      const near = nearnessOf(atom.content);
      if (near !== undefined) alike.set(atom.id, { atom, ...near });
    }
  };
  await compare();
  // The few that were read may all be older than what overrules the statement.
  const said = [...alike.values()].filter(({ similarity }) => similarity === 1);
  if (said.length > 0) await compare(Math.max(...said.map(({ atom }) => atom.createdAt)));
  // A replaced atom holds no longer: the same statement, saved again, is no repetition of it.
  const replacements = await findReplacements(db, reach, [...alike.keys()]);
  const standing = [...alike.values()].filter(({ atom }) => !replacements.has(atom.id));
  return standing
    .filter(({ atom, similarity }) => similarity < 1 || !isOverruled(atom, standing))
    .sort((a, b) => Number(a.otherNumbers) - Number(b.otherNumbers) || b.similarity - a.similarity);
}

/**
 * True if an atom that was saved later than this one, of those near it, says otherwise. Atoms that were saved with it
 * do not count: a call that saves several may be repeated.
 */
export function isOverruled({ createdAt }: Atom, near: readonly NearDuplicate[]): boolean {
  return near.some(({ atom, similarity }) => similarity < 1 && atom.createdAt > createdAt);
}

type Sought = {
  readonly sketch: Sketch;
  readonly validTo: number | null;
  /** Milliseconds since the epoch: of what is only alike, the atoms that were saved later. */
  readonly after: number | undefined;
};

/**
 * Returns the ids of the atoms of a library, or of a part of it, that may say almost the same and whose validity has not
 * ended, or ends when that of the statement does.
 */
async function alikeIn(db: Db, libraryId: string, { sketch, validTo, after }: Sought): Promise<{ id: string }[]> {
  const id = sql`${libraryId}::text`;
  const timeOrNull = (time: number | null) => sql`${time === null ? null : new Date(time)}::timestamptz`;
  const isLater = sql`coalesce(a.created_at > ${timeOrNull(after ?? null)}, true)`;
  const holds = sql`(coalesce(a.valid_to > now(), true) or coalesce(a.valid_to = ${timeOrNull(validTo)}, false))`;
  const { rows } = await db
    .transaction()
    .setAccessMode("read only")
    .execute(async (tx) => {
      await askByBitmaps(tx);
      return sql<{ id: string }>`${preparedStatement}
        (select a.id::text from atoms a where a.sketch @> ${numbersFor(id, [sketch.same])}
          and ${holds} order by a.created_at desc limit ${MAX_SAME})
        union
        (select a.id::text from atoms a where a.sketch @> ${numbersFor(id, [sketch.numberless])}
          and ${holds} and ${isLater} limit ${MAX_NUMBERLESS})
        union
        (select a.id::text from atoms a where a.sketch && ${numbersFor(id, sketch.bands)}
          and ${holds} and ${isLater} limit ${MAX_ALIKE})`.execute(tx);
    });
  return rows;
}

/** Returns the value of an atom's column `sketch` in a library. */
export function storedSketch(libraryId: RawBuilder<unknown>, { same, numberless, bands }: Sketch): RawBuilder<unknown> {
  return numbersFor(libraryId, [same, numberless, ...bands]);
}

function numbersFor(libraryId: RawBuilder<unknown>, numbers: readonly string[]): RawBuilder<unknown> {
  return sql`array(select n # hashtextextended(${libraryId}, 0) from unnest(${[...numbers]}::bigint[]) n)`;
}
