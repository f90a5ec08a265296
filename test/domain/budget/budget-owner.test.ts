import { expect, test } from "vitest";
import { budgetsOf } from "../../../domain/budget/budget.ts";
import { ownerOfBudget } from "../../../domain/budget/budget-owner.ts";
import { keyRecord } from "../../server/harness.ts";

const month = { tokens: 100, period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const;

test.each(["c1/payments/checkout", "api//a name", "api/payments/with/slashes and spaces"])(
  "whose a budget is can be read from its id: %s",
  (place) => {
    const teamLimits = { rate: null, concurrent: null, budgets: [month] };
    const key = keyRecord({ budgets: { owner: `team-a ${place}`, items: [month] }, teamLimits });
    const [ofKey, ofTeam] = budgetsOf(key).map(({ id }) => ownerOfBudget(id));
    const [cluster, namespace, ...name] = place.split("/");
    expect(ofKey).toEqual({
      ...{ of: "key", teamId: "team-a", cluster, namespace, name: name.join("/") },
      ...{ unit: "tokens", period: "Month" },
    });
    expect(ofTeam).toEqual({ of: "team", teamId: key.teamId, unit: "tokens", period: "Month" });
  },
);

test("an id of another form names no owner", () => {
  for (const id of [
    "",
    "team team-a",
    "key team-a tokens Month",
    "key team-a c1 tokens Month",
    "team team-a tokens Year",
  ])
    expect(ownerOfBudget(id)).toBeUndefined();
});
