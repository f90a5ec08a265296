import { afterAll, beforeAll, expect, test } from "vitest";
import type { Finding } from "../../../cli/doctor/finding.ts";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { freshDatabase } from "../../env/database/engines.ts";
import { startPgbouncer } from "../../env/database/pgbouncer.ts";
import { keyplane } from "../up.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
  const store = await openPostgres(database.url);
  await migrate(store);
  await store.close();
});
afterAll(() => database?.drop());

/** What doctor says of a database behind PgBouncer in that mode, as `severity name`. */
async function through(mode: "session" | "transaction"): Promise<string[]> {
  const pooler = await startPgbouncer(database.url, mode);
  try {
    const { out } = await keyplane(["doctor", "--database-url", pooler.url, "-o", "json"]);
    const { findings }: { findings: Finding[] } = JSON.parse(out);
    return findings.map(({ severity, name }) => `${severity} ${name}`);
  } finally {
    await pooler.stop();
  }
}

test("doctor finds PgBouncer in transaction mode by the notifications and the session that it loses", async () => {
  const found = await through("transaction");
  expect(found).toEqual(expect.arrayContaining(["error database-notifications", "error database-session"]));
});

test("doctor has nothing against PgBouncer in session mode", async () => {
  const found = await through("session");
  expect(found).toEqual(expect.arrayContaining(["ok database-notifications", "ok database-session"]));
});
