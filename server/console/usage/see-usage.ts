import { NO_FIGURES, type TokenFigures } from "../../../domain/usage/token-count.ts";
import { NO_COST, type UsageCost } from "../../../domain/usage/usage-cost.ts";
import type { Db } from "../../../store/database/change.ts";
import { readUsage, type UsageRow } from "../../../store/usage/read-usage.ts";
import { type UsageName, usageNames } from "../../../store/usage/usage-names.ts";
import type { UsageGroup, UsageQuestion } from "../../../store/usage/usage-question.ts";
import { piecesOf, type UsageRange } from "./usage-ranges.ts";

/** Rows of a table: those that used most. */
const ROWS = 50;

/** What was used: within a piece of time, or by one key, team or model. */
export type Used = {
  readonly requests: number | undefined;
  readonly figures: TokenFigures;
  /** Of nothing where nothing is priced. */
  readonly cost: UsageCost;
};

/** What a page shows of usage. */
export type SeenUsage = {
  readonly range: UsageRange;
  /** Whether it is of a model or a gateway, by which requests are not counted, but answers. */
  readonly isOfAnswers: boolean;
  /** Null where nothing is priced. */
  readonly currency: string | null;
  /** Milliseconds since the epoch, for each piece of the range. */
  readonly pieces: readonly (Used & { readonly from: number })[];
  readonly total: Used;
  readonly tables: readonly UsageTable[];
};

export type UsageTable = {
  readonly by: UsageGroup;
  readonly rows: readonly (Used & { readonly group: string; readonly name: UsageName | undefined })[];
  /** Whether there are more than are shown. */
  readonly isCut: boolean;
};

/** @param by what there is a table by */
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
