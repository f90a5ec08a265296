import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { beginSession, endSession, findSession } from "../../store/sessions/sessions.ts";
import { addSignInLink, takeSignInLink } from "../../store/sessions/sign-in-links.ts";
import { restorableDatabase } from "../env/database/restorable-database.ts";
import { until } from "../env/until.ts";

const HOUR = 3_600_000;

test("c65: Sessions and one-time links that a restored backup brings back are refused, and new ones work", async (context) => {
  const database = await restorableDatabase(context);
  const store = await openPostgres(database.url);
  context.onTestFinished(() => store.close());
  await migrate(store);
  const begin = async () => {
    const digest = randomBytes(32).toString("latin1");
    const signedIn = { person: null, sid: null, displayName: "Ann" };
    await store.db.transaction().execute((tx) => beginSession(tx, digest, signedIn, HOUR));
    return digest;
  };
  const take = (digest: string) => store.db.transaction().execute((tx) => takeSignInLink(tx, digest));
  const addLink = async () => {
    const digest = randomBytes(32).toString("latin1");
    await addSignInLink(store.db, digest, HOUR);
    return digest;
  };
  const [session, link] = [await begin(), await addLink()];
  await database.save();
  await until("the database answers", () => sql`select 1`.execute(store.db));
  expect(await findSession(store.db, session)).toBeDefined();
  expect([await endSession(store.db, session), await take(link)]).toEqual([true, true]);
  await database.restore();
  await until("the database answers", () => sql`select 1`.execute(store.db));
  expect(await findSession(store.db, session)).toBeUndefined();
  expect(await take(link)).toBe(false);
  expect(await findSession(store.db, await begin())).toBeDefined();
  expect(await take(await addLink())).toBe(true);
});
