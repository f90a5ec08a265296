import { sql } from "kysely";
import { expect, test } from "vitest";
import { StaleDeclarationError } from "../../../store/database/errors.ts";
import { removeLibrary, saveLibrary } from "../../../store/libraries/libraries.ts";
import { readTeams } from "../../../store/teams/team-records.ts";
import { deleteTeam, findTeam, findTeamOfNamespace, saveTeam, type TeamDraft } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { libraryDraft, makeTeam, readSnapshot, reserveKey, run, teamDraft, unique } from "../fixtures.ts";
import { membersOfTeam } from "../questions.ts";

describeNightlyOnEachEngine("A team", (store) => {
  const save = (draft: TeamDraft) => run(store(), (tx) => saveTeam(tx, draft));

  test("holds the namespaces that it claims, and lets go of those it no longer does", async () => {
    const [a, b] = [unique("ns"), unique("ns")];
    const draft = teamDraft({ namespaces: [a, b, a] });
    const { teamId, refused } = await save(draft);
    expect(refused).toEqual([]);
    expect(await findTeamOfNamespace(store().db, "c1", a)).toEqual({ id: teamId, name: draft.name });
    expect(await findTeamOfNamespace(store().db, "c2", a)).toBeUndefined();
    await save({ ...draft, namespaces: [b] });
    expect(await findTeamOfNamespace(store().db, "c1", a)).toBeUndefined();
    expect(await findTeam(store().db, "c1", draft.name)).toEqual({ id: teamId, namespaces: [b] });
  });

  test("of two teams that claim one namespace the first stored claim wins, until it is given up", async () => {
    const [shared, own] = [unique("ns"), unique("ns")];
    const first = teamDraft({ namespaces: [shared] });
    const second = teamDraft({ namespaces: [shared, own] });
    const { teamId } = await save(first);
    const claim = await save(second);
    expect(claim.refused).toEqual([{ namespace: shared, heldBy: first.name }]);
    expect(await findTeamOfNamespace(store().db, "c1", own)).toMatchObject({ name: second.name });
    expect((await save(first)).refused).toEqual([]);
    expect(await findTeamOfNamespace(store().db, "c1", shared)).toMatchObject({ id: teamId });
    await save({ ...first, namespaces: [] });
    expect((await save(second)).refused).toEqual([]);
    expect(await findTeamOfNamespace(store().db, "c1", shared)).toMatchObject({ id: claim.teamId });
  });

  test("leaves a namespace to others while no team holds it, and keeps one that it holds", async () => {
    const [left, own] = [unique("ns"), unique("ns")];
    const draft = teamDraft({ namespaces: [left, own] });
    const leaving = { ...draft, leftToOthers: [left] };
    expect(await save(leaving)).toMatchObject({ held: [own], refused: [] });
    expect(await findTeamOfNamespace(store().db, "c1", left)).toBeUndefined();
    expect(await save(draft)).toMatchObject({ held: [left, own].sort(), refused: [] });
    expect(await save(leaving)).toMatchObject({ held: [left, own].sort(), refused: [] });
  });

  test("that was declared again is not deleted by the end of the declaration before", async () => {
    const draft = teamDraft({ namespaces: [unique("ns")] });
    const { teamId } = await save({ ...draft, ownerUid: "the next incarnation" });
    await run(store(), (tx) => deleteTeam(tx, draft));
    expect(await findTeam(store().db, "c1", draft.name)).toMatchObject({ id: teamId });
  });

  test("that is deleted frees its namespaces, and made again by the same name it is the same team", async () => {
    const namespace = unique("ns");
    const draft = teamDraft({
      namespaces: [namespace],
      members: [{ role: "admin", kind: "group", value: "leads" }],
      generation: 9,
    });
    const { teamId } = await save(draft);
    await run(store(), (tx) => deleteTeam(tx, draft));
    await run(store(), (tx) => deleteTeam(tx, draft));
    expect(await findTeamOfNamespace(store().db, "c1", namespace)).toBeUndefined();
    expect(await findTeam(store().db, "c1", draft.name)).toBeUndefined();
    expect(await membersOfTeam(store().db, teamId)).toEqual([]);
    const heir = teamDraft({ namespaces: [namespace] });
    expect((await save(heir)).refused).toEqual([]);
    const again = await save({ ...draft, ownerUid: "another uid", generation: 1 });
    expect(again).toEqual({ teamId, held: [], refused: [{ namespace, heldBy: heir.name }] });
  });

  test("a team that loses a key's namespace suspends the key; one that gets it back lets it go on", async () => {
    const home = await makeTeam(store());
    const { digest } = await reserveKey(store(), home);
    const holds = async () =>
      (await readSnapshot(store())).keys.find((key) => key.digest === digest)?.attributes.teamHoldsNamespace;
    expect(await holds()).toBe(true);
    await save({ ...home, namespaces: [] });
    expect(await holds()).toBe(false);
    const other = await makeTeam(store(), { namespaces: [home.namespace] });
    expect(await holds()).toBe(false);
    await save({ ...other, namespaces: [] });
    await save(home);
    expect(await holds()).toBe(true);
  });

  test("has the members that it declares, each with each of its roles", async () => {
    const draft = teamDraft({
      members: [
        { role: "viewer", kind: "subject", value: "auditor@example.com" },
        { role: "member", kind: "serviceAccount", value: "ci/deployer" },
        { role: "admin", kind: "group", value: "leads" },
      ],
    });
    const { teamId } = await save(draft);
    expect(await membersOfTeam(store().db, teamId)).toHaveLength(3);
    await save({ ...draft, members: [{ role: "viewer", kind: "group", value: "leads" }] });
    expect(await membersOfTeam(store().db, teamId)).toEqual([{ role: "viewer", kind: "group", value: "leads" }]);
    await save({ ...draft, members: [] });
    expect(await membersOfTeam(store().db, teamId)).toEqual([]);
  });

  test("gives a member the libraries that it names while they are there, its own alone, and all where it names none", async () => {
    const member = { role: "member", kind: "subject", value: "ann" } as const;
    const home = await makeTeam(store());
    const { namespace } = home;
    const diary = libraryDraft(home, { name: "diary" });
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, diary));
    const reachOf = async (members: TeamDraft["members"]) => {
      await save({ ...home, members });
      const [team] = await run(store(), (tx) => readTeams(tx, [home.teamId]));
      return team?.members.map(({ libraryIds }) => libraryIds);
    };
    const named = (...names: string[]) => ({ ...member, libraryRefs: names.map((name) => ({ namespace, name })) });
    expect(await reachOf([named("diary", "later")])).toEqual([[libraryId]]);
    expect(await reachOf([named("later")])).toEqual([[]]);
    expect(await reachOf([named("later"), named("diary")])).toEqual([[libraryId]]);
    expect(await reachOf([named("diary"), member])).toEqual([null]);
    const other = await makeTeam(store());
    await run(store(), (tx) => saveLibrary(tx, libraryDraft(other, { name: "diary" })));
    const ofOther = { ...member, libraryRefs: [{ namespace: other.namespace, name: "diary" }] };
    expect(await reachOf([ofOther])).toEqual([[]]);
    await run(store(), (tx) => removeLibrary(tx, { ...diary, policy: "Retain" }));
    expect(await reachOf([named("diary")])).toEqual([[]]);
  });

  test("c16: a declaration older than the one that was applied is refused, one of a new object is not", async () => {
    const draft = teamDraft({ generation: 3, displayName: "three" });
    await save(draft);
    await expect(save({ ...draft, generation: 2, displayName: "two" })).rejects.toThrow(StaleDeclarationError);
    await save({ ...draft, ownerUid: "a new object", generation: 1 });
  });
});

