/** What the page Health shows of budgets, where many of keys that are gone were used up. */
import { expect, test } from "vitest";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { recordBudgetNotice } from "../../../store/budgets/budget-notices.ts";
import { nearBudgets } from "../../../store/budgets/near-budgets.ts";
import { change } from "../../../store/database/change.ts";
import { databaseTime } from "../../../store/database/times.ts";
import { revokeKeys } from "../../../store/keys/lifecycle/revocation.ts";
import { saveTeam } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { keyring } from "../../server/key-index/replica-fixtures.ts";
import { makeTeam, policyOf, reserveKey, run, teamDraft } from "../fixtures.ts";

const total = { tokens: 1_000, period: "Total", timeZone: "UTC", onExhausted: "Refuse" } as const;
const LIMIT = 3;

describeNightlyOnEachEngine("budgets near their end", (store) => {
  test("are found behind as many as are read of keys that are revoked", async () => {
    const use = async (budget: string) => {
      const of = { budget, period: "total", endsAt: Number.POSITIVE_INFINITY, most: 1_000 };
      await writeLedger(store().db, "a thread", [{ ...of, revision: 1, spent: 1_000, held: 0, wanted: 0 }]);
      await change(store(), null, (tx) => recordBudgetNotice(tx, { ...of, used: 1_000, percent: 100 }));
    };
    const home = await makeTeam(store());
    for (let i = 0; i <= LIMIT; i++) {
      const { key } = await reserveKey(store(), home, { policy: policyOf({ budgets: [total] }) });
      await use(`key ${home.teamId} ${home.cluster}/${home.namespace}/${key.name} tokens Total`);
      await run(store(), (tx) => revokeKeys(tx, [{ keyId: key.id, reason: "Deleted" }]));
    }
    const draft = teamDraft({ limits: { rate: null, concurrent: null, budgets: [total] } });
    const { result } = await change(store(), null, (tx) => saveTeam(tx, draft, keyring));
    await use(`team ${result.teamId} tokens Total`);
    const near = await nearBudgets(store().db, await databaseTime(store().db), LIMIT);
    expect(near).toMatchObject([{ reached: 100, team: { id: result.teamId } }]);
  });
});
