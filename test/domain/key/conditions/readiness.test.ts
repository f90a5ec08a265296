import { describe, expect, it } from "vitest";
import { planKey } from "../../../../domain/key/plan/plan-key.ts";
import { NOW, stateOf } from "../../rule-table.ts";
import { observedKey } from "../situations.ts";
import { CONDITION_RULES } from "./readiness.rows.ts";

describe.each(CONDITION_RULES.tables)("$decision", ({ rows }) => {
  it.each(rows)("$rule", (row) => {
    const { conditions } = planKey(observedKey(stateOf(CONDITION_RULES, row)), NOW);
    const stated = conditions.map(({ type, status, reason }) => [type, { status, reason }]);
    expect(Object.fromEntries(stated)).toMatchObject(row.outcome);
  });
});
