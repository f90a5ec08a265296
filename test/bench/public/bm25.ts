/** BM25, the yardstick: English stems without stop words, as PostgreSQL's `english` has them. */
import { sql } from "kysely";
import type { Db } from "../../../store/database/change.ts";

const K1 = 0.9;
const B = 0.4;

/** Returns a search of texts by BM25: the indexes of those that match, the best first. */
export async function bm25(db: Db, texts: readonly string[]): Promise<(query: string) => Promise<number[]>> {
  const documents = await stemsOf(db, texts);
  const lengths = documents.map((stems) => sum(stems.values()));
  const usual = sum(lengths) / lengths.length;
  const postings = new Map<string, [at: number, times: number][]>();
  for (const [at, stems] of documents.entries()) {
    for (const [stem, times] of stems) {
      const known = postings.get(stem);
      if (known === undefined) postings.set(stem, [[at, times]]);
      else known.push([at, times]);
    }
  }
  return async (query) => {
    const scores = new Map<number, number>();
    const [asked = new Map()] = await stemsOf(db, [query]);
    for (const stem of asked.keys()) {
      const found = postings.get(stem) ?? [];
      const rarity = Math.log(1 + (texts.length - found.length + 0.5) / (found.length + 0.5));
      for (const [at, times] of found) {
        const length = (lengths[at] ?? 0) / usual;
        const gain = (rarity * times * (K1 + 1)) / (times + K1 * (1 - B + B * length));
        scores.set(at, (scores.get(at) ?? 0) + gain);
      }
    }
    return [...scores].toSorted(([a, left], [b, right]) => right - left || a - b).map(([at]) => at);
  };
}

/** Returns the stems of each text, and how often it has each. */
async function stemsOf(db: Db, texts: readonly string[]): Promise<Map<string, number>[]> {
  const { rows } = await sql<{ stems: Record<string, number> }>`
    select coalesce((select jsonb_object_agg(lexeme, cardinality(positions))
      from unnest(to_tsvector('english', text))), '{}') as stems
    from unnest(${[...texts]}::text[]) with ordinality asked (text, place) order by place`.execute(db);
  return rows.map(({ stems }) => new Map(Object.entries(stems)));
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}
