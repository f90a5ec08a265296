import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../../../../../store/database/change.ts";
import type { Corpus } from "./corpus.ts";
import { perfectVector } from "./perfect-vectors.ts";

/** An atom as it is to be stored. */
export type StoredAtom = {
  readonly content: string;
  readonly tags?: readonly string[];
  readonly source?: string | null;
  readonly importance: number;
  readonly ageDays: number;
};

/** Rows of one statement. */
const CHUNK = 2_000;

/** Stores atoms as if each had been saved so many days ago, and not been corrected since. */
export async function storeAged(
  db: Db,
  { libraryId, teamId }: { readonly libraryId: string; readonly teamId: string },
  atoms: readonly StoredAtom[],
): Promise<string[]> {
  const ids: string[] = [];
  const times = new Map<string, number>();
  const uuidOf = (content: string) => {
    const before = times.get(content) ?? 0;
    times.set(content, before + 1);
    return idOf(before === 0 ? content : `${content} ${before}`);
  };
  for (let from = 0; from < atoms.length; from += CHUNK) {
    const rows = atoms.slice(from, from + CHUNK).map((atom) => ({ ...atom, uuid: uuidOf(atom.content) }));
    const inserted = await sql<{ id: string }>`
      insert into atoms (id, library_id, team_id, content, tags, source, importance, created_at, updated_at)
      select (atom ->> 'uuid')::uuid, ${libraryId}, ${teamId}, atom ->> 'content',
        array(select jsonb_array_elements_text(coalesce(atom -> 'tags', '[]'))), atom ->> 'source', (atom ->> 'importance')::float8, at, at
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) with ordinality atoms (atom, place),
        lateral (select now() - (atom ->> 'ageDays')::float8 * interval '1 day' as at) made
      order by place returning id::text`.execute(db);
    ids.push(...inserted.rows.map(({ id }) => id));
  }
  return ids;
}

/** The same for a text each time: which atoms a search samples depends on the bits of their ids. */
function idOf(content: string): string {
  const digest = createHash("sha256").update(content).digest("hex");
  return `${digest.slice(0, 12)}7${digest.slice(13, 16)}8${digest.slice(17, 32)}`;
}

/** Gives the atoms of a corpus, whose ids these are, the vectors that a perfect model makes of them. */
export async function storePerfectVectors(
  db: Db,
  libraryId: string,
  { atoms }: Corpus,
  ids: readonly string[],
): Promise<void> {
  const vectors = atoms.map(({ about, topic, id: own }) => [perfectVector({ about, topic, own })]);
  await storeVectors(db, libraryId, ids, vectors);
}

/** Gives atoms of one library the vectors of their passages, in the space 1. */
export async function storeVectors(
  db: Db,
  libraryId: string,
  ids: readonly string[],
  vectors: readonly (readonly (readonly number[])[])[],
): Promise<void> {
  const rows = ids.flatMap((id, n) => (vectors[n] ?? []).map((v, passage) => ({ id, passage, v: JSON.stringify(v) })));
  const made = sql`(select (row ->> 'id')::uuid as id, (row ->> 'passage')::integer as passage, (row ->> 'v')::vector as v
    from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) row) made`;
  await sql`
    insert into atom_embeddings (atom_id, library_id, space, revision, signature, embedding)
    select id, ${libraryId}, 1, 1, binary_quantize(v), v from ${made} where passage = 0`.execute(db);
  await sql`
    insert into atom_passages (atom_id, library_id, passage, space, revision, signature, embedding)
    select id, ${libraryId}, passage, 1, 1, binary_quantize(v), v from ${made} where passage > 0`.execute(db);
}
