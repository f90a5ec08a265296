import type { LimitSpec } from "../../domain/access/rate-limit.ts";
import { numeral } from "./column-chart.ts";

/** Describes the limits of a key, a team or a route, for people. */
export function shownLimits({ requestsPerMinute, burst, tokensPerMinute, scope, concurrent }: LimitSpec): string {
  return [
    requestsPerMinute === undefined ? "" : `${numeral(requestsPerMinute)} requests a minute`,
    burst === undefined ? "" : `${numeral(burst)} at once`,
    tokensPerMinute === undefined ? "" : `${numeral(tokensPerMinute)} tokens a minute`,
    scope === "Installation" ? "over all replicas" : "",
    concurrent === undefined ? "" : `${numeral(concurrent)} calls under way`,
  ]
    .filter((limit) => limit !== "")
    .join(", ");
}
