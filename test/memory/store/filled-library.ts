import { sql } from "kysely";
import type { Db } from "../../../store/database/change.ts";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import type { Store } from "../../../store/database/store.ts";
import { withoutIndexes } from "../../store/without-indexes.ts";
import { addTeamsWithLibraries } from "../libraries.ts";

/** Rows of one statement. */
const CHUNK = 2_000;
/** What natural text has: the n-th word is about n times as rare as the first. */
const VOCABULARY = 20_000;

/** Words of the fill: in every atom, in one of twenty, in ten atoms of 100,000. */
export const EVERYWHERE = "deployment";
export const SOMETIMES = "harbour";
export const RARE = "zebra";
/** In the same ten atoms. */
export const RARE_RUN = "密钥轮换";
export const COMMON_TAG = "note";
export const RARE_TAG = "oldest";

/** Word number n of the vocabulary: letters alone, so that no two have the same stem. */
const WORD = sql`'q' || translate(floor(power(${VOCABULARY}::float8, random()))::integer::text, '0123456789', 'bcdfghklmp') || 'o'`;

/** The word of the vocabulary that has this rank: 1 is in most atoms. */
export function wordOfRank(rank: number): string {
  return `q${[...String(rank)].map((digit) => "bcdfghklmp"[Number(digit)]).join("")}o`;
}

/** What takes most of an atom's insertion. */
export const PARTS_INDEX = "atoms_parts";

/** For what looks for no atom by parts of words. */
export async function dropPartsIndex(db: Db): Promise<void> {
  await sql`drop index if exists ${sql.id(PARTS_INDEX)}`.execute(db);
}

/**
 * Migrates, and fills one library with atoms of 20 to 60 words, one made each minute, the last just now; the same ones
 * each time. Without statistics and without a vacuum: those are not the filler's to give.
 */
export async function fillWithAtoms(store: Store, atoms: number, libraryId = "lib-diary"): Promise<void> {
  await migrate(store);
  await addTeamsWithLibraries(store);
  await addAtoms(store, atoms, [{ teamId: "team-a", libraryId }]);
}

/** Adds the atoms of {@link fillWithAtoms} to each of these libraries. */
export async function addAtoms(
  store: Store,
  atoms: number,
  libraries: readonly { readonly teamId: string; readonly libraryId: string }[],
): Promise<void> {
  await withoutIndexes(store.db, [PARTS_INDEX], async () => {
    for (const { teamId, libraryId } of libraries) {
      for (let from = 1; from <= atoms; from += CHUNK) {
        await addChunk(store, { teamId, libraryId, atoms, from, to: Math.min(atoms, from + CHUNK - 1) });
      }
    }
  });
}

/** Adds atoms number `from` to `to`, of `atoms` in all. */
async function addChunk(
  store: Store,
  {
    teamId,
    libraryId,
    atoms,
    from,
    to,
  }: { teamId: string; libraryId: string; atoms: number; from: number; to: number },
): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    await sql`select setseed(${(from % 1_000_000) / 1_000_000})`.execute(tx);
    await sql`
      insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select ${libraryId}, ${teamId},
        ${EVERYWHERE} || ' ' || words || case when n % 20 = 7 then ${` ${SOMETIMES}`} else '' end
          || case when n % 10000 = 77 then ${` ${RARE} ${RARE_RUN}`} else '' end,
        case when n = 1 then array[${COMMON_TAG}, ${RARE_TAG}] else array[${COMMON_TAG}] end,
        round((random() * 10)::numeric, 1), at, at
      from generate_series(${from}::integer, ${to}::integer) n,
        lateral (select now() - (${atoms}::integer - n) * interval '1 minute' as at) made,
        lateral (
          select string_agg(${WORD}, ' ') as words from generate_series(1, 20 + n % 41) where n > 0
        ) written`.execute(tx);
  });
}
