import { type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../../domain/access/reach.ts";
import type { Db } from "../../../../store/database/change.ts";
import { withOrderedPlans } from "../../../../store/database/ordered-plans.ts";
import { unansweredStatement } from "../../../../store/database/unanswered.ts";
import { OF_SUBJECT } from "../../../../store/libraries/reachable-libraries.ts";
import {
  type EmbeddingModel,
  MODEL_COLUMNS,
  MODEL_JOINS,
  type ModelRow,
  toModel,
} from "../../embedding/embedding-model.ts";
import { RANKED_COLUMNS, type RankedColumns, type RankedRow, toRankedRow } from "./ranked-row.ts";
import { candidateCondition, type SearchScope } from "./search-scope.ts";

/** Libraries, and a subject's parts of them, whose vectors can be compared with the same vector of a question. */
export type QuestionSpace = EmbeddingModel & {
  readonly servedBy: string;
  readonly dimensions: number;
  readonly libraries: readonly { readonly id: string; readonly space: number }[];
};

/** Vector of a question, of the space's length. */
export type QuestionVector = { readonly space: QuestionSpace; readonly vector: readonly number[] };

/**
 * Limits on the ways to embed one question, and on the libraries of a reach; further libraries are searched by their
 * words alone.
 */
const MAX_SPACES = 3;
const MAX_LIBRARIES = 500;
/**
 * Signatures that are compared, the newest atoms' of each library first: so many of first passages, and as many of
 * further passages, which thus leave out no first passage. Of each of the two, the closest are compared exactly.
 */
const MAX_SIGNATURES = 100_000;
const MAX_COMPARED = 400;

/**
 * Returns the ways to embed a question for the libraries of a reach that have vectors: each library by its own gateway
 * and key, libraries of one gateway and model together.
 *
 * @param libraryId null for every library of the reach
 * @returns undefined if no library of the whole team has vectors
 */
export async function questionSpaces(
  db: Db,
  reach: Reach,
  libraryId: string | null,
): Promise<QuestionSpace[] | undefined> {
  const { rows } = await sql<ModelRow & { libraryIds: string[]; space: number; isWanted: boolean }>`
    select array(select e.library_id union all select part.id from libraries part
        where part.parent_id = l.id and part.subject = ${reach.subject ?? null}::text and part.state = ${OF_SUBJECT}
      ) as "libraryIds", e.space, ${MODEL_COLUMNS},
      (${libraryId}::text is null or l.id = ${libraryId})
        and (${reach.libraryIds}::text[] is null or l.id = any(${reach.libraryIds}::text[])) as "isWanted"
    from libraries l join library_embeddings e on e.library_id = l.id ${MODEL_JOINS}
    where l.team_id = ${reach.teamId} and l.state = 'active' and e.dimensions is not null and not e.is_ended
      and to_regclass('atom_passages') is not null
    order by "isWanted" desc, l.id limit ${MAX_LIBRARIES}`.execute(db);
  if (rows.length === 0) return undefined;
  const wanted = rows.filter((row) => row.isWanted);
  const spaces = Map.groupBy(wanted, ({ publicId, model, askedDimensions, servedBy, dimensions }) =>
    JSON.stringify([publicId, model, askedDimensions, servedBy, dimensions]),
  );
  return [...spaces.values()].slice(0, MAX_SPACES).flatMap((alike) => {
    const [first] = alike;
    if (first === undefined || first.servedBy === null || first.dimensions === null) return [];
    const { servedBy, dimensions } = first;
    const libraries = alike.flatMap(({ libraryIds, space }) => libraryIds.map((id) => ({ id, space })));
    return [{ ...toModel(first), servedBy, dimensions, libraries }];
  });
}

/** Atom, and how near its meaning is to a question's: 1 for the same, 0 for no nearer than the library's others. */
export type NearAtom = RankedRow & {
  readonly nearness: number;
  /** Index of the atom's nearest passage, from 0 on. */
  readonly passage: number;
};

/**
 * Finds the atoms of a scope whose meaning is nearest to a question's, the nearest first, each by its nearest passage.
 * Signatures of the vectors, a bit for each number's sign, choose the vectors that are compared exactly: reading
 * 100,000 vectors would take a second.
 */
export async function nearestAtoms(
  db: Db,
  scope: SearchScope,
  { space: { dimensions, libraries }, vector }: QuestionVector,
  limit: number,
): Promise<NearAtom[]> {
  const within = libraries.filter(({ id }) => scope.libraryIds.includes(id));
  if (within.length === 0) return [];
  const bits = sql.raw(`bit(${Math.trunc(dimensions)})`);
  const question = JSON.stringify(vector);
  const each = Math.ceil(MAX_SIGNATURES / within.length);
  const closest = (table: string, passage: RawBuilder<unknown>, newest: RawBuilder<unknown>) => sql`
    select v.atom_id, v.revision, v.passage, v.embedding from unnest(
        ${within.map(({ id }) => id)}::text[], ${within.map(({ space }) => space)}::integer[]
      ) library (id, space) cross join lateral (
        select atom_id, space, revision, ${passage} as passage, signature, embedding from ${sql.table(table)}
        where library_id = library.id order by ${newest} limit ${each}
      ) v
    where v.space = library.space
    order by v.signature::${bits} <~> binary_quantize(${question}::vector)::${bits} limit ${MAX_COMPARED}`;
  const { rows } = await withOrderedPlans(db, async (tx) => {
    // Nothing gives the nearest in order: to sort them is what is wanted here.
    await sql`${unansweredStatement} select set_config('enable_sort', 'on', true)`.execute(tx);
    return sql<RankedColumns & { cosine: number; passage: number }>`
      with close as materialized (
        (${closest("atom_embeddings", sql`0`, sql`atom_id desc`)})
        union all (${closest("atom_passages", sql`passage`, sql`atom_id desc, passage desc`)})
      ), nearest as (
        select distinct on (atom_id, revision) atom_id, revision, passage, embedding <=> ${question}::vector as distance
        from close order by atom_id, revision, distance
      )
      select ${RANKED_COLUMNS}, a.cosine, a.passage from (
        select a.*, 1 - nearest.distance as cosine, nearest.passage from nearest cross join lateral (
          select a.* from atoms a
          where a.id = nearest.atom_id and a.revision = nearest.revision and ${candidateCondition(scope)} offset 0
        ) a
      ) a
      order by a.cosine desc, a.id desc limit ${limit}`.execute(tx);
  });
  const others = rows.at(-1)?.cosine ?? 0;
  return rows.map(({ cosine, passage, ...row }) => ({
    ...toRankedRow(row),
    passage,
    nearness: others < 1 ? (cosine - others) / (1 - others) : 0,
  }));
}
