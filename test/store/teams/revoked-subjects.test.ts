import { sql } from "kysely";
import { expect, test } from "vitest";
import { change } from "../../../store/database/change.ts";
import { revokeSubject } from "../../../store/teams/revoked-subjects.ts";
import { readTeams } from "../../../store/teams/team-records.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam, run } from "../fixtures.ts";

const MAX_OF_TEAM = 1_000;

describeNightlyOnEachEngine("A team's revoked subjects", (store) => {
  const revoke = async (teamId: string, subject: string) =>
    (await change(store(), null, (tx) => revokeSubject(tx, { teamId, subject, by: { actor: "a test" } }))).result;
  const revokedOf = async (teamId: string) => {
    const [team] = await run(store(), (tx) => readTeams(tx, [teamId]));
    return team?.revoked ?? [];
  };

  test("b106: hold for the tokens up to the last time that they were revoked", async () => {
    const { teamId } = await makeTeam(store());
    await sql`insert into revoked_subjects (team_id, subject, revoked_at)
      values (${teamId}, 'ann', clock_timestamp() - interval '1 day')`.execute(store().db);
    const [first] = await revokedOf(teamId);
    await revoke(teamId, "ann");
    const [again, ...others] = await revokedOf(teamId);
    expect([again?.name, others]).toEqual(["subject ann", []]);
    expect(again?.atMs).toBeGreaterThan(first?.atMs ?? Number.POSITIVE_INFINITY);
  });

  test("b106: are kept for as long as a token may open, and then make room", async () => {
    const { teamId } = await makeTeam(store());
    await sql`insert into revoked_subjects (team_id, subject, revoked_at) values
      (${teamId}, 'kept', clock_timestamp() - interval '89 days'),
      (${teamId}, 'past', clock_timestamp() - interval '91 days')`.execute(store().db);
    await revoke(teamId, "ann");
    expect((await revokedOf(teamId)).map(({ name }) => name)).toEqual(["subject ann", "subject kept"]);
  });

  test("are so many at most, and one of them may be revoked again", async () => {
    const { teamId } = await makeTeam(store());
    await sql`insert into revoked_subjects (team_id, subject)
      select ${teamId}, 'subject ' || n from generate_series(1, ${MAX_OF_TEAM}) n`.execute(store().db);
    expect(await revoke(teamId, "subject 1")).toBe(true);
    expect(await revoke(teamId, "one more")).toBe(false);
  });
});
