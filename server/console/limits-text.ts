import type { limitSpec } from "../../domain/access/declared-limits.ts";

/** What a key, or a team, is limited to, for people. */
export function shownLimits({
  requestsPerMinute,
  burst,
  scope,
  concurrent,
}: NonNullable<ReturnType<typeof limitSpec>>): string {
  return [
    requestsPerMinute === undefined ? "" : `${requestsPerMinute} requests a minute`,
    burst === undefined ? "" : `${burst} at once`,
    scope === "Installation" ? "over all replicas" : "",
    concurrent === undefined ? "" : `${concurrent} calls under way`,
  ]
    .filter((limit) => limit !== "")
    .join(", ");
}
