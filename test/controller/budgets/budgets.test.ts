import { expect, it } from "vitest";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { budgetsOfPolicy, declareBudgets } from "../../../domain/budget/budget.ts";
import { change } from "../../../store/database/change.ts";
import { saveTeam } from "../../../store/teams/teams.ts";
import { until } from "../../env/until.ts";
import { teamDraft, unique } from "../../store/fixtures.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, SOON, startWorld } from "../fixtures/world.ts";
import { MONTHLY, use, withUsedBudgets } from "./budgets.ts";

describeWorlds("an object whose budget is used", withUsedBudgets);

describeWorlds("a policy whose teams share a budget", (setup) => {
  it("b149: says how far it is used, and has it hold of each of their keys", async (context) => {
    const world = await startWorld(context, { ...setup(), ...SOON }, key("agent"), {
      ...{ kind: "PlatformKeyPolicy", name: "staging", namespace: "" },
      spec: { teamSelector: {}, sharedBudgets: [MONTHLY] },
    });
    const plaintext = await world.plaintextOf("agent");
    const ofPolicy = () => world.condition("BudgetExhausted", "staging", "PlatformKeyPolicy", "");
    await until("it has the condition", () => ofPolicy() === "False/BudgetLeft");
    const { cluster } = await world.stored("agent");
    const items = declareBudgets([MONTHLY]) ?? [];
    const shared = { owner: `${cluster}/staging`, items };
    await until("the key has it", () => world.record(plaintext)?.teamLimits?.shared !== undefined);
    expect(world.record(plaintext)?.teamLimits).toMatchObject({ rate: null, shared: [shared] });
    const [budget] = budgetsOfPolicy(shared);
    if (budget === undefined) throw new Error("there is no budget");
    await use(world, budget, 900, 80);
    await until("much is used", () => ofPolicy() === "False/BudgetNearlyExhausted");
    expect(world.condition("Ready", "staging", "PlatformKeyPolicy", "")).toBe("True/Ready");
    await world.advance(32 * 24 * HOUR);
    await until("it has begun anew", () => ofPolicy() === "False/BudgetLeft");
  });

  it("b174: holds, once a controller begins, of a team that a server of an earlier version has made", async (context) => {
    const world = await startWorld(context, setup(), key("agent"), {
      ...{ kind: "PlatformKeyPolicy", name: "staging", namespace: "" },
      spec: { teamSelector: {}, sharedBudgets: [MONTHLY] },
    });
    const { cluster } = await world.stored("agent");
    await world.stop();
    const draft = teamDraft({ cluster: API_CLUSTER, namespaces: [], name: unique("hand") });
    const { teamId } = (await change(world.store, null, (tx) => saveTeam(tx, draft))).result;
    const { db } = world.store;
    await db.updateTable("teams").set({ shared_budgets: null }).where("id", "=", teamId).execute();
    await world.start();
    const ofTeam = () => db.selectFrom("teams").select("shared_budgets").where("id", "=", teamId).executeTakeFirst();
    await until("it has it", async () =>
      JSON.stringify((await ofTeam())?.shared_budgets).includes(`${cluster}/staging`),
    );
  });
});
