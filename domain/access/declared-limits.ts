import { type BudgetSpec, declareBudgets } from "../budget/budget.ts";
import type { GatewayRecord, RouteRecord } from "./key-record.ts";
import type { DeclaredLimits, DeclaredRate, LimitSpec, TokenLimit } from "./rate-limit.ts";

/** Declared limits of an owner's calls, and the id under which the calls are counted. */
export type OwnedLimits = DeclaredLimits & { readonly id: string };

/** Parses a valid `rateLimit`, with its defaults filled in; null if it declares no rate. */
export function declareRate(spec: LimitSpec | undefined): DeclaredRate | null {
  if (spec?.requestsPerMinute === undefined) return null;
  const { requestsPerMinute, burst = requestsPerMinute, scope = "Replica" } = spec;
  return { requestsPerMinute, burst, scope };
}

/** Parses the token limit of a valid `rateLimit`, with its defaults filled in; null if it declares none. */
export function declareTokens(spec: LimitSpec | undefined): TokenLimit | null {
  if (spec?.tokensPerMinute === undefined) return null;
  const { tokensPerMinute, scope = "Replica" } = spec;
  return { tokensPerMinute, scope };
}

/** Parses a valid `rateLimit`, and `budgets`, of an owner without default limits; null if neither is declared. */
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

/** Writes limits as the spec that declares them; undefined for no limits. Members that may be left out are. */
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

/** Returns the limits of a gateway's route, which is identified by its model within the gateway; undefined for none. */
export function routeLimits(
  { gatewayId }: Pick<GatewayRecord, "gatewayId">,
  { model, rateLimit }: RouteRecord,
): OwnedLimits | undefined {
  const limits = declareLimits(rateLimit);
  return limits === null ? undefined : { id: `${gatewayId}/${model}`, ...limits };
}
