import { describe, expect, it } from "vitest";
import { dependsOnUsage, staleUse } from "../../../../domain/key/conditions/stale-consumers.ts";
import type { Overlap } from "../../../../domain/key/declaration/declared-key.ts";
import { governedKey } from "../../../../domain/key/observed/observed-key.ts";
import { planKey } from "../../../../domain/key/plan/plan-key.ts";
import { HOUR, MINUTE, NOW, stateOf } from "../../rule-table.ts";
import { observe, plan, rotated, type World } from "../exploration/world.ts";
import { observedKey } from "../situations.ts";
import { STALE_RULES } from "./stale-consumers.rows.ts";

describe.each(STALE_RULES.tables)("$decision", ({ rows }) => {
  it.each(rows)("$rule", (row) => {
    const observed = observedKey(stateOf(STALE_RULES, row));
    const condition = planKey(observed, NOW).conditions.find(({ type }) => type === "StaleConsumers");
    const stale = staleUse(observed, governedKey(observed), NOW);
    expect({ ...condition, version: stale?.version.number, at: stale?.use.at }).toMatchObject(row.outcome);
  });
});

it("costs no question about uses where there is nothing to be known", () => {
  const adoption: Overlap = { mode: "Adoption", min: HOUR, max: 3 * HOUR, quiet: 10 * MINUTE };
  const asks = (world: World) => {
    const { declared, stored } = observe(world, world.declaration ?? expect.fail("it is declared"));
    return dependsOnUsage(declared, stored ?? expect.fail("there is a key"));
  };
  expect(asks(rotated(adoption))).toBe(true);
  expect(asks(rotated({ mode: "Fixed", duration: HOUR }))).toBe(false);
  expect(asks(rotated({ ...adoption, max: 0 }))).toBe(false);
  expect(plan(rotated({ ...adoption, max: 0 }))?.requeueAt).toBe(Number.POSITIVE_INFINITY);
});
