import { sql } from "kysely";
import { type DrawnRequests, type LimitDraw, mostOwed, requestCost } from "../../domain/access/limit-draw.ts";
import type { Db } from "../database/change.ts";
import { LOCK_NOT_AVAILABLE, sqlState } from "../database/errors.ts";
import { preparedStatement } from "../database/prepared-statement.ts";

/** Conditions for the cells that a statement draws from. */
const WHICH = {
  every: sql``,
  /**
   * Free cells, locked in any order, without waiting. No cell is made, since that might wait for another transaction
   * that makes it.
   */
  free: sql`where exists (select from limit_cells as own where own.limit_id = asked.limit_id for update skip locked)`,
  absent: sql`where not exists (select from limit_cells as own where own.limit_id = asked.limit_id)`,
} as const;

type Pass = {
  readonly which: keyof typeof WHICH;
  /** Milliseconds to wait for each cell that another transaction has locked; after that the statement draws nothing. */
  readonly patienceMs: number;
};

/** Milliseconds: longer than the wait of transactions that draw from one cell one after the other. */
const BRIEF_MS = 25;

/**
 * Passes of a draw. The first is nearly always enough. Each is a transaction of its own, so that none has cells locked
 * for the next.
 */
const PASSES: readonly Pass[] = [
  { which: "every", patienceMs: BRIEF_MS },
  { which: "free", patienceMs: BRIEF_MS },
  { which: "absent", patienceMs: BRIEF_MS },
  { which: "every", patienceMs: 150 },
  { which: "free", patienceMs: BRIEF_MS },
];

/**
 * Draws from the cells that all replicas share, as `drawRequests` does, by the database's clock. A cell without a row
 * owes nothing. If another transaction has locked a cell, the others are drawn from without it (threats b212). Locked
 * cells are waited for in the order of their names, so that two replicas never wait for each other.
 *
 * @param draws each of another cell
 * @returns what each cell granted, by its name. A cell that another transaction has locked is left out: nothing is
 *   drawn from it
 */
export async function drawFromCells(db: Db, draws: readonly LimitDraw[]): Promise<ReadonlyMap<string, DrawnRequests>> {
  const drawn = new Map<string, DrawnRequests>();
  for (const pass of PASSES) {
    const left = draws.filter(({ limitId }) => !drawn.has(limitId));
    if (left.length === 0) break;
    for (const { limitId, ...given } of await drawInTime(db, left, pass)) drawn.set(limitId, given);
  }
  return drawn;
}

async function drawInTime(
  db: Db,
  draws: readonly LimitDraw[],
  { which, patienceMs }: Pass,
): Promise<readonly (DrawnRequests & { readonly limitId: string })[]> {
  // Each draw refers to the patience, so that the timeout is set before.
  const drawn = sql<DrawnRequests & { limitId: string }>`${preparedStatement}
    with patience as materialized (select set_config('lock_timeout', ${String(patienceMs)}, true) as ms)
    insert into limit_cells as cell (limit_id, drawn_at, paid_at, wanted, cost, burst, most, granted)
    select limit_id, now, now + least(wanted, most) * cost, wanted, cost, burst, most, least(wanted, most)
    from unnest(${draws.map(({ limitId }) => limitId)}::text[], ${draws.map(({ wanted }) => wanted)}::bigint[],
      ${draws.map(({ limit }) => requestCost(limit))}::bigint[], ${draws.map(({ limit }) => limit.burst + mostOwed(limit))}::bigint[],
      ${draws.map(({ limit, areUsed }) => limit.burst + (areUsed === true ? mostOwed(limit) : 0))}::bigint[])
      as asked (limit_id, wanted, cost, burst, most),
      (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now from patience where ms <> '') as clock
    ${WHICH[which]}
    order by limit_id
    on conflict (limit_id) do update set (drawn_at, paid_at, wanted, cost, burst, most, granted) = (
      select now, case when granted < 0 then cell.paid_at else now + owed end + granted * excluded.cost,
        excluded.wanted, excluded.cost, excluded.burst, excluded.most, granted
      -- The time once the cell is locked: by an earlier one, what others drew meanwhile would be given back.
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now) as clock,
        lateral (select least(greatest(cell.paid_at - now, 0), excluded.burst * excluded.cost) as owed) as state,
        lateral (select case when excluded.wanted < 0 then excluded.wanted
          else greatest(0, least(excluded.wanted, (excluded.most * excluded.cost - owed) / excluded.cost)) end as granted) as drawn)
    returning limit_id as "limitId", granted::int4, paid_at::float8 as "paidAt", drawn_at::float8 as now`;
  try {
    return (await drawn.execute(db)).rows;
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return [];
    throw error;
  }
}
