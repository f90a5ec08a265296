import { sql } from "kysely";
import { expect, test } from "vitest";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { readReplicas } from "../../../store/replicas/replicas.ts";
import { startOwnPostgres } from "../../env/database/postgres.ts";

test("c26: another database is known as such: a server that was started again, and a backup in the former one's place", async (context) => {
  const server = await startOwnPostgres();
  context.onTestFinished(() => server.stop());
  const url = new URL(server.url);
  const alone = async (statement: string) => {
    const admin = await openPostgres(server.url);
    await sql.raw(statement).execute(admin.db);
    await admin.close();
  };
  await alone("create database served");
  url.pathname = "/served";
  const incarnation = async () => {
    const store = await openPostgres(url.href);
    await migrate(store);
    const { incarnation } = await readReplicas(store, 0);
    await store.close();
    return incarnation;
  };
  const first = await incarnation();
  expect(await incarnation(), "by another connection").toBe(first);
  await alone("create database backup template served");
  await alone("drop database served with (force)");
  await alone("create database served template backup");
  const restored = await incarnation();
  await server.kill();
  await server.restart();
  expect(new Set([first, restored, await incarnation()])).toHaveLength(3);
});
