import { sql } from "kysely";
import { expect, test } from "vitest";
import { maintainTables } from "../../../store/database/table-upkeep.ts";
import { openEmbedded } from "../../env/database/embedded-database.ts";
import { addTeamsWithLibraries } from "../../server/memory/libraries.ts";

test("b87: the embedded database gathers statistics and frees space after enough changes, and rests without", async () => {
  const store = await openEmbedded();
  try {
    await addTeamsWithLibraries(store);
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select 'lib-diary', 'team-a', 'atom ' || n, '{}', 5, now(), now() from generate_series(1, 3000) n`.execute(
      store.db,
    );
    expect(await maintainTables(store)).toContainEqual({ table: "atoms", analyzed: true, vacuumed: true });
    const { rows } = await sql`select reltuples::integer as rows, relallvisible > 0 as vacuumed from pg_class
      where relname = 'atoms'`.execute(store.db);
    expect(rows).toEqual([{ rows: 3_000, vacuumed: true }]);
    expect(await maintainTables(store)).toEqual([]);

    await sql`delete from atoms where id in (select id from atoms limit 1500)`.execute(store.db);
    expect(await maintainTables(store)).toContainEqual({ table: "atoms", analyzed: true, vacuumed: true });
  } finally {
    await store.close();
  }
});
