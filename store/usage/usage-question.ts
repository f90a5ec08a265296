import type { PriceList } from "../../domain/usage/price-list.ts";

/** Grouping of usage. */
export type UsageGroup = "key" | "team" | "gateway" | "route" | "model" | "label" | "all";
/** Length of each period: `slot` is five minutes. */
export type UsageStep = "total" | "slot" | "hour" | "day";

/** Position of a row in the order of the answer. */
export type UsagePosition = { readonly at: number; readonly group: string };

export type UsageQuestion = {
  /**
   * Range in milliseconds since the epoch: `from` inclusive, `to` exclusive. Whole hours, or whole days where hours are
   * not kept any more; five minutes with the step `slot`, for eight days.
   */
  readonly from: number;
  readonly to: number;
  readonly by: UsageGroup;
  /** Name of the label whose values usage is grouped by, with `by: "label"`: the key's own, or else its team's. */
  readonly label?: string | undefined;
  readonly step: UsageStep;
  /** Teams, keys or gateways whose usage is read; undefined for all. */
  readonly teamIds?: readonly string[] | undefined;
  readonly keyIds?: readonly string[] | undefined;
  readonly gatewayIds?: readonly string[] | undefined;
  readonly model?: string | undefined;
  /** True to read only five-minute counts, of the last eight days: the range need not be whole hours then. */
  readonly bySlots?: boolean | undefined;
  /** True to put the groups with the most answers and requests first. Otherwise the groups are in order. */
  readonly isMostFirst?: boolean | undefined;
  readonly after?: UsagePosition | undefined;
  readonly limit: number;
  /** Prices for the rows; null and undefined for none. */
  readonly prices?: PriceList | null | undefined;
};
