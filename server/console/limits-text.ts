import type { LimitSpec } from "../../domain/access/rate-limit.ts";

/** What a key is limited to, or a team, or a route, for people. */
export function shownLimits({ requestsPerMinute, burst, tokensPerMinute, scope, concurrent }: LimitSpec): string {
  return [
    requestsPerMinute === undefined ? "" : `${requestsPerMinute} requests a minute`,
    burst === undefined ? "" : `${burst} at once`,
    tokensPerMinute === undefined ? "" : `${tokensPerMinute} tokens a minute`,
    scope === "Installation" ? "over all replicas" : "",
    concurrent === undefined ? "" : `${concurrent} calls under way`,
  ]
    .filter((limit) => limit !== "")
    .join(", ");
}
