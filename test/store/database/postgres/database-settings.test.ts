import { sql } from "kysely";
import { expect, test } from "vitest";
import { copyRows } from "../../../../store/database/postgres/copy.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import { freshDatabase } from "../../../env/database/engines.ts";

/** Settings that a role, a database or a server may have for its other users, and those of Keyplane's sessions. */
const SETTINGS: Readonly<Record<string, readonly [theirs: string, ours: string]>> = {
  datestyle: ["SQL, DMY", "ISO, MDY"],
  intervalstyle: ["iso_8601", "postgres"],
  extra_float_digits: ["0", "1"],
  standard_conforming_strings: ["off", "on"],
  default_transaction_isolation: ["serializable", "read committed"],
  default_transaction_deferrable: ["on", "off"],
  lock_timeout: ["1ms", "0"],
  statement_timeout: ["100ms", "0"],
  transaction_timeout: ["200ms", "0"],
  array_nulls: ["off", "on"],
  gin_fuzzy_search_limit: ["5", "0"],
  synchronous_commit: ["off", "on"],
};

test("c117: the settings of a database for its other users change no answer and end no statement", async (context) => {
  const { url, drop } = await freshDatabase();
  const admin = await openPostgres(url, { answerTimeoutMs: 0 });
  const name = sql.id(new URL(url).pathname.slice(1));
  // PostgreSQL has it from version 17 on.
  const late = "transaction_timeout";
  const { rows: known } = await sql`select from pg_settings where name = ${late}`.execute(admin.db);
  const settings = Object.entries(SETTINGS).filter(([setting]) => setting !== late || known.length > 0);
  for (const [setting, [theirs]] of settings) {
    const value = setting === "datestyle" ? sql.raw(theirs) : sql.lit(theirs);
    await sql`alter database ${name} set ${sql.raw(setting)} = ${value}`.execute(admin.db);
  }
  const store = await openPostgres(url, { answerTimeoutMs: 0 });
  context.onTestFinished(async () => {
    await Promise.all([admin.close(), store.close()]);
    await drop();
  });
  const wanted = settings.map(([setting, [, ours]]) => [setting, ours]);
  const select = `select string_agg(concat_ws('=', s, current_setting(s)), ';' order by n)
    from unnest(array['${wanted.map(([setting]) => setting).join("','")}']) with ordinality as asked (s, n)`;
  const { rows } = await sql<{ all: string }>`select (${sql.raw(select)}) as all`.execute(store.db);
  expect(rows[0]?.all.split(";").map((one) => one.split("="))).toEqual(wanted);
  const { rows: times } = await sql<{ at: Date }>`select timestamptz '2026-11-29 22:00:00Z' as at`.execute(store.db);
  expect(times[0]?.at).toEqual(new Date("2026-11-29T22:00:00Z"));

  const copied: string[] = [];
  await admin.db.transaction().execute(async (tx) => {
    const { rows: exported } = await sql<{ id: string }>`select pg_export_snapshot() as id`.execute(tx);
    const question = { snapshot: exported[0]?.id ?? "", settings: {}, select: `${select}, pg_sleep(0.3) as slow` };
    await copyRows({ connectionString: url }, 10_000, question, (row) => copied.push(row.toString("latin1")));
  });
  expect(copied.join("")).toContain("datestyle=ISO, MDY");
});
