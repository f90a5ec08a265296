import { type BudgetSpec, declareBudgets } from "../budget/budget.ts";
import type { GatewayRecord, RouteRecord } from "./key-record.ts";
import type { DeclaredLimits, DeclaredRate, LimitSpec, TokenLimit } from "./rate-limit.ts";

/** What is declared of an owner's calls, and by which id they are counted. */
export type OwnedLimits = DeclaredLimits & { readonly id: string };

/** Reads a valid `rateLimit`, its defaults filled in; null where it declares no rate. */
export function declareRate(spec: LimitSpec | undefined): DeclaredRate | null {
  if (spec?.requestsPerMinute === undefined) return null;
  const { requestsPerMinute, burst = requestsPerMinute, scope = "Replica" } = spec;
  return { requestsPerMinute, burst, scope };
}

/** Reads the tokens of a valid `rateLimit`, its defaults filled in; null where it declares none. */
export function declareTokens(spec: LimitSpec | undefined): TokenLimit | null {
  if (spec?.tokensPerMinute === undefined) return null;
  const { tokensPerMinute, scope = "Replica" } = spec;
  return { tokensPerMinute, scope };
}

/** Reads a valid `rateLimit`, and `budgets`, of what has no limit where none is declared: null then. */
export function declareLimits(
  spec: LimitSpec | undefined,
  budgetSpecs?: readonly BudgetSpec[] | undefined,
): DeclaredLimits | null {
  const budgets = declareBudgets(budgetSpecs);
  if (spec === undefined && budgets === null) return null;
  const tokens = declareTokens(spec);
  return {
    rate: declareRate(spec),
    concurrent: spec?.concurrent ?? null,
    ...(tokens && { tokens }),
    ...(budgets && { budgets }),
  };
}

/** Writes what limits were declared as; undefined for none. What may be left out is. */
export function limitSpec({ rate, concurrent, tokens }: DeclaredLimits): LimitSpec | undefined {
  if (rate === null && concurrent === null && tokens === undefined) return undefined;
  const scope = rate?.scope ?? tokens?.scope;
  return {
    ...(rate && { requestsPerMinute: rate.requestsPerMinute, burst: rate.burst }),
    ...(tokens && { tokensPerMinute: tokens.tokensPerMinute }),
    ...(scope === "Installation" && { scope }),
    ...(concurrent !== null && { concurrent }),
  };
}

/** The limits of a gateway's route; undefined for none. A route is known by its model among those of its gateway. */
export function routeLimits(
  { gatewayId }: Pick<GatewayRecord, "gatewayId">,
  { model, rateLimit }: RouteRecord,
): OwnedLimits | undefined {
  const limits = declareLimits(rateLimit);
  return limits === null ? undefined : { id: `${gatewayId}/${model}`, ...limits };
}
