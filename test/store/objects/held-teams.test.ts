import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../../../store/database/change.ts";
import { holdTeam } from "../../../store/objects/held-teams.ts";
import { lockObject } from "../../../store/objects/objects.ts";
import { deleteTeam, saveTeam } from "../../../store/teams/teams.ts";
import { describeOnPostgres } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { makeTeam } from "../fixtures.ts";

type Team = Awaited<ReturnType<typeof makeTeam>>;

describeOnPostgres("Changes of a team's members that overlap all the time", (store) => {
  test.each<[what: string, change: (tx: Tx, team: Team) => Promise<unknown>]>([
    ["by hand", (tx, { teamId }) => lockObject(tx, "team", teamId)],
    ["by its declaration", (tx, team) => saveTeam(tx, team)],
    ["that deletes it", (tx, team) => deleteTeam(tx, team)],
  ])("b441: let a change of the team %s come to its turn, and those after it wait behind it", async (_, changeTeam) => {
    const team = await makeTeam(store());
    const inTransaction = <T>(body: (tx: Tx) => Promise<T>) => store().db.transaction().execute(body);
    const waiting = async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(store().db);
      return rows.length;
    };
    const done: string[] = [];
    const release = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const before = inTransaction(async (tx) => {
      await holdTeam(tx, team.teamId);
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const change = inTransaction(async (tx) => {
      await changeTeam(tx, team);
      done.push("change");
    });
    await until("the change waits", async () => (await waiting()) === 1);
    const after = inTransaction(async (tx) => {
      await holdTeam(tx, team.teamId);
      done.push("after");
    });
    await Promise.race([after, until("it waits behind the change", async () => (await waiting()) === 2)]);
    release.resolve();
    await Promise.all([before, change, after]);
    expect(done).toEqual(["change", "after"]);
  });
});
