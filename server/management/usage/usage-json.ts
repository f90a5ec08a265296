import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { PriceList } from "../../../domain/usage/price-list.ts";
import { type ShownCost, showCost } from "../../../domain/usage/usage-cost.ts";
import type { Db } from "../../../store/database/change.ts";
import type { UsageRow } from "../../../store/usage/read-usage.ts";
import { usageNames } from "../../../store/usage/usage-names.ts";
import type { UsageGroup, UsageStep } from "../../../store/usage/usage-question.ts";
import { endOfStep, type UsageSpan } from "./usage-times.ts";

/** Groups by which the API can add up usage. */
export const USAGE_GROUPS = ["key", "team", "gateway", "route", "model", "label"] as const satisfies UsageGroup[];
export const USAGE_STEPS = ["total", "hour", "day"] as const satisfies UsageStep[];

/** Usage of a key, team, gateway, route or model, or of a value of a label, within an interval. */
export type UsageJson = ShownCost & {
  /** Start of the interval in RFC 3339, inclusive; `to` is its end, exclusive. */
  readonly from: string;
  readonly to: string;
  /** Id of the key, the team or the gateway; null by model and by label. */
  readonly id: string | null;
  /** Namespace of the key or the gateway; null by model and by team. */
  readonly namespace: string | null;
  readonly name: string | null;
  readonly teamId: string | null;
  readonly team: string | null;
  /** Id of a route; null if answers are not by route, and for answers that no route led to. */
  readonly route: string | null;
  readonly model: string | null;
  /** Value of the label; null if usage is not by label, and for keys without the label whose teams have none either. */
  readonly label: string | null;
  /** Number of requests; null if requests are not counted for this group. */
  readonly requests: number | null;
  readonly answers: number;
  readonly input: number;
  readonly cached: number;
  readonly cacheWrites5m: number;
  readonly cacheWrites1h: number;
  readonly output: number;
  readonly reasoning: number;
  readonly toolCalls: number;
  readonly images: number;
  readonly seconds: number;
  readonly characters: number;
  readonly cut: number;
  readonly unreported: number;
  readonly unread: number;
  readonly doubtful: number;
};

type UsageView = {
  readonly by: UsageGroup;
  readonly step: UsageStep;
  readonly span: UsageSpan;
  /** Price list that the rows were priced by. */
  readonly prices: PriceList | null;
};

/** Returns rows as they are shown, in the same order. */
export async function usageJson(
  db: Db,
  rows: readonly UsageRow[],
  { by, step, span, prices }: UsageView,
): Promise<UsageJson[]> {
  const parted = rows.map((row) => {
    const [id = "", route = ""] = by === "route" ? row.group.split(" ") : [row.group];
    return { ...row, id, route };
  });
  const names = await usageNames(db, by, [...new Set(parted.map(({ id }) => id))]);
  return parted.map(({ at, id, route, requests, figures, cost }) => {
    const named = names.get(id);
    return {
      from: rfc3339Millis(Math.max(at, span.from)),
      to: rfc3339Millis(endOfStep(at, step, span)),
      id: by === "model" || by === "label" ? null : id,
      namespace: by === "team" ? null : (named?.namespace ?? null),
      name: named?.name ?? null,
      teamId: named?.teamId ?? null,
      team: named?.team ?? null,
      route: route === "" ? null : route,
      model: by === "model" ? id : null,
      label: by === "label" && id !== "" ? id : null,
      requests: requests ?? null,
      answers: figures.calls,
      input: figures.input,
      cached: figures.cached,
      cacheWrites5m: figures.cache_write_5m,
      cacheWrites1h: figures.cache_write_1h,
      output: figures.output,
      reasoning: figures.reasoning,
      toolCalls: figures.tool_calls,
      images: figures.images,
      seconds: figures.seconds,
      characters: figures.characters,
      cut: figures.cut,
      unreported: figures.unreported,
      unread: figures.unread,
      doubtful: figures.doubtful,
      ...showCost(prices, cost, figures),
    };
  });
}
