import { expect, it } from "vitest";
import { budgetsOf, declareBudgets, type OwnedBudget } from "../../../domain/budget/budget.ts";
import { periodAt } from "../../../domain/budget/period.ts";
import type { Threshold } from "../../../domain/budget/threshold.ts";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { recordBudgetNotice } from "../../../store/budgets/budget-notices.ts";
import { change } from "../../../store/database/change.ts";
import { databaseTime } from "../../../store/database/times.ts";
import { until } from "../../env/until.ts";
import type { WorldTests } from "../fixtures/setup.ts";
import { HOUR, key, NAMESPACE, SOON, startWorld, team, type World } from "../fixtures/world.ts";

export const MONTHLY = { tokens: 1_000, period: "Month" } as const;

export const exhausted = (world: World, name: string, kind: "PlatformKey" | "PlatformTeam" = "PlatformKey") =>
  world.condition("BudgetExhausted", name, kind);
const messageOf = (world: World, name: string) =>
  world.get("PlatformKey", name)?.status?.conditions?.find(({ type }) => type === "BudgetExhausted")?.message;
/** The Warnings of an object on budgets, by their reason: on Kubernetes no other event is a line of the log. */
const events = (world: World, name: string) =>
  world.lines
    .flatMap((line) => line.match(`^[A-Za-z]+ (?:[a-z0-9-]+/)?${name}(?:-[0-9a-f]+)?: (Budget[A-Za-z]+): `)?.[1] ?? [])
    .filter((reason) => reason !== "BudgetHalfUsed");

/** The first budget of a key of the team `team-a`. */
export async function budgetOfKey(world: World, name: string): Promise<OwnedBudget> {
  const { teamId, cluster, namespace } = await world.stored(name);
  return ownedBudget(teamId, `${teamId} ${cluster}/${namespace}/${name}`);
}

function ownedBudget(teamId: string, owner: string | null): OwnedBudget {
  const items = declareBudgets([MONTHLY]) ?? [];
  const [budget] = budgetsOf(
    owner === null
      ? { teamId, teamLimits: { budgets: items } }
      : { teamId, budgets: { owner, items }, teamLimits: null },
  );
  if (budget === undefined) throw new Error("there is no budget");
  return budget;
}

let revision = 0;
/** Has a server have charged so much to a budget in the present period, and reported a threshold. */
export async function use(world: World, budget: OwnedBudget, spent: number, percent: Threshold | null, most = 1_000) {
  const { store } = world;
  const { name: period, endsAt } = periodAt(budget.period, budget.timeZone, await databaseTime(store.db));
  const line = { budget: budget.id, period, endsAt, most, revision: ++revision, spent, held: 0, wanted: 0 };
  await writeLedger(store.db, "thread", [line]);
  if (percent === null) return endsAt;
  const notice = { budget: budget.id, period, endsAt, most, used: spent, percent };
  await change(store, null, (tx) => recordBudgetNotice(tx, notice));
  return endsAt;
}

/** A key and a team that use their budgets up. */
export const withUsedBudgets: WorldTests = (setup) => {
  it("says so beside Ready and in one event for each part, until the budget is raised or resets", async (context) => {
    const world = await startWorld(context, { ...setup(), ...SOON }, key("agent", { budgets: [MONTHLY] }), key("free"));
    expect([exhausted(world, "agent"), exhausted(world, "free")]).toEqual(["False/BudgetLeft", undefined]);
    const budget = await budgetOfKey(world, "agent");
    const endsAt = await use(world, budget, 500, 50);
    await until("half is used", () => exhausted(world, "agent") === "False/BudgetHalfUsed");
    const anew = `${new Date(endsAt).toISOString().slice(0, 19)}Z`;
    expect(messageOf(world, "agent")).toBe(
      `At least 50 % of the budget of 1,000 tokens a month (UTC) are used; it resets at ${anew}.`,
    );
    // A call more changes nothing that is said.
    await use(world, budget, 790, null);
    await world.restart();
    expect([exhausted(world, "agent"), events(world, "agent")]).toEqual(["False/BudgetHalfUsed", []]);
    await use(world, budget, 900, 80);
    await until("much is used", () => exhausted(world, "agent") === "False/BudgetNearlyExhausted");
    // A call was refused with little left.
    await use(world, budget, 960, 100);
    await until("it is used up", () => exhausted(world, "agent") === "True/BudgetExhausted");
    expect(messageOf(world, "agent")).toBe(
      "The budget of 1,000 tokens a month (UTC) is used up, and calls of models that it has no room for are refused;" +
        ` it resets at ${anew}. Wait until then, or raise it in spec.budgets.`,
    );
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    await world.restart();
    expect(events(world, "agent")).toEqual(["BudgetNearlyExhausted", "BudgetExhausted"]);

    await world.declare(key("agent", { budgets: [{ ...MONTHLY, tokens: 2_000 }] }));
    await until("it is raised", () => exhausted(world, "agent") === "False/BudgetLeft");
    await world.declare(key("agent", { budgets: [MONTHLY] }));
    await until("it is as before", () => exhausted(world, "agent") === "True/BudgetExhausted");
    await world.advance(32 * 24 * HOUR);
    await until("it has begun anew", () => exhausted(world, "agent") === "False/BudgetLeft");
    await world.declare(key("agent"));
    expect(exhausted(world, "agent")).toBeUndefined();
  });

  it("says it of a team, whose keys are as they were", async (context) => {
    const declared = team("team-a", [NAMESPACE], { budgets: [{ ...MONTHLY, onExhausted: "Alert" }] });
    const world = await startWorld(context, { ...setup(), ...SOON }, key("agent"));
    await world.declare(declared);
    await until("it has the condition", () => exhausted(world, "team-a", "PlatformTeam") === "False/BudgetLeft");
    const teamId = String(world.get("PlatformTeam", "team-a")?.status?.teamID);
    await use(world, ownedBudget(teamId, null), 1_200, 100);
    await until("it is used up", () => exhausted(world, "team-a", "PlatformTeam") === "True/BudgetExhausted");
    expect(world.condition("Ready", "team-a", "PlatformTeam")).toBe("True/Ready");
    await world.restart();
    expect(events(world, "team-a")).toEqual(["BudgetExhausted"]);
    expect(world.lines.find((line) => line.includes("BudgetExhausted"))).toContain("and calls of models go on;");
    expect(exhausted(world, "agent")).toBeUndefined();
  });
};
