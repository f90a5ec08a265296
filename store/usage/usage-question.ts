import type { PriceList } from "../../domain/usage/price-list.ts";

/** What usage is added up by. */
export type UsageGroup = "key" | "team" | "gateway" | "route" | "model" | "label" | "all";
/** How long each piece of time is: `slot` is five minutes. */
export type UsageStep = "total" | "slot" | "hour" | "day";

/** A row's place in the order of the answer. */
export type UsagePosition = { readonly at: number; readonly group: string };

export type UsageQuestion = {
  /**
   * Milliseconds since the epoch: from then on, and before then. Whole hours, whole days where hours are not kept any
   * more; five minutes with the step `slot`, for eight days.
   */
  readonly from: number;
  readonly to: number;
  readonly by: UsageGroup;
  /** The name of the label by whose values it is added up, by `label`: the key's own, or else its team's. */
  readonly label?: string | undefined;
  readonly step: UsageStep;
  /** Of these teams, keys or gateways alone; undefined for all. */
  readonly teamIds?: readonly string[] | undefined;
  readonly keyIds?: readonly string[] | undefined;
  readonly gatewayIds?: readonly string[] | undefined;
  readonly model?: string | undefined;
  /** Whether five minutes alone are read, of the last eight days: the times may be other than whole hours then. */
  readonly bySlots?: boolean | undefined;
  /** Whether those of most answers and requests come first, and not those of the first group. */
  readonly isMostFirst?: boolean | undefined;
  readonly after?: UsagePosition | undefined;
  readonly limit: number;
  /** What rows are priced by; null and undefined for nothing. */
  readonly prices?: PriceList | null | undefined;
};
