import { sql } from "kysely";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import type { Store } from "../database/store.ts";

/** Delivery that this process is to attempt now. */
export type ClaimedDelivery = {
  readonly id: string;
  readonly webhookId: string;
  readonly teamId: string;
  readonly url: string;
  readonly event: string;
  /** Time of the event, in milliseconds since the epoch. */
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** Number of failed attempts. */
  readonly tries: number;
  /** Claim on the delivery: if two processes attempt it, only the holder of the present claim settles it. */
  readonly claim: string;
  /** Signing secret of the webhook, encrypted and bound to its id. */
  readonly sealed: Uint8Array | null;
  /** Seq of the change that revoked the key; null if the key is not revoked. */
  readonly revokedSeq: number | null;
  /** Time of the database, in milliseconds since the epoch. */
  readonly now: number;
};

/** Milliseconds for which a claim keeps a delivery from other processes: longer than an attempt takes. */
const CLAIM_MS = 60_000;

/** Bounds on what may be claimed. */
type ClaimBounds = {
  readonly limit: number;
  /** Maximum number of deliveries of one team, including those that it has in progress. */
  readonly ofTeam: number;
  /** Numbers of deliveries in progress, by the ids of their teams. */
  readonly underWay: ReadonlyMap<string, number>;
  /** Webhooks of which nothing is claimed: they have as many deliveries in progress as they may. */
  readonly fullWebhooks: readonly string[];
};

/**
 * Claims deliveries that are due, one for each webhook, with the webhooks in random order: however much waits for one
 * webhook or one team, the others get their slots. Several processes claim different deliveries.
 *
 * @param claim a new UUID
 */
export async function claimDeliveries(
  { db }: Store,
  claim: string,
  { limit, ofTeam, underWay, fullWebhooks }: ClaimBounds,
): Promise<ClaimedDelivery[]> {
  if (!(await isAnyWaiting(db))) return [];
  const question = sql<ClaimedDelivery>`
    with recursive waited_for (id) as (
      (${NEXT_WAITED_FOR} order by webhook_id limit 1)
      union all
      select (${NEXT_WAITED_FOR} and webhook_id > waited_for.id order by webhook_id limit 1)
      from waited_for where waited_for.id is not null
    ), busy (team_id, count) as (
      select * from unnest(${[...underWay.keys()]}::text[], ${[...underWay.values()]}::int[])
    ), claimed as (
      update webhook_deliveries set claim = ${claim}::uuid,
        due_at = statement_timestamp() + ${CLAIM_MS}::float8 * interval '1 millisecond'
      where id = any(array(
        select due.id from (
          select ranked.id from (
            select w.id, w.team_id, row_number() over (partition by w.team_id order by random()) as place
            from waited_for join team_webhooks w on w.id = waited_for.id
            cross join lateral (select from webhook_deliveries
              where webhook_id = w.id and state = 'pending' and due_at <= statement_timestamp()
              order by due_at limit 1) due
            where w.id <> all(${fullWebhooks}::text[])
          ) ranked left join busy on busy.team_id = ranked.team_id
          where ranked.place <= ${ofTeam}::int - coalesce(busy.count, 0) order by random()
        ) w cross join lateral (
          select id from webhook_deliveries
          where webhook_id = w.id and state = 'pending' and due_at <= statement_timestamp()
          order by due_at limit 1 for update skip locked
        ) due limit ${limit}))
      returning *
    )
    select c.id, c.webhook_id as "webhookId", c.team_id as "teamId", c.url, c.event, c.data, c.tries, c.claim,
      ${ms("c.at")} as at, ${ms("statement_timestamp()")} as now, w.secret as sealed, k.revoked_seq as "revokedSeq"
    from claimed c join team_webhooks w on w.id = c.webhook_id left join keys k on k.id = c.key_id`;
  return withOrderedPlans(db, async (tx) => (await question.execute(tx)).rows, "read write");
}

/** Query for the webhooks with waiting deliveries, in order: each costs one row of an index, however much waits. */
const NEXT_WAITED_FOR = sql`select webhook_id from webhook_deliveries where state = 'pending'`;

/** True if any delivery waits. Most of the time none does, which one row of an index shows. */
async function isAnyWaiting(db: Store["db"]): Promise<boolean> {
  const { rows } = await sql`${NEXT_WAITED_FOR} order by webhook_id limit 1`.execute(db);
  return rows.length > 0;
}

function ms(time: string) {
  return sql.raw<number>(`(extract(epoch from ${time}) * 1000)::float8`);
}

/** Outcome of an attempt. */
export type Settlement =
  | { readonly state: "delivered" | "failed"; readonly status: number | null; readonly why: string | null }
  | {
      readonly state: "pending";
      readonly status: number | null;
      readonly why: string;
      /** Milliseconds until the next attempt. */
      readonly pauseMs: number;
    };

/** Records the outcome of an attempt, unless the delivery was stopped or another process has claimed it meanwhile. */
export async function settleDelivery(
  { db }: Store,
  { id, claim }: ClaimedDelivery,
  { state, status, why, ...next }: Settlement,
): Promise<void> {
  const pauseMs = "pauseMs" in next ? next.pauseMs : null;
  await sql`update webhook_deliveries set state = ${state}, tries = tries + 1, tried_at = statement_timestamp(),
      status = ${status}, error = ${why}, claim = null,
      due_at = statement_timestamp() + ${pauseMs}::float8 * interval '1 millisecond'
    where id = ${id} and claim = ${claim}::uuid and state = 'pending'`.execute(db);
}

/**
 * Gives back deliveries that were not attempted.
 *
 * @param pauseOf returns the milliseconds until a delivery may be claimed again
 */
export async function releaseDeliveries(
  { db }: Store,
  claimed: readonly ClaimedDelivery[],
  pauseOf: (delivery: ClaimedDelivery) => number,
): Promise<void> {
  if (claimed.length === 0) return;
  await sql`update webhook_deliveries set claim = null,
      due_at = statement_timestamp() + given.pause * interval '1 millisecond'
    from unnest(${claimed.map(({ id }) => id)}::text[], ${claimed.map(({ claim }) => claim)}::uuid[],
      ${claimed.map(pauseOf)}::float8[]) as given (id, claim, pause)
    where webhook_deliveries.id = given.id and webhook_deliveries.claim = given.claim and state = 'pending'`.execute(
    db,
  );
}

/** Adds to the data of a delivery, for all further attempts. */
export async function addToDelivery({ db }: Store, id: string, more: Readonly<Record<string, unknown>>): Promise<void> {
  await sql`update webhook_deliveries set data = data || ${JSON.stringify(more)}::jsonb where id = ${id}`.execute(db);
}
