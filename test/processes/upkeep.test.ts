import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { startUpkeep } from "../../processes/upkeep.ts";
import { systemClock } from "../../runtime/clock.ts";
import { watchDatabaseClock } from "../../runtime/database-clock.ts";
import { describeNightlyOnEachEngine } from "../env/database/engines.ts";
import { until } from "../env/until.ts";
import { addTeamsWithLibraries } from "../memory/libraries.ts";

const SUBJECTS = 3_000;
const clock = watchDatabaseClock(systemClock.monotonic, () => {});

describeNightlyOnEachEngine("the upkeep of the database", (store) => {
  beforeAll(async () => {
    await addTeamsWithLibraries(store());
  });

  test("b251: goes on while what the many subjects of one team had is deleted", async () => {
    const { db } = store();
    await sql`insert into libraries (id, cluster, namespace, name, team_id, display_name, description, deletion_policy,
        state, parent_id, subject)
      select 'part_' || n, '', '', 'part_' || n, 'team-a', '', '', 'Delete', 'deleted', 'lib-diary', null
      from generate_series(1, ${SUBJECTS}::integer) n`.execute(db);
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at, expires_at)
      values ('lib-ops', 'team-a', 'short-lived', '{}', 5, now(), now(), now())`.execute(db);
    const failures: unknown[] = [];
    const log = { warn: (failure: unknown) => failures.push(failure) };
    const end = startUpkeep(store(), clock, log, 10);
    const left = async (which: ReturnType<typeof sql>) =>
      (await sql<{ n: number }>`select count(*)::integer as n from ${which}`.execute(db)).rows[0]?.n ?? Number.NaN;
    await until("what has expired is gone", async () => (await left(sql`atoms`)) === 0);
    expect(await left(sql`libraries where state = 'deleted'`)).toBeGreaterThan(SUBJECTS / 2);
    await end();
    expect(failures).toEqual([]);
  });

  test("b292: what was deleted of one team is gone although a slice of another team's, whose turn comes before, fails", async () => {
    const { db } = store();
    const [failing, other] = ["lib-b-notes", "lib-ops"];
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select id, team_id, 'an atom', '{}', 5, now(), now() from libraries where id in (${failing}, ${other})`.execute(
      db,
    );
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`.execute(
      db,
    );
    await sql`create trigger refuse before delete on atoms for each row when (old.library_id = ${sql.lit(failing)})
      execute function refuse()`.execute(db);
    await sql`delete from libraries where parent_id is not null`.execute(db);
    await sql`update libraries set state = 'deleted' where id in (${failing}, ${other})`.execute(db);
    const failures: unknown[] = [];
    const end = startUpkeep(store(), clock, { warn: (failure: unknown) => failures.push(failure) }, 10);
    await until("the other one is gone", async () => {
      const { rows } = await sql<{ id: string }>`select id from libraries where state = 'deleted'`.execute(db);
      return rows.length === 1 && rows[0]?.id === failing;
    });
    await end();
    expect(failures).not.toEqual([]);
  });
});
