import { expect, test } from "vitest";
import type { Budget } from "../../../domain/budget/budget.ts";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { recordBudgetNotice } from "../../../store/budgets/budget-notices.ts";
import { nearBudgets } from "../../../store/budgets/near-budgets.ts";
import { change } from "../../../store/database/change.ts";
import { databaseTime } from "../../../store/database/times.ts";
import { saveTeam } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { keyring } from "../../server/key-index/replica-fixtures.ts";
import { makeTeam, policyOf, reserveKey, teamDraft } from "../fixtures.ts";

const LIMIT = 1_000;
const budget = (tokens: number): Budget => ({ tokens, period: "Total", timeZone: "UTC", onExhausted: "Refuse" });
const limits = (tokens: number) => ({ rate: null, concurrent: null, budgets: [budget(tokens)] });

describeNightlyOnEachEngine("budgets near their end", (store) => {
  async function use(id: string, tokens: number): Promise<void> {
    const of = { budget: id, period: "total", endsAt: Number.POSITIVE_INFINITY, most: LIMIT };
    await writeLedger(store().db, "a thread", [{ ...of, revision: 1, spent: tokens, held: 0, wanted: 0 }]);
    await change(store(), null, (tx) => recordBudgetNotice(tx, { ...of, used: tokens, percent: 80 }));
  }
  const near = async () => nearBudgets(store().db, await databaseTime(store().db), 100);
  const nearOf = async (teamId: string) => (await near()).filter(({ team }) => team?.id === teamId);

  test("are a team's that is used to 80 %, until it is raised", async () => {
    const draft = teamDraft({ limits: limits(LIMIT) });
    const { result } = await change(store(), null, (tx) => saveTeam(tx, draft, keyring));
    const { teamId } = result;
    expect(await nearOf(teamId)).toEqual([]);
    await use(`team ${teamId} tokens Total`, 850);
    expect(await nearOf(teamId)).toMatchObject([
      { spent: 850, reached: 80, key: null, team: { id: teamId, name: draft.name } },
    ]);
    await change(store(), null, (tx) => saveTeam(tx, { ...draft, generation: 2, limits: limits(2 * LIMIT) }, keyring));
    expect(await nearOf(teamId)).toEqual([]);
  });

  test("are a key's, by the name that it is counted for", async () => {
    const team = await makeTeam(store());
    const { key } = await reserveKey(store(), team, { policy: policyOf({ budgets: [budget(LIMIT)] }) });
    await use(`key ${team.teamId} ${team.cluster}/${team.namespace}/${key.name} tokens Total`, 900);
    expect(await nearOf(team.teamId)).toMatchObject([{ spent: 900, key: { id: key.id, name: key.name } }]);
  });

  test("are none that no key and no team has any more", async () => {
    await use("team team_gone tokens Total", 900);
    expect(await nearOf("team_gone")).toEqual([]);
  });
});
