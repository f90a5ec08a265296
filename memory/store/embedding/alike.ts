import { sql } from "kysely";
import type { Db } from "../../../store/database/change.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";

/** Returns how alike two atoms are in meaning: 1 for the same, 0 for no more than most; undefined if it is unknown. */
export type Alike = (of: string, to: string) => number | undefined;

/** Highest cosine that most models give two atoms about different things; used if there are too few to measure it. */
const USUAL_COSINE = 0.5;
const FEW = 5;
/** Usual cosine from which on the vectors are nearly all the same, and say nothing. */
const MAX_USUAL = 0.999;

/**
 * Compares the vectors of the first atoms with the vectors of all of them, within each library.
 *
 * @param ids at most some 50
 * @param first number of atoms that are compared with the others, at most some ten
 */
export async function compareMeanings(db: Db, ids: readonly string[], first: number): Promise<Alike> {
  const { rows } = await sql<{ of: string; to: string[]; cosines: number[] }>`${preparedStatement}
    with vectors as materialized (
      select placed.place, v.atom_id, v.library_id, v.space, v.embedding
      from unnest(${[...ids]}::uuid[]) with ordinality placed (id, place) cross join lateral (
        select * from atom_embeddings v where v.atom_id = placed.id offset 0) v
    )
    select v.atom_id::text as of, array_agg(o.atom_id::text) as to, array_agg(1 - (v.embedding <=> o.embedding)) as cosines
    from vectors v join vectors o on o.library_id = v.library_id and o.space = v.space and o.atom_id <> v.atom_id
    where v.place <= ${first}::integer group by v.atom_id`.execute(db);
  const known = new Map(rows.map(({ of, to, cosines }) => [of, alikeOf(to, cosines)]));
  return (of, to) => known.get(of)?.get(to);
}

/**
 * Scales each cosine so that the usual one is 0 and the same meaning is 1: the cosine of two texts of one library
 * differs from model to model.
 */
function alikeOf(ids: readonly string[], cosines: readonly number[]): ReadonlyMap<string, number> {
  const middle = cosines.toSorted((a, b) => a - b)[Math.floor(cosines.length / 2)] ?? 0;
  const usual = cosines.length < FEW ? USUAL_COSINE : middle;
  const above = (cosine: number) => (usual < MAX_USUAL ? (cosine - usual) / (1 - usual) : 0);
  return new Map(ids.map((id, at) => [id, above(cosines[at] ?? 0)]));
}
