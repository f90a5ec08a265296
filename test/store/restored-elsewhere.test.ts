import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import pg from "pg";
import { expect, type TestContext, test } from "vitest";
import { change, takeLeadership } from "../../store/database/change.ts";
import { StaleLeaderError } from "../../store/database/errors.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { beginSession, endSession, findSession } from "../../store/sessions/sessions.ts";
import { addSignInLink, takeSignInLink } from "../../store/sessions/sign-in-links.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";

const HOUR = 3_600_000;
const TABLES = ["sessions", "sign_in_links", "leaders"] as const;

/** A new server with a role and a database, as docs/operations/database.md has them made. */
async function freshServer(context: TestContext, { hidesIdentifier = false } = {}): Promise<Store> {
  const server = await startOwnPostgres();
  const url = new URL(server.url);
  url.pathname = "/keyplane";
  await ask(server.url, "create role keyplane login password 'keyplane'");
  await ask(server.url, "create database keyplane owner keyplane encoding 'UTF8' template template0");
  if (hidesIdentifier) await ask(url.href, "revoke execute on function pg_control_system from public");
  Object.assign(url, { username: "keyplane", password: "keyplane" });
  const store = await openPostgres(url.href);
  context.onTestFinished(async () => {
    await store.close();
    await server.stop();
  });
  await migrate(store);
  return store;
}

async function ask(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** Signs a person in, makes a link and leads; reads the rows of these as a dump does; and ends all of it. */
async function dumpAndEnd(store: Store) {
  const [session, link] = [randomBytes(32).toString("latin1"), randomBytes(32).toString("latin1")];
  const signedIn = { person: null, sid: null, displayName: "Ann" };
  await store.db.transaction().execute((tx) => beginSession(tx, session, signedIn, HOUR));
  await addSignInLink(store.db, link, HOUR);
  const fence = await takeLeadership(store, "c");
  const use = async (of: Store) => ({
    session: (await findSession(of.db, session)) !== undefined,
    link: await of.db.transaction().execute((tx) => takeSignInLink(tx, link)),
    leadership: await change(of, fence, async () => {}).then(
      () => true,
      (error: unknown) => !(error instanceof StaleLeaderError),
    ),
  });
  const rows = await Promise.all(TABLES.map((table) => store.db.selectFrom(table).selectAll().execute()));
  expect(await use(store)).toEqual({ session: true, link: true, leadership: true });
  await endSession(store.db, session);
  await takeLeadership(store, "c");
  return async function useRestored(restored: Store) {
    for (const [index, table] of TABLES.entries())
      await restored.db
        .insertInto(table)
        .values(rows[index] as never)
        .execute();
    return use(restored);
  };
}

test("c59, c65: A dump that is restored on another server, into a database of the same number, revives no session, link or leadership", async (context) => {
  const [lost, anew] = await Promise.all([freshServer(context), freshServer(context)]);
  const useRestored = await dumpAndEnd(lost);
  expect(await useRestored(anew)).toEqual({ session: false, link: false, leadership: false });
});

test("c59, c65: A dump that is restored into the database that it is of, emptied before, revives none, also where the server hides its identifier", async (context) => {
  const store = await freshServer(context, { hidesIdentifier: true });
  const useRestored = await dumpAndEnd(store);
  await sql`drop schema public cascade; create schema public`.execute(store.db);
  await migrate(store);
  expect(await useRestored(store)).toEqual({ session: false, link: false, leadership: false });
});
