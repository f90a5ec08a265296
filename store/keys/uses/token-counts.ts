import { sql } from "kysely";
import { TOKEN_FIGURES, type TokenCount } from "../../../domain/usage/token-count.ts";
import type { Store } from "../../database/store.ts";
import { writeCounts } from "./request-counts.ts";

const COLUMNS = sql.join(TOKEN_FIGURES.map((figure) => sql.ref(figure)));

/**
 * Adds to the counted tokens, all or nothing, as counts of requests are added.
 *
 * @param onBegun receives the transaction's id
 */
export function addTokenCounts(
  store: Store,
  counts: readonly TokenCount[],
  onBegun: (transaction: string) => void,
): Promise<void> {
  const texts = (["keyId", "gatewayId", "routeId", "model", "teamId"] as const).map(
    (name) => sql`${counts.map((count) => count[name])}::text[]`,
  );
  const figures = TOKEN_FIGURES.map((name) => sql`${counts.map((count) => count.figures[name])}::bigint[]`);
  const added = TOKEN_FIGURES.map(
    (name) => sql`${sql.ref(name)} = key_tokens.${sql.ref(name)} + excluded.${sql.ref(name)}`,
  );
  return writeCounts(
    store,
    onBegun,
    sql`
    insert into key_tokens (key_id, slot, gateway_id, route_id, model, team_id, ${COLUMNS})
    select key_id, to_timestamp(ms / 1000), gateway_id, route_id, model, team_id, ${COLUMNS}
    from unnest(${counts.map(({ slot }) => slot)}::float8[], ${sql.join(texts)}, ${sql.join(figures)})
      as counted (ms, key_id, gateway_id, route_id, model, team_id, ${COLUMNS})
    order by key_id, ms, gateway_id, route_id, model
    on conflict (key_id, slot, gateway_id, route_id, model) do update set ${sql.join(added)}`,
  );
}
