import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { type AtomSearchBounds, SEARCH_BOUNDS } from "../../../../memory/store/search/candidates/search-bounds.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";

const REACH: Reach = { teamId: "team-a", libraryIds: null };
/** An atom of three words has about 60 bytes of words, one of 50 about 1,000, one of 1,000 about 20,000. */
const BOUNDS: AtomSearchBounds = { ...SEARCH_BOUNDS, sample: 20, indexed: 40, newest: 20, important: 5, bytes: 8_000 };

describeNightlyOnEachEngine("Searches for what a few long atoms have among many short ones", (opened) => {
  /** Older than all others, with ids that a sample chooses last. */
  const addLong = (words: string, filling: number, atoms: number) =>
    sql`insert into atoms (id, library_id, team_id, content, tags, importance, created_at, updated_at)
      select ('00000000-0000-7000-bfff-fffff' || lpad(${filling}::text, 5, '0') || lpad(n::text, 2, '0'))::uuid, 'lib-diary', 'team-a', ${words}::text || (
          select string_agg(' w' || md5(f::text || n), '') from generate_series(1, ${filling}::integer) f), '{}', 5, at, at
      from generate_series(1, ${atoms}::integer) n, lateral (select timestamptz '2025-11-20' as at) made`.execute(
      opened().db,
    );

  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    await sql`insert into atoms (id, library_id, team_id, content, tags, importance, created_at, updated_at)
      select md5(n::text)::uuid, 'lib-diary', 'team-a',
        case when n % 30 = 0 then 'quokka wombat' else 'usual' end || ' number' || n, '{}', 5, at, at
      from generate_series(1, 600) n, lateral (select timestamptz '2026-11-20' + n * interval '1 second' as at) made`.execute(
      opened().db,
    );
    await addLong("quokka quokka quokka", 50, 3);
    await addLong("wombat wombat wombat", 1_000, 2);
  });

  const found = async (query: string, bounds: Partial<AtomSearchBounds> = {}): Promise<string[]> => {
    const search = { libraryId: "lib-diary", tags: [], limit: 50, query };
    const { items } = await searchAtoms(opened().db, REACH, search, { ...BOUNDS, ...bounds });
    return items.map(({ atom }) => atom.content.slice(0, 20));
  };

  test("the sample has none of the long atoms", async () => {
    const { rows } = await sql<{ longest: number }>`select max(pg_column_size(search)) as longest from (
      select search from atoms order by substring(uuid_send(id) from 9) limit 20) sampled`.execute(opened().db);
    expect(rows[0]?.longest).toBeLessThanOrEqual(BOUNDS.bytes / BOUNDS.indexed);
  });

  test("find these too, in the order of their ranks", async () => {
    const hits = await found("quokka");
    expect(hits.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => "quokka quokka quokka"));
    expect(hits).toHaveLength(23);
  });

  test("give the same answer where the sample does have long atoms", async () => {
    expect(await found("quokka", { sample: 603 })).toEqual(await found("quokka"));
  });

  test("b86: do not read those of more words than may be read at once", async () => {
    const hits = await found("wombat");
    expect(hits).toHaveLength(20);
    expect(hits).not.toContain("wombat wombat wombat");
    expect(await found("wombat", { bytes: 1 << 20 })).toHaveLength(22);
  });
});
