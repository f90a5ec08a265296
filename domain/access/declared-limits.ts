import type { GatewayRecord, RouteRecord } from "./key-record.ts";
import type { DeclaredLimits, DeclaredRate, LimitSpec } from "./rate-limit.ts";

/** What is declared of an owner's calls, and by which id they are counted. */
export type OwnedLimits = DeclaredLimits & { readonly id: string };

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

/** The limits of a gateway's route; undefined for none. A route is known by its model among those of its gateway. */
export function routeLimits(
  { gatewayId }: Pick<GatewayRecord, "gatewayId">,
  { model, rateLimit }: RouteRecord,
): OwnedLimits | undefined {
  const limits = declareLimits(rateLimit);
  return limits === null ? undefined : { id: `${gatewayId}/${model}`, ...limits };
}
