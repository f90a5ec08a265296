import { sql } from "kysely";
import { expect, test } from "vitest";
import { maintainTables } from "../../../store/database/table-upkeep.ts";
import { openEmbedded } from "../../env/database/embedded-database.ts";

test("b87: the embedded database gathers statistics and frees space after enough changes, and rests without", async () => {
  const store = await openEmbedded();
  try {
    await sql`create table numbers (n integer primary key)`.execute(store.db);
    await sql`insert into numbers select generate_series(1, 3000)`.execute(store.db);
    expect(await maintainTables(store)).toContainEqual({ table: "numbers", analyzed: true, vacuumed: true });
    const { rows } = await sql`select reltuples::integer as rows, relallvisible > 0 as vacuumed from pg_class
      where relname = 'numbers'`.execute(store.db);
    expect(rows).toEqual([{ rows: 3_000, vacuumed: true }]);
    expect(await maintainTables(store)).toEqual([]);

    await sql`delete from numbers where n <= 1500`.execute(store.db);
    expect(await maintainTables(store)).toContainEqual({ table: "numbers", analyzed: true, vacuumed: true });
  } finally {
    await store.close();
  }
});
