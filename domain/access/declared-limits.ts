import type { DeclaredLimits, DeclaredRate, LimitScope } from "./rate-limit.ts";

/** `rateLimit` as it is written. */
type LimitSpec = {
  readonly requestsPerMinute?: number;
  readonly burst?: number;
  readonly concurrent?: number;
  readonly scope?: LimitScope;
};

/** Reads a valid `rateLimit`, its defaults filled in; null where it declares no rate. */
export function declareRate(spec: LimitSpec | undefined): DeclaredRate | null {
  if (spec?.requestsPerMinute === undefined) return null;
  const { requestsPerMinute, burst = requestsPerMinute, scope = "Replica" } = spec;
  return { requestsPerMinute, burst, scope };
}

/** Reads a valid `rateLimit` of what has no limit where none is declared: null then. */
export function declareLimits(spec: LimitSpec | undefined): DeclaredLimits | null {
  return spec === undefined ? null : { rate: declareRate(spec), concurrent: spec.concurrent ?? null };
}

/** Writes what limits were declared as; undefined for none. What may be left out is. */
export function limitSpec({ rate, concurrent }: DeclaredLimits): LimitSpec | undefined {
  if (rate === null && concurrent === null) return undefined;
  return { ...(rate && rateSpec(rate)), ...(concurrent !== null && { concurrent }) };
}

function rateSpec({ requestsPerMinute, burst, scope }: DeclaredRate): LimitSpec {
  return { requestsPerMinute, burst, ...(scope === "Installation" && { scope }) };
}
