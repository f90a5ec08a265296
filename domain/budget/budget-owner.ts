import type { KeyPlace } from "./budget.ts";
import type { BudgetPeriod } from "./period.ts";

/** Owner of a budget, and its unit and period, as its id states them. */
export type BudgetOwner = { readonly unit: string; readonly period: BudgetPeriod } & (
  | { readonly of: "team"; readonly teamId: string }
  | ({ readonly of: "key" } & KeyPlace)
  | { readonly of: "policy"; readonly cluster: string; readonly name: string }
);

const POLICY_ID = /^policy (?<cluster>[^/ ]*)\/(?<name>\S+) (?<unit>\S+) (?<period>Day|Week|Month|Total)$/;
const ID = /^(?<of>key|team) (?<teamId>\S+)(?<place> .+)? (?<unit>\S+) (?<period>Day|Week|Month|Total)$/;
const KEY_NAME = /^ (?<cluster>[^/]*)\/(?<namespace>[^/]*)\/(?<name>.+)$/;

/** Parses an id that `budgetsOf` gives; undefined for another text, such as an id of a later build. */
export function ownerOfBudget(id: string): BudgetOwner | undefined {
  const ofPolicy = POLICY_ID.exec(id)?.groups;
  if (ofPolicy !== undefined) {
    const { cluster = "", name = "", unit = "", period } = ofPolicy;
    return isPeriod(period) ? { of: "policy", cluster, name, unit, period } : undefined;
  }
  const { of, teamId, place, unit, period } = ID.exec(id)?.groups ?? {};
  if (teamId === undefined || unit === undefined || !isPeriod(period)) return undefined;
  if (of === "team") return place === undefined ? { of, teamId, unit, period } : undefined;
  const { cluster, namespace, name } = KEY_NAME.exec(place ?? "")?.groups ?? {};
  if (cluster === undefined || namespace === undefined || name === undefined) return undefined;
  return { of: "key", teamId, cluster, namespace, name, unit, period };
}

function isPeriod(text: string | undefined): text is BudgetPeriod {
  return text === "Day" || text === "Week" || text === "Month" || text === "Total";
}
