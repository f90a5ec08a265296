import { sql } from "kysely";
import { expect, test } from "vitest";
import { startUpkeep } from "../../processes/upkeep.ts";
import { systemClock } from "../../runtime/clock.ts";
import { watchDatabaseClock, whileSteady } from "../../runtime/database-clock.ts";
import { appendAudit } from "../../store/audit/audit.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { databaseTime } from "../../store/database/times.ts";
import { prune } from "../../store/retention.ts";
import { migratedDatabase } from "../env/database/engines.ts";
import { until } from "../env/until.ts";
import { addTeamsWithLibraries } from "../memory/libraries.ts";

const DAY = 24 * 3_600_000;
/** Of the upkeep: long enough for the clock to jump between two rounds, and not within one. Milliseconds. */
const INTERVAL = 2_000;

test("c121: a database whose clock is a hundred days ahead for a minute has no atom and no audit event deleted by servers", async (context) => {
  const { url, drop } = await migratedDatabase();
  const admin = await openPostgres(url);
  await sql`create schema shifted`.execute(admin.db);
  await sql`create table shifted.clock (ahead interval not null)`.execute(admin.db);
  await sql`insert into shifted.clock values ('0')`.execute(admin.db);
  for (const name of ["now", "clock_timestamp", "statement_timestamp"])
    await sql
      .raw(`create function shifted.${name}() returns timestamptz language sql volatile
        as 'select pg_catalog.${name}() + ahead from shifted.clock'`)
      .execute(admin.db);
  await sql`do $$ begin
    execute format('alter database %I set search_path = shifted, public, pg_catalog', current_database()); end $$`.execute(
    admin.db,
  );
  await admin.close();
  const store = await openPostgres(url);
  let isNoticed = false;
  const clock = watchDatabaseClock(systemClock.monotonic, () => {
    isNoticed = true;
  });
  const endUpkeep = startUpkeep(store, clock, { warn: () => {} }, INTERVAL);
  context.onTestFinished(async () => {
    await endUpkeep();
    await store.close();
    await drop();
  });
  await addTeamsWithLibraries(store);
  const insert = (lives: string) =>
    sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at, expires_at)
      values ('lib-diary', 'team-a', 'kept', '{}', 5, now(), now(), now() + ${lives}::interval)`.execute(store.db);
  const atoms = async () => (await sql`select from atoms`.execute(store.db)).rows;
  await insert("0");
  await until("a round deletes what has expired", async () => (await atoms()).length === 0);
  await insert("30 days");
  await appendAudit(store.db, [{ at: null, kind: "key.revoked", detail: {} }]);

  await sql`update shifted.clock set ahead = '100 days'`.execute(store.db);
  await until("a round has noticed it", () => isNoticed);
  await endUpkeep();
  await whileSteady(
    clock,
    () => databaseTime(store.db),
    (signal) => prune(store, 90 * DAY, signal),
  )(context.signal);
  expect(await atoms()).toHaveLength(1);
  expect(await store.db.selectFrom("audit_events").select("kind").execute()).toEqual([{ kind: "key.revoked" }]);
});
