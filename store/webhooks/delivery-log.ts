import { sql } from "kysely";
import type { Db, Tx } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import { isOfTeam } from "../database/rows-of-team.ts";

/** Delivery as the log has it. Times are milliseconds since the epoch. */
export type LoggedDelivery = {
  readonly id: string;
  readonly teamId: string;
  readonly team: string;
  readonly url: string;
  readonly event: string;
  /** Id of the key; null for an event of the team itself. */
  readonly keyId: string | null;
  /** Name of the key at the time of the event, or of the team. */
  readonly name: string;
  readonly at: number;
  readonly state: "pending" | "delivered" | "failed" | "stopped";
  readonly tries: number;
  /** Time of the next attempt, if the delivery waits. */
  readonly nextTryAt: number | null;
  readonly triedAt: number | null;
  /** Status of the last answer; null for none. */
  readonly status: number | null;
  /** Reason why it was not delivered; null if it was delivered, or not attempted yet. */
  readonly why: string | null;
};

/** Webhook with the number of deliveries that wait for it. */
export type LoggedWebhook = {
  readonly id: string;
  readonly teamId: string;
  readonly team: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly hasSecret: boolean;
  /** Number of waiting deliveries, counted up to {@link MAX_COUNTED_DELIVERIES}. */
  readonly waiting: number;
};

export const MAX_COUNTED_DELIVERIES = 1_000;

const COLUMNS = sql`d.id, d.team_id as "teamId", t.name as team, d.url, d.event, d.key_id as "keyId",
  coalesce(d.data->>'name', d.key_id, t.name) as name, ${ms("d.at")} as at, d.state, d.tries,
  ${ms("d.due_at")} as "nextTryAt", ${ms("d.tried_at")} as "triedAt", d.status, d.error as why`;

/**
 * Lists a page of the log, the latest first. However long the log is, each team is asked for one page at most.
 *
 * @param teamIds undefined for all teams
 * @param afterId last delivery of the previous page; undefined for the first page
 */
export async function listDeliveries(
  db: Db,
  {
    teamIds,
    afterId,
    limit,
    onlyFailed = false,
  }: {
    readonly teamIds: readonly string[] | undefined;
    readonly afterId: string | undefined;
    readonly limit: number;
    readonly onlyFailed?: boolean;
  },
): Promise<LoggedDelivery[]> {
  const isAfter =
    afterId === undefined
      ? sql`true`
      : sql`(at, id) < ((select at from webhook_deliveries where id = ${afterId}), ${afterId})`;
  const isWanted = onlyFailed ? sql`state = 'failed' and ${isAfter}` : isAfter;
  const picked =
    teamIds === undefined
      ? sql`(select * from webhook_deliveries where ${isWanted} order by at desc, id desc limit ${limit}) d`
      : sql`unnest(${[...teamIds]}::text[]) team cross join lateral (
          select * from webhook_deliveries r where ${isOfTeam(sql`team`)} and ${isWanted}
          order by r.team_id desc, at desc, id desc limit ${limit}) d`;
  const question = sql<LoggedDelivery>`
    select ${COLUMNS} from ${picked} join teams t on t.id = d.team_id
    order by d.at desc, d.id desc limit ${limit}`;
  return withOrderedPlans(db, async (tx) => (await question.execute(tx)).rows);
}

/** Locks a delivery until the transaction ends, and reads it. */
export async function lockDelivery(tx: Tx, id: string): Promise<LoggedDelivery | undefined> {
  const { rows } = await sql<LoggedDelivery>`
    select ${COLUMNS} from webhook_deliveries d join teams t on t.id = d.team_id
    where d.id = ${id} for update of d`.execute(tx);
  return rows[0];
}

/**
 * Begins a delivery again, under its id, even if it still waits: it is due at once, and its attempts are counted from
 * zero.
 *
 * @returns false if its webhook is gone
 */
export async function redeliver(tx: Tx, id: string): Promise<boolean> {
  // For share: the removal of the webhook waits for this transaction, and then stops the delivery.
  const { rows: webhooks } = await sql`select from team_webhooks
    where id = (select webhook_id from webhook_deliveries where id = ${id}) for share`.execute(tx);
  if (webhooks.length === 0) return false;
  await sql`update webhook_deliveries
    set state = 'pending', tries = 0, due_at = statement_timestamp(), claim = null where id = ${id}`.execute(tx);
  return true;
}

/**
 * Lists the webhooks of teams, by team and URL.
 *
 * @param teamIds undefined for all teams
 */
export async function listWebhooks(
  db: Db,
  teamIds: readonly string[] | undefined,
  limit: number,
): Promise<LoggedWebhook[]> {
  const { rows } = await sql<LoggedWebhook>`
    select w.id, w.team_id as "teamId", t.name as team, w.url, w.events, w.secret is not null as "hasSecret",
      (select count(*) from (select from webhook_deliveries where webhook_id = w.id and state = 'pending'
        limit ${MAX_COUNTED_DELIVERIES}) waiting) as waiting
    from team_webhooks w join teams t on t.id = w.team_id
    where ${teamIds === undefined ? sql`true` : sql`w.team_id = any(${[...teamIds]}::text[])`}
    order by t.name, w.url limit ${limit}`.execute(db);
  return rows;
}

function ms(time: string) {
  return sql.raw<number>(`(extract(epoch from ${time}) * 1000)::float8`);
}
