import { sql } from "kysely";
import { type DrawnRequests, type LimitDraw, mostOwed, requestCost } from "../../domain/access/limit-draw.ts";
import type { Db } from "../database/change.ts";
import { preparedStatement } from "../database/prepared-statement.ts";

/**
 * Draws from the cells that all replicas share, as `drawRequests` does, by the database's clock. A cell that is not
 * there owes nothing. Cells are taken in the order of their names, so that two replicas never wait for each other.
 *
 * @param draws of one cell each
 * @returns what each cell gave, by its name
 */
export async function drawFromCells(db: Db, draws: readonly LimitDraw[]): Promise<ReadonlyMap<string, DrawnRequests>> {
  const { rows } = await sql<DrawnRequests & { limitId: string }>`${preparedStatement}
    insert into limit_cells as cell (limit_id, drawn_at, paid_at, wanted, cost, burst, most, granted)
    select limit_id, now, now + least(wanted, most) * cost, wanted, cost, burst, most, least(wanted, most)
    from unnest(${draws.map(({ limitId }) => limitId)}::text[], ${draws.map(({ wanted }) => wanted)}::bigint[],
      ${draws.map(({ limit }) => requestCost(limit))}::bigint[], ${draws.map(({ limit }) => limit.burst + mostOwed(limit))}::bigint[],
      ${draws.map(({ limit, areUsed }) => limit.burst + (areUsed === true ? mostOwed(limit) : 0))}::bigint[])
      as draw (limit_id, wanted, cost, burst, most),
      (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now) as clock
    order by limit_id
    on conflict (limit_id) do update set (drawn_at, paid_at, wanted, cost, burst, most, granted) = (
      select now, case when granted < 0 then cell.paid_at else now + owed end + granted * excluded.cost,
        excluded.wanted, excluded.cost, excluded.burst, excluded.most, granted
      -- The time once the cell is locked: by an earlier one, what others drew meanwhile would be given back.
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now) as clock,
        lateral (select least(greatest(cell.paid_at - now, 0), excluded.burst * excluded.cost) as owed) as state,
        lateral (select case when excluded.wanted < 0 then excluded.wanted
          else greatest(0, least(excluded.wanted, (excluded.most * excluded.cost - owed) / excluded.cost)) end as granted) as drawn)
    returning limit_id as "limitId", granted::int4, paid_at::float8 as "paidAt", drawn_at::float8 as now`.execute(db);
  return new Map(rows.map(({ limitId, ...drawn }) => [limitId, drawn]));
}
