import { sql } from "kysely";
import type { Store } from "../database/store.ts";

/** Log entry for refusals of the same kind: never with a secret, nor with any part of a key but its id. */
type RefusalEntry = {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly keyId: string | null;
  readonly teamId: string | null;
  readonly actor: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

/** Maximum number of refusals that all processes of the installation write together in any minute. */
export const MAX_REFUSALS_PER_MINUTE = 600;
/** Advisory lock by which one process counts and writes at a time, so that no two use the same quota. */
const REFUSALS_LOCK = 53_975_266;

/**
 * Appends refusals to the audit log, up to the installation's present quota.
 *
 * @returns id of each in its order; null for refusals beyond the quota
 */
export async function appendRefusals(
  { db, engine }: Store,
  entries: readonly RefusalEntry[],
  max = MAX_REFUSALS_PER_MINUTE,
): Promise<(number | null)[]> {
  return db.transaction().execute(async (tx) => {
    // In a statement of its own: the next one sees what was committed while this one waited.
    if (engine === "postgres") await sql`select pg_advisory_xact_lock(${REFUSALS_LOCK})`.execute(tx);
    const { rows } = await sql<{ written: number }>`
      select count(*)::int as written from (
        select from audit_events
        where at > clock_timestamp() - interval '1 minute' and kind = 'request.refused' limit ${max}) recent`.execute(
      tx,
    );
    const fitting = entries.slice(0, Math.max(0, max - (rows[0]?.written ?? 0)));
    const ids =
      fitting.length === 0
        ? []
        : await tx
            .insertInto("audit_events")
            .values(
              fitting.map(({ at, keyId, teamId, actor, detail }) => ({
                at: new Date(at),
                kind: "request.refused",
                key_id: keyId,
                team_id: teamId,
                actor,
                detail: JSON.stringify(detail),
              })),
            )
            .returning("id")
            .execute();
    const inOrder = ids.map(({ id }) => id).toSorted((a, b) => a - b);
    return entries.map((_, i) => inOrder[i] ?? null);
  });
}

/** Number of refusals that a row stands for, and the time until which the last lasts, in RFC 3339, if it is known. */
type RefusalCount = { readonly id: number; readonly count: number; readonly until?: string | undefined };

/** Completes rows with their counts, once their minute is over. */
export async function countRefusals({ db }: Store, counts: readonly RefusalCount[]): Promise<void> {
  if (counts.length === 0) return;
  await sql`
    update audit_events a set detail = a.detail || jsonb_strip_nulls(jsonb_build_object('count', c.count, 'until', c.until))
    from unnest(${counts.map(({ id }) => id)}::bigint[], ${counts.map(({ count }) => count)}::int[],
      ${counts.map(({ until }) => until ?? null)}::text[]) as c (id, count, until)
    where a.id = c.id`.execute(db);
}
