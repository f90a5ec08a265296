import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { key, NAMESPACE, startWorld } from "../fixtures/world.ts";
import { budgetOfKey, use, withUsedBudgets } from "./budgets.ts";

describeWorldsOnKubernetes("an object whose budget is used", (setup, kubernetes) => {
  withUsedBudgets(setup);

  it("is shown by kubectl describe, with when the budget resets", async (context) => {
    const budgets = [{ tokens: 1_000, period: "Month" }];
    const world = await startWorld(context, setup(), key("agent", { budgets }));
    await use(world, await budgetOfKey(world, "agent"), 1_000, 100);
    const described = await until("it is described", async () => {
      const text = await kubernetes().kubectl(["describe", "platformkey", "agent", "-n", `${NAMESPACE}${world.tag}`]);
      return /Warning\s+BudgetExhausted/.test(text) && /Reason:\s+BudgetExhausted/.test(text) ? text : undefined;
    });
    expect(described).toMatch(/it resets at \d{4}-\d\d-01T00:00:00Z/);
  });
});