describeOnPostgres("Two teams at once", (store) => {
  test("that claim the same namespaces in different orders: each namespace has one holder, and the other is refused by name", async () => {
    for (let round = 0; round < 10; round++) {
      const namespaces = [1, 2, 3, 4].map(() => unique("ns"));
      const drafts = [teamDraft({ namespaces }), teamDraft({ namespaces: [...namespaces].reverse() })];
      const saved = await Promise.all(drafts.map((draft) => run(store(), (tx) => saveTeam(tx, draft))));
      expect(saved.map(({ refused }) => refused.length).sort()).toEqual([0, 4]);
    }
  });
});

describeOnPostgres("The members of a team with many libraries", (store) => {
  test("are read without the libraries that none of them is given, however many there are", async () => {
    const [members, others] = [20, 2_000];
    const { teamId, namespace } = await makeTeam(store());
    const { rows: refs } = await sql<{ namespace: string; name: string }>`
      insert into libraries (id, cluster, namespace, name, team_id, display_name, description, deletion_policy, state)
      select ${teamId} || n, 'c1', ${namespace}, 'library-' || n, ${teamId}, '', '', 'Retain', 'active'
      from generate_series(1, ${others}) n returning namespace, name`.execute(store().db);
    await sql`insert into team_members (team_id, role, kind, value, library_refs)
      select ${teamId}, 'member', 'subject', 'person ' || n, ${JSON.stringify(refs.slice(0, 3))}::jsonb
      from generate_series(1, ${members}) n`.execute(store().db);
    await sql`analyze libraries, team_members`.execute(store().db);
    const read = await store()
      .db.transaction()
      .execute(async (tx) => {
        const [team] = await readTeams(tx, [teamId]);
        expect(team?.members.map(({ libraryIds }) => libraryIds?.length)).toEqual(Array(members).fill(3));
        const { rows } = await sql<{ count: number }>`select (seq_tup_read + idx_tup_fetch)::int as count
          from pg_stat_xact_user_tables where relname = 'libraries'`.execute(tx);
        return rows[0]?.count;
      });
    expect(read).toBeLessThan(others);
  });
});
