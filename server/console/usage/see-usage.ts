import { NO_FIGURES, type TokenFigures } from "../../../domain/usage/token-count.ts";
import { NO_COST, type UsageCost } from "../../../domain/usage/usage-cost.ts";
import type { Db } from "../../../store/database/change.ts";
import { readUsage, type UsageRow } from "../../../store/usage/read-usage.ts";
import { type UsageName, usageNames } from "../../../store/usage/usage-names.ts";
import type { UsageGroup, UsageQuestion } from "../../../store/usage/usage-question.ts";
import { piecesOf, type UsageRange } from "./usage-ranges.ts";

/** Maximum number of rows of a table: those with the most usage. */
const ROWS = 50;

/** Usage in an interval of time, or by a key, a team or a model. */
export type Used = {
  readonly requests: number | undefined;
  readonly figures: TokenFigures;
  /** Cost; zero if nothing has a price. */
  readonly cost: UsageCost;
};

/** Usage that a page shows. */
export type SeenUsage = {
  readonly range: UsageRange;
  /** True for the usage of a model or a gateway, for which answers are counted, not requests. */
  readonly isOfAnswers: boolean;
  /** Currency of the price list; null if there is none. */
  readonly currency: string | null;
  /** Usage by intervals; `from` in milliseconds since the epoch. */
  readonly pieces: readonly (Used & { readonly from: number })[];
  readonly total: Used;
  readonly tables: readonly UsageTable[];
};

export type UsageTable = {
  readonly by: UsageGroup;
  readonly rows: readonly (Used & { readonly group: string; readonly name: UsageName | undefined })[];
  /** True if there are more rows than are shown. */
  readonly isCut: boolean;
};

/** Reads the usage of a page. @param by groups of the tables: one table for each */
export async function seeUsage(
  db: Db,
  now: number,
  range: UsageRange,
  of: Pick<UsageQuestion, "teamIds" | "keyIds" | "gatewayIds" | "model" | "prices">,
  by: readonly UsageGroup[],
): Promise<SeenUsage> {
  const times = piecesOf(range, now);
  const span = { from: times[0] ?? now, to: (times.at(-1) ?? now) + range.lengthMs };
  const question = { ...of, ...span, bySlots: range.step === "slot" };
  const all = { ...question, by: "all" } as const;
  const found = new Map(
    (await readUsage(db, { ...all, step: range.step, limit: times.length })).map((row) => [row.at, row]),
  );
  const [total] = await readUsage(db, { ...all, step: "total", limit: 1 });
  const tables: UsageTable[] = [];
  for (const group of by) tables.push(await seeTable(db, { ...question, by: group, step: "total", limit: ROWS + 1 }));
  return {
    range,
    isOfAnswers: of.gatewayIds !== undefined || of.model !== undefined,
    currency: of.prices?.currency ?? null,
    pieces: times.map((from) => ({ from, ...usedOf(found.get(from)) })),
    total: usedOf(total),
    tables,
  };
}

async function seeTable(db: Db, question: UsageQuestion): Promise<UsageTable> {
  const { by } = question;
  const rows = await readUsage(db, { ...question, isMostFirst: true });
  const shown = rows.slice(0, ROWS);
  const names = await usageNames(
    db,
    by,
    shown.map(({ group }) => group),
  );
  return {
    by,
    isCut: rows.length > ROWS,
    rows: shown.map((row) => ({ ...usedOf(row), group: row.group, name: names.get(row.group) })),
  };
}

function usedOf(row: UsageRow | undefined): Used {
  const { requests, figures, cost = NO_COST } = row ?? { requests: 0, figures: NO_FIGURES };
  return { requests, figures, cost };
}
