import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ServerVersionError } from "../../../store/errors.ts";
import { migrate } from "../../../store/migrate.ts";
import { openPostgres } from "../../../store/open.ts";
import { assertUsable } from "../../../store/start-check.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../../env/postgres.ts";

describe("c64: a server of PostgreSQL 14", () => {
  let server: OwnPostgresServer;
  beforeAll(async () => {
    server = await startOwnPostgres({}, undefined, "14");
  });
  afterAll(() => server.stop());

  test("is refused by name, at the start and by migrate", async () => {
    const store = await openPostgres(server.url);
    for (const attempt of [assertUsable, migrate]) {
      const error = await attempt(store).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ServerVersionError);
      expect(String(error)).toMatch(/the database is PostgreSQL 14\.\d+.*15 or later is needed/);
    }
    await store.close();
  });
});

test("c64: these tests run on PostgreSQL 15", async () => {
  const server = await startOwnPostgres();
  const store = await openPostgres(server.url);
  const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(
    store.db,
  );
  expect(rows[0]?.version).toMatch(/^15\./);
  await store.close();
  await server.stop();
});
