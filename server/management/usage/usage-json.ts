import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { PriceList } from "../../../domain/usage/price-list.ts";
import { type ShownCost, showCost } from "../../../domain/usage/usage-cost.ts";
import type { Db } from "../../../store/database/change.ts";
import type { UsageRow } from "../../../store/usage/read-usage.ts";
import { usageNames } from "../../../store/usage/usage-names.ts";
import type { UsageGroup, UsageStep } from "../../../store/usage/usage-question.ts";
import { endOfStep, type UsageSpan } from "./usage-times.ts";

/** What usage may be added up by in a question of the API. */
export const USAGE_GROUPS = ["key", "team", "gateway", "route", "model", "label"] as const satisfies UsageGroup[];
export const USAGE_STEPS = ["total", "hour", "day"] as const satisfies UsageStep[];

/** What one key, team, gateway, route or model, or one value of a label, used within one piece of time. */
export type UsageJson = ShownCost & {
  /** RFC 3339: from then on, and before then. */
  readonly from: string;
  readonly to: string;
  /** Of the key, the team or the gateway; null by model and by label. */
  readonly id: string | null;
  /** Of the key or the gateway; null by model and by team. */
  readonly namespace: string | null;
  readonly name: string | null;
  readonly teamId: string | null;
  readonly team: string | null;
  /** The id of a route; null where answers are not by route, and for those that no route led to. */
  readonly route: string | null;
  readonly model: string | null;
  /** The label's value; null where usage is not by label, and for keys that neither have it nor their teams. */
  readonly label: string | null;
  /** Null where requests are not counted by what is asked for. */
  readonly requests: number | null;
  readonly answers: number;
  readonly input: number;
  readonly cached: number;
  readonly cacheWrites5m: number;
  readonly cacheWrites1h: number;
  readonly output: number;
  readonly reasoning: number;
  readonly toolCalls: number;
  readonly cut: number;
  readonly unreported: number;
  readonly unread: number;
  readonly doubtful: number;
};

type Shown = {
  readonly by: UsageGroup;
  readonly step: UsageStep;
  readonly span: UsageSpan;
  /** What the rows were priced by. */
  readonly prices: PriceList | null;
};

/** Rows as they are shown, in the same order. */
export async function usageJson(
  db: Db,
  rows: readonly UsageRow[],
  { by, step, span, prices }: Shown,
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
      cut: figures.cut,
      unreported: figures.unreported,
      unread: figures.unread,
      doubtful: figures.doubtful,
      ...showCost(prices, cost, figures),
    };
  });
}
