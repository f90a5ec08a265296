import { expect, test } from "vitest";
import { budgetsOf, budgetsOfPolicy } from "../../../domain/budget/budget.ts";
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

test("whose a budget is that teams share can be read from its id", () => {
  const [budget] = budgetsOfPolicy({ owner: "c1/staging.eu", items: [month] });
  expect(budget).toMatchObject({ of: "policy", policy: "staging.eu" });
  expect(ownerOfBudget(budget?.id ?? "")).toEqual({
    ...{ of: "policy", cluster: "c1", name: "staging.eu", unit: "tokens", period: "Month" },
  });
});

test("an id of another form names no owner", () => {
  for (const id of [
    "",
    "team team-a",
    "key team-a tokens Month",
    "key team-a c1 tokens Month",
    "team team-a tokens Year",
    "policy staging tokens Month",
  ])
    expect(ownerOfBudget(id)).toBeUndefined();
});
