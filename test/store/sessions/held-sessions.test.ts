import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../../../store/database/change.ts";
import { endSessionsByLink, holdSession } from "../../../store/sessions/sessions.ts";
import { describeOnPostgres } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { signIn } from "../../server/auth/session/sign-in.ts";

describeOnPostgres("Changes of one session that overlap all the time", (store) => {
  test("b441: let the end of the session come to its turn: what comes after it finds the session ended", async () => {
    const { digest } = await signIn(store());
    const inTransaction = <T>(body: (tx: Tx) => Promise<T>) => store().db.transaction().execute(body);
    const waiting = async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(store().db);
      return rows.length;
    };
    const release = Promise.withResolvers<void>();
    const held = Promise.withResolvers<boolean>();
    const before = inTransaction(async (tx) => {
      held.resolve(await holdSession(tx, digest));
      await release.promise;
    });
    expect(await held.promise).toBe(true);
    const end = inTransaction(endSessionsByLink);
    await until("the end waits", async () => (await waiting()) === 1);
    const after = inTransaction((tx) => holdSession(tx, digest));
    await Promise.race([after, until("it waits behind the end", async () => (await waiting()) === 2)]);
    release.resolve();
    await before;
    expect(await Promise.all([end, after])).toEqual([[digest], false]);
  });
});
